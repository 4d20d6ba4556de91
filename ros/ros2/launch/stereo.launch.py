"""Starts the stereo node in place of stereo_image_proc: ros2 launch stereopsis_ros stereo.launch.py namespace:=stereo

Other launch files may include this file: every argument has a default.
"""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

ARGUMENTS = {
    "method": ("sgm", str, "a name of `stereopsis methods`"),
    "device": ("auto", str, "auto, cpu, cuda[:N] or opencl[:N]"),
    "rectify": ("false", bool, "the images are left/image_raw and right/image_raw: rectify them"),
    "align_rows": ("auto", str, "auto: the rows of each right image are aligned if they differ; off; numbers"),
    "image_transport": ("raw", str, "how images come: raw or compressed"),
    "left_mask": ("", str, "an image file: 255 for the pixels of the left images that are used, 0 for others"),
    "right_mask": ("", str, "as left_mask, for the right images"),
    "register_to": ("", str, "a camera's file, or raw: depth_registered has the depth as that camera sees it"),
    "register_frame": ("", str, "the frame_id of that camera"),
    "approximate_sync": ("false", bool, "stamps of a pair may differ"),
    "approximate_sync_tolerance_seconds": ("0.01", float, "by so much"),
    "queue_size": ("5", int, "messages of a topic that wait for the others'"),
    "min_disparity": ("0", int, "the least disparity that is searched"),
    "disparity_range": ("64", int, "how many are searched; 0: the range is estimated from the first pair"),
    "use_system_default_qos": ("false", bool, "for inputs, in place of sensor data's quality of service"),
}


def generate_launch_description() -> LaunchDescription:
    given = {name: ParameterValue(LaunchConfiguration(name), value_type=kind) for name, (_, kind, _) in ARGUMENTS.items()}
    return LaunchDescription(
        [
            DeclareLaunchArgument("namespace", default_value="", description="of the cameras' topics and the results"),
            *(
                DeclareLaunchArgument(name, default_value=value, description=text)
                for name, (value, _, text) in ARGUMENTS.items()
            ),
            Node(
                package="stereopsis_ros",
                executable="stereo_node",
                name="stereopsis",
                namespace=LaunchConfiguration("namespace"),
                parameters=[given],
                output="screen",
            ),
        ]
    )
