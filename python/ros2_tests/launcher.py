"""Runs a launch file, as `ros2 launch` does: launcher.py FILE [ARGUMENT:=VALUE…]"""

import sys

from launch import LaunchDescription, LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource

if __name__ == "__main__":
    source = PythonLaunchDescriptionSource(sys.argv[1])
    arguments = [argument.split(":=", 1) for argument in sys.argv[2:]]
    service = LaunchService()
    service.include_launch_description(LaunchDescription([IncludeLaunchDescription(source, launch_arguments=arguments)]))
    sys.exit(service.run())
