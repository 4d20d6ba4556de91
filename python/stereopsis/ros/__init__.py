"""Robots: messages of ROS 1 and ROS 2, bags, and nodes.

`array_of(message)`, `Camera.of(camera_info)`, `Pairing` and `Processor` take messages of rospy, rclpy and rosbags alike;
`Messages(Ros1() | Ros2() | Bagged(typestore))` makes
them. `stereopsis.ros.bags` reads and writes bags. None of ROS's packages is needed to import this.
"""

from . import stamps
from .cameras import Camera, Cameras, cameras_of, info_fields
from .clouds import cloud_fields
from .families import Bagged, Family, Ros1, Ros2
from .images import ENCODINGS, array_of, image_fields
from .notes import Notes
from .pairs import Pairing, StampedPair, Topics
from .processor import Matched, Matching, Processor
from .products import Messages
from .searched import Searched
from .sync import Synchroniser, TopicCount

__all__ = [
    "ENCODINGS",
    "Bagged",
    "Camera",
    "Cameras",
    "Family",
    "Matched",
    "Matching",
    "Messages",
    "Notes",
    "Pairing",
    "Processor",
    "Ros1",
    "Ros2",
    "Searched",
    "StampedPair",
    "Synchroniser",
    "TopicCount",
    "Topics",
    "array_of",
    "cameras_of",
    "cloud_fields",
    "image_fields",
    "info_fields",
    "stamps",
]
