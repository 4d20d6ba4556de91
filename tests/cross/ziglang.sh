#!/usr/bin/env bash
# Compiles and links the library, the C interface, the command and tests by PyPI's ziglang, which is Clang with libc++, for another
# system or for this one: tests/cross/ziglang.sh x86_64-windows-gnu|aarch64-macos|x86_64-linux-gnu. The programs for Windows then run
# under Wine, and those for Linux as they are: tests of the C interface, of the connecting layers and of some stages, and a match.
# Programs for macOS run nowhere here. The libraries that Stereopsis needs are compiled from Debian's sources. TIFF, WebP, JPEG 2000
# and GPUs are left out. With --tools behind the target, only the compilers are made.
set -euo pipefail
cd "$(dirname "$0")/../.."
target=${1:?name a target: x86_64-windows-gnu, aarch64-macos or x86_64-linux-gnu}
root=$PWD/build/zig
made=$root/$target
prefix=$made/prefix
sources=$root/sources

# Downloads the sources of Debian packages and unpacks them as the upstream projects publish them.
get_sources() {
  local apt=$sources/apt packages=(zlib libpng1.6 libjpeg-turbo yaml-cpp pugixml fmtlib googletest highway onetbb cli11 nlohmann-json3)
  [ ! -e "$sources/complete" ] || return 0
  rm -rf "$sources" && mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
  echo "deb-src http://deb.debian.org/debian bookworm main" >"$apt/sources.list"
  : >"$apt/status"
  local options=(-qq -o "Dir::Etc::SourceList=$apt/sources.list" -o Dir::Etc::SourceParts=/dev/null -o "Dir::State::Lists=$apt/lists"
                 -o "Dir::State::status=$apt/status" -o "Dir::Cache=$apt/cache" -o APT::Sandbox::User=root -o Debug::NoLocking=1)
  apt-get "${options[@]}" update
  (cd "$sources" && apt-get "${options[@]}" source --download-only "${packages[@]}")
  local archive package
  for package in "${packages[@]}"; do
    archive=$(ls "$sources/$package"_*.orig.tar.*)
    mkdir "$sources/$package" && tar -xf "$archive" -C "$sources/$package" --strip-components=1
  done
  touch "$sources/complete"
}

# CMake calls each tool as one program.
make_tools() {
  local tool
  if [ ! -x "$root/venv/bin/python" ]; then python3 -m venv "$root/venv"; fi
  "$root/venv/bin/pip" install -q --disable-pip-version-check ziglang
  mkdir -p "$made/bin"
  for tool in ar ranlib rc; do printf '#!/bin/sh\nexec %s -m ziglang %s "$@"\n' "$root/venv/bin/python" $tool >"$made/bin/zig-$tool"; done
  # Zig has its own names of processors, and sanitizes what is not optimised.
  for tool in cc c++; do
    printf '#!/bin/sh\nfor one; do shift; [ "$one" != -march=x86-64-v2 ] || one=-mcpu=x86_64_v2; set -- "$@" "$one"; done\n' >"$made/bin/zig-$tool"
    printf 'exec %s -m ziglang %s -target %s -fno-sanitize=undefined "$@"\n' "$root/venv/bin/python" $tool "$target" >>"$made/bin/zig-$tool"
  done
  chmod +x "$made"/bin/*
}

# Arguments: FOLDER of the sources, further options for CMake.
configure() {
  cmake -G Ninja -Wno-dev -S "$1" -B "$made/${1##*/}" "-DCMAKE_TOOLCHAIN_FILE=$PWD/cmake/ziglang.cmake" "-DSTEREOPSIS_ZIG=$target" \
    -DCMAKE_BUILD_TYPE=Release "-DCMAKE_INSTALL_PREFIX=$prefix" "-DCMAKE_PREFIX_PATH=$prefix" -DBUILD_SHARED_LIBS=OFF \
    -DCMAKE_POLICY_VERSION_MINIMUM=3.5 "${@:2}"
}
install_library() {
  [ ! -e "$made/$1.installed" ] || return 0
  { configure "$sources/$1" "${@:2}" && cmake --build "$made/$1" && cmake --install "$made/$1"; } >"$made/$1.log" 2>&1 ||
    { tail -n 40 "$made/$1.log"; return 1; }
  touch "$made/$1.installed"
}

# Only the static library of zlib, whose shared one needs another compiler of resources. It takes macOS for the system of before
# 2001, which has no fdopen, unless that is a macro.
install_zlib() {
  [ ! -e "$made/zlib.installed" ] || return 0
  mkdir -p "$sources/zlib/win32"
  [ -e "$sources/zlib/win32/zlib1.rc" ] || touch "$sources/zlib/win32/zlib1.rc"  # named for every system, and not in Debian's sources
  { configure "$sources/zlib" -DCMAKE_C_FLAGS=-Dfdopen=fdopen && cmake --build "$made/zlib" --target zlibstatic; } >"$made/zlib.log" 2>&1 ||
    { tail -n 40 "$made/zlib.log"; return 1; }
  mkdir -p "$prefix/lib" "$prefix/include"
  cp "$made"/zlib/lib*.a "$prefix/lib/libz.a"
  cp "$sources/zlib/zlib.h" "$made/zlib/zconf.h" "$prefix/include"
  touch "$made/zlib.installed"
}

