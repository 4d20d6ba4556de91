"""The node for ROS 1 (rospy): python3 -m stereopsis.ros.node1 __ns:=stereo

Topics, queue sizes and the parameters approximate_sync, queue_size, image_transport, min_disparity and disparity_range are those
of stereo_image_proc. The node adds depth/image_rect, depth/camera_info, confidence, /diagnostics; every parameter of
the method by dynamic_reconfigure, live, with "_" for "." in its name; and, when it starts,

~method, ~pipeline     a method's name [sgm], or a file of pipeline JSON
~device, ~threads      auto, cpu, cuda[:N], opencl[:N] [auto]; of the CPU, 0: all
~align_rows            auto: the rows of each right image are aligned if they differ, and /diagnostics says by how much; off; numbers [auto]
~register_to           a camera's file, or raw: depth_registered/image_raw and its camera_info have the depth as it sees it
~register_frame        the frame_id of that camera
~rectify               true: left/image_raw and right/image_raw are rectified here; false: left/image_rect, right/image_rect [true]
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from .._errors import Error
from .._pipeline import Pipeline
from .._rows import checked_rows
from .core import NodeCore, NodeSettings, without
from .families import Ros1
from .parameters import Parameter, applied, at_start, checked, parameters_of
from .processor import Matching
from .reconfigure import Description
from .registration import Registration
from .results import Shape

LISTENERS_SECONDS = 0.5
RECEIVED_BYTES = 1 << 24  # bytes read at a time; with less than a few images, rospy falls behind
AT_START = (
    *at_start(rectify=True),
    Parameter("image_transport", "raw", "how images come", choices=("raw", "compressed")),
)


class StereoNode:
    """Subscribes and publishes only while there is at least one subscriber. rospy's node must exist already."""

    def __init__(self) -> None:
        self._rospy: Any = importlib.import_module("rospy")
        self._family = Ros1()
        start = {parameter.name: self._given(parameter) for parameter in AT_START}
        self._is_compressed = start["image_transport"] == "compressed"
        self._settings = settings = settings_of(start)
        self._parameters = parameters_of(settings.matching.pipeline, "_")
        self._values = {parameter.name: self._given(parameter) for parameter in self._parameters}
        self._name_unknown()
        self._matching, self._shape = applied(self._values, self._parameters, settings.matching, settings.shape)
        outputs = {**settings.outputs(), "/diagnostics": "diagnostic_msgs/DiagnosticArray"}
        self._publishers = {
            topic: self._rospy.Publisher(topic, self._family.kind(kind), queue_size=1) for topic, kind in outputs.items()
        }
        self._subscribers: list[Any] = []
        self._core = NodeCore(settings, self._family, self._send, self._listened, self._now, self._warn)
        server: Any = importlib.import_module("dynamic_reconfigure.server")
        self._server = server.Server(Description(self._parameters), self._change)

    def close(self) -> None:
        self._core.close()

    def follow_listeners(self) -> None:
        wanted = bool(self._listened(set(self._publishers) - {"/diagnostics"}))
        if wanted and not self._subscribers:
            inputs = self._settings.inputs
            self._subscribers = [self._image_subscriber(topic) for topic in inputs.images]
            self._subscribers += [self._subscriber(topic, topic, "CameraInfo") for topic in inputs.infos if topic]
        elif not wanted and self._subscribers:
            for subscriber in self._subscribers:
                subscriber.unregister()
            self._subscribers = []
            self._core.pause()

    def _given(self, parameter: Parameter) -> Any:
        """Returns the value on the parameter server, or the default. Raises CallError for a value that is not allowed."""
        return checked(parameter, self._rospy.get_param(f"~{parameter.name}", parameter.default))

    def _name_unknown(self) -> None:
        known = {parameter.name for parameter in (*AT_START, *self._parameters)}
        unknown = sorted(set(self._rospy.get_param("~", {})) - known)
        if unknown:
            self._warn(f"there are no parameters {', '.join(unknown)} of this method, so they have no effect")

    def _change(self, config: Any, _level: int) -> Any:
        """Sets all values, or logs the reason and sets none of them if one value is not allowed. Returns the values in effect."""
        try:
            values = {parameter.name: checked(parameter, config[parameter.name]) for parameter in self._parameters}
            self._matching, self._shape = applied(values, self._parameters, self._matching, self._shape)
        except Error as error:
            self._warn(f"{error}; nothing has changed")
        else:
            self._core.change(self._matching, self._shape)
            self._values = values
        return type(config)({**self._values, "groups": config["groups"]})

    def _image_subscriber(self, topic: str) -> Any:
        if not self._is_compressed:
            return self._subscriber(topic, topic, "Image")
        # image_transport appends the name to the remapped topic.
        return self._subscriber(topic, f"{self._rospy.resolve_name(topic)}/compressed", "CompressedImage")

    def _subscriber(self, topic: str, name: str, kind: str) -> Any:
        """Subscribes to a topic, which the core knows as `topic`."""
        return self._rospy.Subscriber(
            name,
            self._family.kind(f"sensor_msgs/{kind}"),
            partial(self._core.receive, topic),
            queue_size=self._settings.queue,
            buff_size=RECEIVED_BYTES,
        )

    def _send(self, topic: str, message: Any) -> None:
        self._publishers[topic].publish(message)

    def _listened(self, topics: Iterable[str]) -> set[str]:
        return {topic for topic in topics if self._publishers[topic].get_num_connections() > 0}

    def _now(self) -> int:
        return int(self._rospy.get_rostime().to_nsec())

    def _warn(self, text: str) -> None:
        self._rospy.logwarn("%s", text)


def settings_of(start: Mapping[str, Any]) -> NodeSettings:
    """Returns the settings that follow from the parameters AT_START."""
    pipeline = Pipeline.read(start["pipeline"]) if start["pipeline"] else Pipeline(start["method"])
    tolerance = start["approximate_sync_tolerance_seconds"] if start["approximate_sync"] else 0.0
    return NodeSettings(
        Matching(
            pipeline,
            device=start["device"],
            threads=start["threads"],
            disparities=(0, 64),
            align_rows=checked_rows(start["align_rows"], "~align_rows"),
            in_flight=1,
        ),
        Shape(registration=Registration.of(start["register_to"], start["register_frame"], start["rectify"])),
        raw=start["rectify"],
        tolerance=round(tolerance * 1e9),
        queue=start["queue_size"],
    )


def main() -> None:
    try:
        rospy: Any = importlib.import_module("rospy")
    except ModuleNotFoundError as missing:
        raise without(missing, "ROS 1") from missing
    rospy.init_node("stereopsis")
    try:
        stereo = StereoNode()
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
