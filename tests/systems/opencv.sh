#!/usr/bin/env bash
# Builds all that uses OpenCV with the OpenCV of the system, without SIMD and GPU code, and runs the tests of it: calibration,
# rectification, files of calibration, and the drop-in for cv::StereoSGBM. tests/systems/opencv.sh [OPTIONS of CMake].
set -euo pipefail
cd "$(dirname "$0")/../.."
build=build/opencv
mkdir -p build
cmake -S . -B $build -G Ninja -Wno-dev -DSTEREOPSIS_TESTS=ON -DSTEREOPSIS_SIMD=OFF -DSTEREOPSIS_CUDA=OFF -DSTEREOPSIS_OPENCL=OFF \
  -DSTEREOPSIS_OPENCV=ON "$@" >$build.log || { cat $build.log; exit 1; }
grep -i opencv $build.log
sed -n 's/^OpenCV_DIR:PATH=/OpenCV: /p' $build/CMakeCache.txt
cmake --build $build --target calibrate_test opencv_test stereopsis_opencv
for program in calibrate_test opencv_test; do "$build/bin/$program" --gtest_brief=1; done
