#!/usr/bin/env bash
# Builds a package by the recipe for a package manager, and uses it: recipes.sh conan|conda|vcpkg. Takes minutes of two cores each.
# The dependencies are Debian's libraries: the package manager gets empty packages, or a profile, in place of its own. Needs PyPI
# for Conan and rattler-build; VCPKG_ROOT must be a checkout of vcpkg with the program in it.
set -euo pipefail
cd "$(dirname "$0")/../.."
case ${1:-} in conan | conda | vcpkg) ;; *)
  echo "recipes.sh: '${1:-}' is no package manager with a recipe; it must be conan, conda or vcpkg" >&2
  exit 2 ;;
esac
work=$PWD/build/recipe-$1
rm -rf "$work" && mkdir -p "$work"

install() {
  python3 -m venv "$work/venv"
  "$work/venv/bin/pip" install -q --disable-pip-version-check "$@"
}

# Conan also builds and runs packages/conan/test_package.
by_conan() {
  install 'conan==2.*'
  export CONAN_HOME=$work/home
  "$work/venv/bin/conan" profile detect
  "$work/venv/bin/conan" create packages/conan -pr:b default -pr:h default -pr:h packages/conan/system -s:h compiler.cppstd=20
}

# The script also runs the tests of the recipe.
by_conda() {
  install 'py-rattler-build==0.73.*'
  "$work/venv/bin/python" tests/packages/conda.py "$work"
}

by_vcpkg() {
  local vcpkg=${VCPKG_ROOT:?must be a checkout of vcpkg} port installed=$work/installed/x64-linux-release
  for port in $(sed -n 's/^    "\(.*\)".*/\1/p' packages/vcpkg/vcpkg.json); do
    mkdir -p "$work/ports/$port"
    echo "{\"name\": \"$port\", \"version\": \"1\"}" >"$work/ports/$port/vcpkg.json"
    echo 'set(VCPKG_POLICY_EMPTY_PACKAGE enabled)' >"$work/ports/$port/portfile.cmake"
  done
  VCPKG_FORCE_SYSTEM_BINARIES=1 "$vcpkg/vcpkg" install stereopsis --overlay-ports=packages/vcpkg --overlay-ports="$work/ports" \
    --triplet=x64-linux-release --host-triplet=x64-linux-release --x-install-root="$work/installed" --x-buildtrees-root="$work/trees" \
    --x-packages-root="$work/packages" --binarysource=clear
  cmake -S packages/conan/test_package -B "$work/consumer" "-DCMAKE_TOOLCHAIN_FILE=$vcpkg/scripts/buildsystems/vcpkg.cmake" \
    -DVCPKG_TARGET_TRIPLET=x64-linux-release "-DVCPKG_INSTALLED_DIR=$work/installed" -DVCPKG_MANIFEST_MODE=OFF
  cmake --build "$work/consumer"
  cd "$work"
  "$installed/tools/stereopsis/stereopsis" synth -o scene --width 160 --height 120 --disparities 32
  consumer/consumer scene/left.png scene/right.png disparity.pfm
  "$installed/tools/stereopsis/stereopsis" evaluate disparity.pfm --truth scene/disp_left.pfm
}

"by_$1"
