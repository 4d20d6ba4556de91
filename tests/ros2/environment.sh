# shellcheck shell=bash
# Sets the environment of ROS 2 in a folder of build_component.sh: . environment.sh FOLDER
export PATH=$1/V/bin:$PATH AMENT_PREFIX_PATH=$1/V:$1/inst CMAKE_PREFIX_PATH=$1/V:$1/inst RMW_IMPLEMENTATION=rmw_fastrtps_cpp
PYTHONPATH=$(echo "$1"/inst/lib/python3*/site-packages)
LD_LIBRARY_PATH=$1/V/lib:$(printf '%s:' "$1"/V/lib/python3*/site-packages/ros_*.libs)$1/inst/lib
export PYTHONPATH LD_LIBRARY_PATH
