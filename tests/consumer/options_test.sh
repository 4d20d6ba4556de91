#!/usr/bin/env bash
# An option that is ON fails with a sentence where its dependency is absent; AUTO leaves the part out. `cmake --install` leaves the
# prefix untouched if the build fails. Arguments: the sources.
set -euo pipefail
source=$1
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
minimal=(-DSTEREOPSIS_C=OFF -DSTEREOPSIS_SIMD=OFF -DSTEREOPSIS_APPS=OFF -DSTEREOPSIS_TIFF=OFF -DSTEREOPSIS_OPENCV=OFF
         -DSTEREOPSIS_CUDA=OFF -DSTEREOPSIS_OPENCL=OFF -DSTEREOPSIS_WEBP=OFF -DSTEREOPSIS_JPEG2000=OFF)
# No package of CMake is found, and none of these programs, headers and libraries, unless a line below gives it.
absent=(-DSTEREOPSIS_NVCC= -DSTEREOPSIS_OPENCL_HEADERS= -DSTEREOPSIS_WEBP_LIBRARY= -DSTEREOPSIS_JPEG2000_LIBRARY= -DLIBELAS_LIBRARY=
        -DCMAKE_DISABLE_FIND_PACKAGE_OpenCV=ON -DCMAKE_DISABLE_FIND_PACKAGE_TIFF=ON -DCMAKE_DISABLE_FIND_PACKAGE_CLI11=ON
        -DCMAKE_DISABLE_FIND_PACKAGE_hwy=ON)

configure() { cmake -S "$source" -B "$place" -G Ninja -Wno-dev "${minimal[@]}" "${absent[@]}" "$@" >"$place/log" 2>&1; }

# Arguments: the option, words of its sentence, the values that the sentence offers, further options.
fails() {
  if configure "${@:4}" "-D$1=ON" || ! tr -s ' \n' ' ' <"$place/log" | grep -q "$1 is ON, but $2.*set $1 to $3"; then
    echo "with $1=ON, configuring must fail with a sentence that has '$2' and '$3'; it printed:" && cat "$place/log"
    exit 1
  fi
}

fails STEREOPSIS_CUDA "nvcc of CUDA 12" "AUTO or OFF"
fails STEREOPSIS_OPENCL "CL/cl.h" "AUTO or OFF"
fails STEREOPSIS_WEBP "libwebp-dev" "AUTO or OFF"
fails STEREOPSIS_JPEG2000 "libopenjp2-7-dev" "AUTO or OFF"
fails STEREOPSIS_OPENCV "OpenCV" "AUTO or OFF"
fails STEREOPSIS_LIBELAS libelas "AUTO or OFF" -DSTEREOPSIS_APPS=ON -DCMAKE_DISABLE_FIND_PACKAGE_CLI11=OFF
fails STEREOPSIS_TIFF "TIFF was not found" OFF
fails STEREOPSIS_APPS "CLI11 was not found" OFF
fails STEREOPSIS_SIMD "hwy was not found" OFF
configure -DSTEREOPSIS_{CUDA,OPENCL,WEBP,JPEG2000,OPENCV,LIBELAS}=AUTO || { echo "AUTO must leave out what is absent; it printed:" && cat "$place/log"; exit 1; }
grep -q '^CMAKE_BUILD_TYPE:STRING=Release$' "$place/CMakeCache.txt" || { echo "a build without a type must be optimised" && exit 1; }
# The table of parts says so, with what to install.
for line in 'CUDA, by nvcc *off *install nvcc' 'calibrate, videos, by OpenCV *off *install libopencv-dev' 'files: TIFF *off *STEREOPSIS_TIFF is OFF' 'image and calibration files *on$'; do
  grep -q "$line" "$place/log" || { echo "the table of parts must have the line '$line'; it printed:" && cat "$place/log"; exit 1; }
done
# The command prints the lines of this header, as consumer_test.sh checks.
diff <(sed -n '/Parts of this build/,$s/^--   //p' "$place/log") <(sed -n 's/^    "\(.*\)",$/\1/p' "$place/generated/build_parts.hpp")

# A part of the build is there, and the rest cannot be compiled.
configure -DSTEREOPSIS_IO=OFF -DCMAKE_CXX_COMPILER_LAUNCHER=false
touch "$place/src/libstereopsis.a"
for component in "" dev; do
  if cmake --install "$place" --prefix "$place/prefix" ${component:+--component "$component"} >"$place/log" 2>&1 ||
      ! grep -q "Nothing was installed" "$place/log" || [ -e "$place/prefix" ]; then
    echo "an installation of what cannot be built must fail and leave no prefix; it printed:" && cat "$place/log"
    exit 1
  fi
done
