"""Makes messages for ROS 1, ROS 2 and bags through one interface."""

from __future__ import annotations

import array
import importlib
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
MATRICES = {"d", "k", "r", "p", "t"}  # matrices, which ROS 1 names in capitals


class Family(ABC):
    """A family of message classes. Names of types are "package/Type". Names of fields are the names of ROS 2; a family renames fields that
    have other names in its ROS.
    """

    capitals = False

    @abstractmethod
    def kind(self, name: str) -> Any:
        """Returns the class of messages of this type."""

    def make(self, name: str, /, **fields: Any) -> Any:
        if self.capitals:
            fields = {key.upper() if key in MATRICES else key: value for key, value in fields.items()}
        return self.kind(name)(**fields)

    def time(self, stamp: int) -> Any:
        sec, nanosec = divmod(stamp, 10**9)
        return self.make("builtin_interfaces/Time", sec=sec, nanosec=nanosec)

    def bytes(self, data: Bytes) -> Any:
        return data


class Ros1(Family):
    """Classes of the distribution's packages, as rospy sends them."""

    capitals = True

    def kind(self, name: str) -> Any:
        package, kind = name.split("/")
        return getattr(importlib.import_module(f"{package}.msg"), kind)

    def time(self, stamp: int) -> Any:
        return importlib.import_module("genpy").Time(*divmod(stamp, 10**9))

    def bytes(self, data: Bytes) -> Any:
        return data.tobytes()


class Ros2(Family):
    """Classes of the distribution's packages, as rclpy sends them."""

    def kind(self, name: str) -> Any:
        package, kind = name.split("/")
        return getattr(importlib.import_module(f"{package}.msg"), kind)

    def bytes(self, data: Bytes) -> Any:
        made = array.array("B")  # the only type whose bytes rclpy does not check one by one
        made.frombytes(data.tobytes())
        return made


class Bagged(Family):
    """The message classes of a typestore of `rosbags`, for ROS 1 or ROS 2."""

    def __init__(self, typestore: Any) -> None:
        self.typestore = typestore
        self.capitals = "D" in self.kind("sensor_msgs/CameraInfo").__dataclass_fields__

    def kind(self, name: str) -> Any:
        return self.typestore.types[name.replace("/", "/msg/")]

    def make(self, name: str, /, **fields: Any) -> Any:
        if name == "std_msgs/Header" and self.capitals:
            fields["seq"] = 0
        return super().make(name, **{key: np.array(v) if isinstance(v, tuple) else v for key, v in fields.items()})
