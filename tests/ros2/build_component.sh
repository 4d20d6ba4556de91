#!/usr/bin/env bash
# Builds rclcpp for the wheels of ROS 2 Jazzy, and the component for ROS 2 on top: build_component.sh FOLDER PREFIX
#
# FOLDER gets the wheels (V), the sources, and the installation (inst); PREFIX has the installed library. The wheels of PyPI
# have no rclcpp, so it is built from its public sources, which takes about 15 processor minutes for the first time. If FOLDER
# has a folder src with clones of the repositories, these are built. Prints nothing but errors; the logs are in FOLDER.
set -euo pipefail
component=$(realpath "$(dirname "$0")/../../ros/ros2/stereopsis_ros") prefix=$(realpath "$2")
mkdir -p "$1/src"
cd "$1"
venv=$PWD/V inst=$PWD/inst
wheels=(rclpy rmw-fastrtps-cpp sensor-msgs stereo-msgs diagnostic-msgs rosgraph-msgs ament-cmake ament-cmake-core ament-package
  ament-cmake-export-definitions ament-cmake-export-dependencies ament-cmake-export-include-directories ament-cmake-export-interfaces
  ament-cmake-export-libraries ament-cmake-export-link-flags ament-cmake-export-targets ament-cmake-gen-version-h ament-cmake-gmock
  ament-cmake-gtest ament-cmake-include-directories ament-cmake-libraries ament-cmake-pytest ament-cmake-python ament-cmake-ros
  ament-cmake-test ament-cmake-version rosidl-default-generators rosidl-core-generators rosidl-core-runtime rosidl-cli
  rosidl-pycommon domain-coordinator gtest-vendor gmock-vendor python-cmake-module)
# Repository, tag, and the folders with packages, in the order in which they are built.
sources=("ros2/rcl_interfaces 2.0.2 statistics_msgs composition_interfaces" "ros-tooling/libstatistics_collector 1.7.3 ."
  "ros2/rclcpp 28.1.6 rclcpp" "ros/console_bridge 1.0.2 ." "ros2/console_bridge_vendor 1.7.1 ." "ros/class_loader 2.7.0 ."
  "ros2/rclcpp 28.1.6 rclcpp_components")

if [ ! -x "$venv/bin/pip" ]; then
  python3 -m venv "$venv"
  "$venv/bin/pip" install -q --disable-pip-version-check "${wheels[@]/#/ros-jazzy-}" catkin_pkg lxml empy==3.3.4
  # The files of CMake have the paths of the machine on which the wheels were made.
  include=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("include"))')
  numpy=$("$venv/bin/python" -c 'import numpy; print(numpy.get_include())')
  find "$venv/share" -name '*.cmake' -exec sed -i -e "s#/opt/python/[^/]*/include/python3[.0-9]*#$include#" \
    -e "s#/opt/python/[^;\"]*/numpy/_core/include#$numpy#" -e 's#/usr/lib64/libtinyxml2.so#tinyxml2#' {} +
fi
# shellcheck source=tests/ros2/environment.sh
. "$(dirname "$component")/../../tests/ros2/environment.sh" "$PWD"

# build SOURCE NAME [OPTION…]: configures, builds and installs a package
build() {
  cmake -S "$1" -B "build/$2" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$inst" \
    -DPython3_EXECUTABLE="$venv/bin/python" -DCMAKE_SHARED_LINKER_FLAGS=-Wl,--allow-shlib-undefined \
    -DCMAKE_EXE_LINKER_FLAGS=-Wl,--allow-shlib-undefined "${@:3}" >"$2.log" 2>&1
  ninja -C "build/$2" install >>"$2.log" 2>&1 || { tail -n 20 "$2.log" >&2; return 1; }
}

# fetch REPOSITORY TAG: clones a repository, and sets `folder`
fetch() {
  folder=src/${1##*/}
  [ -d "$folder" ] || git clone -q --depth 1 --branch "$2" "https://github.com/$1" "$folder"
}

for source in "${sources[@]}"; do
  read -r repository tag packages <<<"$source"
  fetch "$repository" "$tag"
  for package in $packages; do
    name=$([ "$package" = . ] && echo "${repository##*/}" || echo "$package")
    [ -f "$name.done" ] || build "$folder/$package" "$name" -DBUILD_TESTING=OFF
    touch "$name.done"
  done
done
if ! "$venv/bin/python" -c 'import launch_ros' 2>/dev/null; then
  fetch ros2/launch 3.4.3
  fetch ros2/launch_ros 0.26.6
  "$venv/bin/pip" install -q --disable-pip-version-check osrf-pycommon pyyaml importlib_metadata
  "$venv/bin/pip" install -q --disable-pip-version-check --no-deps src/launch/launch src/launch_ros/launch_ros
fi
CMAKE_PREFIX_PATH=$prefix:$CMAKE_PREFIX_PATH build "$component" stereopsis_ros -DBUILD_TESTING=ON
