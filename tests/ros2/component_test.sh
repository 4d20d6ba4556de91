#!/usr/bin/env bash
# Tests the component for ROS 2 in a real ROS 2, after ./dev python: component_test.sh FOLDER. build_component.sh describes FOLDER.
#
# The tests are those of the node in Python. Then cameras, the component and a listener are composed in one process: no image may
# be copied. At the end, the rate at 1280×720 is printed beside that of `match` on files, and the processor times of both nodes.
set -euo pipefail
cd "$(dirname "$0")/../.."
mkdir -p "$1"
folder=$(realpath "$1") stereopsis=build/release/bin/stereopsis
cmake --install build/release --prefix "$folder/stereopsis" >"$1/install.log"
tests/ros2/build_component.sh "$folder" "$folder/stereopsis"
. tests/ros2/environment.sh "$folder"
ls -d "$PWD"/build/python-venv/lib/python3*/site-packages >"$(echo "$folder"/V/lib/python3*/site-packages)/package.pth"
# The wheels' libraries for Python are loaded by the type supports of messages, also in programs in C++.
LD_PRELOAD=$("$folder/V/bin/python" -c 'import sysconfig; print(sysconfig.get_config_var("LIBDIR"), sysconfig.get_config_var("LDLIBRARY"), sep="/")')
export LD_PRELOAD ROS_DISTRO=jazzy ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST ROS_DOMAIN_ID=$((RANDOM % 100 + 1))
node=$folder/inst/lib/stereopsis_ros/stereo_component composed=$folder/build/stereopsis_ros/composed python=$folder/V/bin/python

STEREOPSIS_ROS_NODE=$node "$python" -m pytest -q -rs -p no:cacheprovider python/ros2_tests
scenes=$(mktemp -d)
trap 'rm -r "$scenes"' EXIT
$stereopsis synth --quiet --width 640 --height 480 -o "$scenes/small"
$stereopsis synth --quiet --width 1280 --height 720 -o "$scenes/large"
for i in $(seq 10 40); do
  cp "$scenes/large/left.png" "$scenes/left$i.png"
  cp "$scenes/large/right.png" "$scenes/right$i.png"
done
settings=(device:=cpu method:=sgm disparity_range:=64)
echo "640×480: every image is sent without a copy"
"$composed" "$scenes"/small/{left,right}.png 199 1 "${settings[@]}"
echo "1280×720: the component; match on files"
"$composed" "$scenes"/large/{left,right}.png 30 2 "${settings[@]}" || true  # a pair that waits may be skipped for the newest
$stereopsis match "$scenes/left%02d.png" "$scenes/right%02d.png" --device cpu --disparities 64 -o "$scenes/%02d.pfm"
echo "640×480: processor time of the component, and of the node in Python"
STEREOPSIS_ROS_NODE=$node "$python" python/ros2_tests/costs.py
"$python" python/ros2_tests/costs.py