make_tools
[ "${2:-}" != --tools ] || exit 0
get_sources
install_zlib
sed -i 's/include <fp.h>/include <math.h>/' "$sources/libpng1.6/pngpriv.h"  # a header of macOS from before 2001, too
install_library libpng1.6 -DPNG_SHARED=OFF -DPNG_TESTS=OFF -DPNG_FRAMEWORK=OFF -DPNG_HARDWARE_OPTIMIZATIONS=OFF
install_library libjpeg-turbo -DENABLE_SHARED=OFF -DWITH_SIMD=OFF -DWITH_TURBOJPEG=OFF
install_library yaml-cpp -DYAML_CPP_BUILD_TESTS=OFF -DYAML_CPP_BUILD_TOOLS=OFF
install_library pugixml
install_library fmtlib -DFMT_TEST=OFF -DFMT_DOC=OFF
install_library cli11 -DCLI11_BUILD_TESTS=OFF -DCLI11_BUILD_EXAMPLES=OFF -DCLI11_BUILD_DOCS=OFF
install_library nlohmann-json3 -DJSON_BuildTests=OFF
install_library googletest -DBUILD_GMOCK=OFF
install_library highway -DBUILD_TESTING=OFF -DHWY_ENABLE_TESTS=OFF -DHWY_ENABLE_EXAMPLES=OFF -DHWY_ENABLE_CONTRIB=OFF
# Debian adds the file by which CMake finds Highway; its authors' sources of this version have none.
mkdir -p "$prefix/lib/cmake/hwy"
cat >"$prefix/lib/cmake/hwy/hwy-config.cmake" <<'EOF'
add_library(hwy::hwy STATIC IMPORTED)
get_filename_component(prefix ${CMAKE_CURRENT_LIST_DIR}/../../.. ABSOLUTE)
set_target_properties(hwy::hwy PROPERTIES IMPORTED_LOCATION ${prefix}/lib/libhwy.a INTERFACE_INCLUDE_DIRECTORIES ${prefix}/include
  INTERFACE_COMPILE_DEFINITIONS HWY_STATIC_DEFINE)
EOF
install_library onetbb -DTBB_TEST=OFF -DTBB_STRICT=OFF -DTBBMALLOC_BUILD=OFF
# As a static library, oneTBB needs the threads that its own file does not look for.
grep -q Threads "$prefix/lib/cmake/TBB/TBBConfig.cmake" || sed -i '1i find_package(Threads REQUIRED)' "$prefix/lib/cmake/TBB/TBBConfig.cmake"

build=$made/stereopsis
programs=(stereopsis_command random_calls)
tests=(c_test core_test simd_test planning_test census_test sgm_test median_test learned_features_test sgm_wta_test)
options=() suffix=
case $target in
  *windows*) emulated=(wine) suffix=.exe ;;
  *linux*) emulated=(env) tests+=(out_of_memory_test) ;;
  *) programs+=(stereopsis_c) tests=() options=(-DCMAKE_BUILD_TYPE=Debug "-DCMAKE_CXX_FLAGS_DEBUG=-O0 -DNDEBUG") ;;  # nothing runs
esac
configure "$PWD" -B "$build" -DSTEREOPSIS_CUDA=OFF -DSTEREOPSIS_OPENCL=OFF -DSTEREOPSIS_OPENCV=OFF -DSTEREOPSIS_TIFF=OFF \
  -DSTEREOPSIS_WEBP=OFF -DSTEREOPSIS_JPEG2000=OFF -DSTEREOPSIS_INSTALL=OFF -DSTEREOPSIS_TESTS=ON -DSTEREOPSIS_SIMD_TARGETS=static "${options[@]}"
cmake --build "$build" --target "${programs[@]}" "${tests[@]}"
if [ ${#tests[@]} -eq 0 ]; then
  ls -l "$build/bin/stereopsis" "$build/bin/random_calls" "$build"/src/c/libstereopsis.*
  exit 0
fi

# Wine starts without a display. The libraries lie beside the programs.
export WINEPREFIX=$made/wine WINEDEBUG=-all WINEDLLOVERRIDES="mscoree,mshtml=" DISPLAY=
cd "$build/bin"
run() { "${emulated[@]}" "./$1$suffix" "${@:2}"; }
# The C interface has libc++ inside, with an `operator new` of its own: the test that replaces it there is left out.
for program in "${tests[@]}"; do run "$program" --gtest_brief=1 --gtest_filter=-OutOfMemory.TheCInterfaceReturnsAStatus; done
run random_calls --seconds 10
run stereopsis synth -o scene --width 320 --height 240 --disparities 48
run stereopsis match scene/left.png scene/right.png -o disparity.pfm --disparities 48
run stereopsis evaluate disparity.pfm --truth scene/disp_left.pfm
