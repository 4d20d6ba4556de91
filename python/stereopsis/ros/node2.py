"""The node for ROS 2 (rclpy): python3 -m stereopsis.ros.node2 --ros-args -r __ns:=/stereo

Topics and the parameters approximate_sync, approximate_sync_tolerance_seconds, queue_size, image_transport, use_color,
use_system_default_qos, min_disparity and disparity_range are those of stereo_image_proc. The node adds depth/image_rect,
depth/camera_info, confidence, /diagnostics; every parameter of the method, with its range, live; and, when it starts,

method, pipeline       a method's name [sgm], or a file of pipeline JSON
device, threads        auto, cpu, cuda[:N], opencl[:N] [auto]; of the CPU, 0: all
align_rows             auto: the rows of each right image are aligned if they differ, and /diagnostics says by how much; off; numbers [auto]
track_rig              a file (.yml): the rotation of a rig that moves is corrected from the pairs, and written there at the end [none]
seed_previous          true: the disparities of the pair before guide each pair, which reduces flicker [false]
seeds                  disparity or depth: the topic seeds has those that are known beforehand, of the rectified left image [none]
register_to            a camera's file, or raw: depth_registered/image_raw and its camera_info have the depth as it sees it
register_frame         the frame_id of that camera
left_mask, right_mask  image files with the pixels that are used; 0 in the others
rectify                true: left/image_raw and right/image_raw are rectified here; false: left/image_rect, right/image_rect [false]

Inputs use the quality of service of sensor data. Results are published reliably with a queue of depth 1. `qos_overrides` changes
the quality of service of each topic. With --profile, the program prints the name of a file for Fast DDS with which images
reach other processes, and ends.
"""

from __future__ import annotations

import importlib
import pathlib
import sys
from functools import partial
from typing import Any

from .._errors import Error
from .core import without
from .families import Ros2
from .node import LISTENERS_SECONDS, StereoNode
from .parameters import Parameter, Value, at_start, checked

AT_START = (
    *at_start(rectify=False),
    Parameter("use_system_default_qos", False, "for inputs, in place of sensor data's quality of service"),
)
PROFILE = pathlib.Path(__file__).with_name("fastdds.xml")


class StereoNode2(StereoNode):
    """The node on `node`, an rclpy.node.Node."""

    def __init__(self, node: Any) -> None:
        self.node = node
        start = {parameter.name: self._declared(parameter, read_only=True) for parameter in AT_START}
        self._qos: Any = importlib.import_module("rclpy.qos")
        overriding: Any = importlib.import_module("rclpy.qos_overriding_options")
        self._overrides = overriding.QoSOverridingOptions.with_default_policies()
        self._uses_system_qos = start["use_system_default_qos"]
        super().__init__(Ros2(), start, ".")
        node.add_on_set_parameters_callback(self._set)
        node.create_timer(LISTENERS_SECONDS, self.follow_listeners)

    def _declared(self, parameter: Parameter, read_only: bool = False) -> Value:
        """Returns the value from the command line or a parameter file, or the default."""
        messages: Any = importlib.import_module("rcl_interfaces.msg")
        described = messages.ParameterDescriptor(
            name=parameter.name,
            description=parameter.description,
            read_only=read_only,
            additional_constraints=", ".join(parameter.choices),
        )
        low, high = parameter.minimum, parameter.maximum
        if low is not None and high is not None and type(parameter.default) is int:
            step = max(1, int(parameter.step))
            described.integer_range = [messages.IntegerRange(from_value=int(low), to_value=int(high), step=step)]
        if low is not None and high is not None and type(parameter.default) is float:
            described.floating_point_range = [messages.FloatingPointRange(from_value=low, to_value=high, step=0.0)]
        return checked(parameter, self.node.declare_parameter(parameter.name, parameter.default, described).value)

    def _set(self, changed: list[Any]) -> Any:
        result: Any = importlib.import_module("rcl_interfaces.msg").SetParametersResult
        refused = self._change({parameter.name: parameter.value for parameter in changed})
        return result(successful=not refused, reason=refused)

    def _publisher(self, topic: str, kind: Any) -> Any:
        # Reliable publishers also serve subscribers that request the quality of sensor data.
        return self.node.create_publisher(kind, topic, self._qos.QoSProfile(depth=1), qos_overriding_options=self._overrides)

    def _subscription(self, topic: str, name: str, kind: Any) -> Any:
        return self.node.create_subscription(
            kind,
            name,
            partial(self._core.receive, topic),
            self._qos.qos_profile_system_default if self._uses_system_qos else self._qos.qos_profile_sensor_data,
            qos_overriding_options=self._overrides,
            event_callbacks=self._events(topic),
        )

    def _events(self, topic: str) -> Any:
        """Returns the callbacks of a subscription to images, which count messages that the middleware lost."""
        handler: Any = importlib.import_module("rclpy.event_handler")
        is_image = topic in self._settings.inputs.images
        lost = lambda event: self._core.lose(topic, event.total_count_change)
        return handler.SubscriptionEventCallbacks(message_lost=lost if is_image else None)

    def _unsubscribe(self, subscription: Any) -> None:
        self.node.destroy_subscription(subscription)

    def _resolved(self, topic: str) -> str:
        return str(self.node.resolve_topic_name(topic))

    def _listeners(self, publisher: Any) -> int:
        return int(publisher.get_subscription_count())

    def _now(self) -> int:
        return int(self.node.get_clock().now().nanoseconds)

    def _warn(self, text: str) -> None:
        self.node.get_logger().warning(text)


def main() -> None:
    if sys.argv[1:] == ["--profile"]:
        print(PROFILE)
        return
    try:
        rclpy: Any = importlib.import_module("rclpy")
    except ModuleNotFoundError as missing:
        raise without(missing, "ROS 2") from missing
    rclpy.init()
    node = rclpy.create_node("stereopsis")
    try:
        stereo = StereoNode2(node)
    except ModuleNotFoundError as missing:  # a package with message types
        raise without(missing, "ROS 2") from missing
    except Error as error:
        node.get_logger().fatal(str(error))
        raise SystemExit(2) from error
    try:
        rclpy.spin(node)
    except (KeyboardInterrupt, importlib.import_module("rclpy.executors").ExternalShutdownException):
        pass
    finally:
        stereo.close()
        node.destroy_node()
        rclpy.try_shutdown()


if __name__ == "__main__":
    main()
