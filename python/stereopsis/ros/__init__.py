"""Support for ROS 1 and ROS 2: messages, bags, and nodes.

`array_of(message)`, `Camera.of(camera_info)`, `Pairing` and `Processor` accept messages of rospy, rclpy and rosbags.
`Messages(family)` makes messages, where family is Ros1(), Ros2() or Bagged(typestore). `stereopsis.ros.bags` reads and writes bags.
No ROS package is needed to import this module.
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
