"""The node for ROS 1 (rospy): python3 -m stereopsis.ros.node1 __ns:=stereo

Topics, queue sizes and the parameters approximate_sync, queue_size, image_transport, min_disparity and disparity_range are those
of stereo_image_proc. The node adds depth/image_rect, depth/camera_info, confidence, /diagnostics; every parameter of
the method by dynamic_reconfigure, live, with "_" for "." in its name; and, when it starts,

~method, ~pipeline     a method's name [sgm], or a file of pipeline JSON
~device, ~threads      auto, cpu, cuda[:N], opencl[:N] [auto]; of the CPU, 0: all
~align_rows            auto: the rows of each right image are aligned if they differ, and /diagnostics says by how much; off; numbers [auto]
~track_rig             a file (.yml): the rotation of a rig that moves is corrected from the pairs, and written there at the end [none]
~seed_previous         true: the disparities of the pair before guide each pair, which reduces flicker [false]
~seeds                 disparity or depth: the topic seeds has those that are known beforehand, of the rectified left image [none]
~register_to           a camera's file, or raw: depth_registered/image_raw and its camera_info have the depth as it sees it
~register_frame        the frame_id of that camera
~left_mask, ~right_mask  image files with the pixels that are used; 0 in the others
~rectify               true: left/image_raw and right/image_raw are rectified here; false: left/image_rect, right/image_rect [true]
"""

from __future__ import annotations

import importlib
import time
from functools import partial
from typing import Any

from .._errors import Error
from .core import without
from .families import Ros1
from .node import LISTENERS_SECONDS, StereoNode
from .parameters import Parameter, Value, at_start, checked
from .reconfigure import Description

RECEIVED_BYTES = 1 << 24  # bytes read at a time; with less than a few images, rospy falls behind
AT_START = at_start(rectify=True)


class StereoNode1(StereoNode):
    """The node on rospy, whose node must exist already."""

    def __init__(self) -> None:
        self._rospy: Any = importlib.import_module("rospy")
        super().__init__(Ros1(), {parameter.name: self._declared(parameter) for parameter in AT_START}, "_")
        self._name_unknown()
        server: Any = importlib.import_module("dynamic_reconfigure.server")
        self._server = server.Server(Description(self._parameters), self._reconfigure)

    def _declared(self, parameter: Parameter) -> Value:
        """Returns the value on the parameter server, or the default. Raises CallError for a value that is not allowed."""
        return checked(parameter, self._rospy.get_param(f"~{parameter.name}", parameter.default))

    def _name_unknown(self) -> None:
        known = {parameter.name for parameter in (*AT_START, *self._parameters)}
        unknown = sorted(set(self._rospy.get_param("~", {})) - known)
        if unknown:
            self._warn(f"there are no parameters {', '.join(unknown)} of this method, so they have no effect")

    def _reconfigure(self, config: Any, _level: int) -> Any:
        """Sets all values, or logs the reason and sets none of them if one value is not allowed. Returns the values in effect."""
        try:
            refused = self._change({parameter.name: checked(parameter, config[parameter.name]) for parameter in self._parameters})
        except Error as error:
            refused = str(error)
        if refused:
            self._warn(f"{refused}; nothing has changed")
        return type(config)({**self._values, "groups": config["groups"]})

    def _publisher(self, topic: str, kind: Any) -> Any:
        return self._rospy.Publisher(topic, kind, queue_size=1)

    def _subscription(self, topic: str, name: str, kind: Any) -> Any:
        receive = partial(self._core.receive, topic)
        return self._rospy.Subscriber(name, kind, receive, queue_size=self._settings.queue, buff_size=RECEIVED_BYTES)

    def _unsubscribe(self, subscription: Any) -> None:
        subscription.unregister()

    def _resolved(self, topic: str) -> str:
        return str(self._rospy.resolve_name(topic))

    def _listeners(self, publisher: Any) -> int:
        return int(publisher.get_num_connections())

    def _now(self) -> int:
        return int(self._rospy.get_rostime().to_nsec())

    def _warn(self, text: str) -> None:
        self._rospy.logwarn("%s", text)


def main() -> None:
    try:
        rospy: Any = importlib.import_module("rospy")
    except ModuleNotFoundError as missing:
        raise without(missing, "ROS 1") from missing
    rospy.init_node("stereopsis")
    try:
        stereo = StereoNode1()
    except ModuleNotFoundError as missing:  # a package with message types, or dynamic_reconfigure
        raise without(missing, "ROS 1") from missing
    except Error as error:
        rospy.logfatal("%s", error)
        raise SystemExit(2) from error
    try:
        while not rospy.is_shutdown():  # uses the machine's clock, because a simulated clock may stand still
            stereo.follow_listeners()
            time.sleep(LISTENERS_SECONDS)
    finally:
        stereo.close()


if __name__ == "__main__":
    main()
