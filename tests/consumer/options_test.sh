#!/usr/bin/env bash
# An option that is ON fails with a sentence where its dependency is absent, AUTO leaves the part out, and OFF does not look for it.
# Arguments: the sources.
set -euo pipefail
source=$1
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
nothing_else=(-DSTEREOPSIS_TESTS=OFF -DSTEREOPSIS_C=OFF -DSTEREOPSIS_SIMD_TARGETS=static -DSTEREOPSIS_OPENCV=OFF -DSTEREOPSIS_CUDA=OFF
              -DSTEREOPSIS_OPENCL=OFF -DSTEREOPSIS_PEERS=OFF -DSTEREOPSIS_WEBP=OFF -DSTEREOPSIS_JPEG2000=OFF)

configure() { cmake -S "$source" -B "$place" -G Ninja -Wno-dev "${nothing_else[@]}" "$@" >"$place.log" 2>&1; }

# Arguments: the option, words of the sentence, AUTO or OFF for the value that works, what hides the dependency.
check() {
  local option=$1 words=$2 works=$3 name
  shift 3
  if configure "-D$option=ON" "$@" || ! tr -s ' \n' ' ' <"$place.log" | grep -q "$option is ON, but $words.*set $option to $works"; then
    echo "with $option=ON and $*, configuring must fail with a sentence that names $words and $works; it printed:" && cat "$place.log"
    exit 1
  fi
  configure "-D$option=$works" "$@" || { echo "with $option=$works and $*, configuring must work; it printed:" && cat "$place.log"; exit 1; }
  for hidden; do name=${hidden#-D} && cmake -U "${name%%=*}" "$place" >/dev/null 2>&1; done
  configure "-D$option=OFF" || { cat "$place.log"; exit 1; }
}

check STEREOPSIS_CUDA "nvcc of CUDA 12" AUTO -DSTEREOPSIS_NVCC=
check STEREOPSIS_OPENCL "CL/cl.h" AUTO -DSTEREOPSIS_OPENCL_HEADERS=
check STEREOPSIS_WEBP "libwebp-dev" AUTO -DSTEREOPSIS_WEBP_LIBRARY=
check STEREOPSIS_JPEG2000 "libopenjp2-7-dev" AUTO -DSTEREOPSIS_JPEG2000_LIBRARY=
check STEREOPSIS_OPENCV "OpenCV" AUTO -DCMAKE_DISABLE_FIND_PACKAGE_OpenCV=ON
check STEREOPSIS_PEERS "neither OpenCV" AUTO -DCMAKE_DISABLE_FIND_PACKAGE_OpenCV=ON -DLIBELAS_LIBRARY=
check STEREOPSIS_TIFF "TIFF was not found" OFF -DCMAKE_DISABLE_FIND_PACKAGE_TIFF=ON
check STEREOPSIS_APPS "CLI11 was not found" OFF -DCMAKE_DISABLE_FIND_PACKAGE_CLI11=ON
check STEREOPSIS_SIMD "hwy was not found" OFF -DCMAKE_DISABLE_FIND_PACKAGE_hwy=ON
