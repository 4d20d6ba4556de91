"""The node for ROS 2 (rclpy): python3 -m stereopsis.ros.node2 --ros-args -r __ns:=/stereo

Topics and the parameters approximate_sync, approximate_sync_tolerance_seconds, queue_size, use_color, use_system_default_qos,
min_disparity and disparity_range are those of stereo_image_proc. The node adds depth/image_rect, depth/camera_info,
confidence, /diagnostics; every parameter of the method, with its range, live; and, when it starts,

method, pipeline       a method's name [sgm], or a file of pipeline JSON
device, threads        auto, cpu, cuda[:N], opencl[:N] [auto]; of the CPU, 0: all
align_rows             auto: the rows of each right image are aligned if they differ, and /diagnostics says by how much; off; numbers [auto]
register_to            a camera's file, or raw: depth_registered/image_raw and its camera_info have the depth as it sees it
register_frame         the frame_id of that camera
rectify                true: left/image_raw and right/image_raw are rectified here; false: left/image_rect, right/image_rect [false]

Inputs use the quality of service of sensor data. Results are published reliably with a queue of depth 1. `qos_overrides` changes
the quality of service of each topic.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Any

from .._errors import Error
from .._pipeline import Pipeline
from .._rows import checked_rows
from .core import NodeCore, NodeSettings, without
from .families import Ros2
from .parameters import Parameter, applied, at_start, parameters_of
from .processor import Matching
from .registration import Registration
from .results import Shape

LISTENERS_SECONDS = 0.5
READ_ONLY = (
    *at_start(rectify=False),
    Parameter("use_system_default_qos", False, "for inputs, in place of sensor data's quality of service"),
)


class StereoNode:
    """Subscribes and publishes only while there is at least one subscriber. `node` is an rclpy.node.Node."""

    def __init__(self, node: Any) -> None:
        self.node = node
        self._family = Ros2()
        for parameter in READ_ONLY:
            self._declare(parameter, read_only=True)
        settings = self._settings()
        self._settings_now = settings
        self._parameters = parameters_of(settings.matching.pipeline, ".")
        values = {p.name: self._declare(p) for p in self._parameters}
        self._matching, self._shape = applied(values, self._parameters, settings.matching, settings.shape)
        self._subscriptions: list[Any] = []
        self._publishers: dict[str, Any] = {}
        self._core = NodeCore(
            settings, self._family, self._send, self._listened, self._now, lambda text: node.get_logger().warning(text)
        )
        self._core.change(self._matching, self._shape)
        outputs = {**settings.outputs(), "/diagnostics": "diagnostic_msgs/DiagnosticArray"}
        self._publishers = {topic: self._publisher(topic, kind) for topic, kind in outputs.items()}
        node.add_on_set_parameters_callback(self._change)
        node.create_timer(LISTENERS_SECONDS, self.follow_listeners)

    def close(self) -> None:
        self._core.close()

    def follow_listeners(self) -> None:
        wanted = bool(self._listened(set(self._publishers) - {"/diagnostics"}))
        if wanted and not self._subscriptions:
            inputs = self._settings_now.inputs
            kinds = dict.fromkeys(inputs.images, "sensor_msgs/Image")
            kinds |= {topic: "sensor_msgs/CameraInfo" for topic in inputs.infos if topic}
            self._subscriptions = [self._subscription(topic, kind) for topic, kind in kinds.items()]
        elif not wanted and self._subscriptions:
            for subscription in self._subscriptions:
                self.node.destroy_subscription(subscription)
            self._subscriptions = []
            self._core.pause()

    def _declare(self, parameter: Parameter, read_only: bool = False) -> Any:
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
        return self.node.declare_parameter(parameter.name, parameter.default, described).value

    def _value(self, name: str) -> Any:
        return self.node.get_parameter(name).value

    def _settings(self) -> NodeSettings:
        file = self._value("pipeline")
        matching = Matching(
            Pipeline.read(file) if file else Pipeline(self._value("method")),
            device=self._value("device"),
            threads=self._value("threads"),
            align_rows=checked_rows(self._value("align_rows"), "align_rows"),
            disparities=(0, 64),
            in_flight=1,
        )
        tolerance = self._value("approximate_sync_tolerance_seconds") if self._value("approximate_sync") else 0.0
        registration = Registration.of(self._value("register_to"), self._value("register_frame"), self._value("rectify"))
        return NodeSettings(
            matching,
            Shape(registration=registration),
            raw=self._value("rectify"),
            tolerance=round(tolerance * 1e9),
            queue=self._value("queue_size"),
        )

    def _change(self, changed: list[Any]) -> Any:
        """Sets all values, or sets none of them and returns the reason if one value is not allowed."""
        result: Any = importlib.import_module("rcl_interfaces.msg").SetParametersResult
        values = {parameter.name: parameter.value for parameter in changed}
        try:
            self._matching, self._shape = applied(values, self._parameters, self._matching, self._shape)
        except Error as error:
            return result(successful=False, reason=str(error))
        self._core.change(self._matching, self._shape)
        return result(successful=True)

    def _publisher(self, topic: str, kind: str) -> Any:
        qos: Any = importlib.import_module("rclpy.qos")
        overrides: Any = importlib.import_module("rclpy.qos_overriding_options").QoSOverridingOptions
        return self.node.create_publisher(
            self._family.kind(kind),
            topic,
            qos.QoSProfile(depth=1),  # reliable publishers also serve subscribers that request the quality of sensor data
            qos_overriding_options=overrides.with_default_policies(),
        )

    def _subscription(self, topic: str, kind: str) -> Any:
        qos: Any = importlib.import_module("rclpy.qos")
        overrides: Any = importlib.import_module("rclpy.qos_overriding_options").QoSOverridingOptions
        system = self._value("use_system_default_qos")
        return self.node.create_subscription(
            self._family.kind(kind),
            topic,
            lambda message: self._core.receive(topic, message),
            qos.qos_profile_system_default if system else qos.qos_profile_sensor_data,
            qos_overriding_options=overrides.with_default_policies(),
        )

    def _send(self, topic: str, message: Any) -> None:
        if topic in self._publishers:
            self._publishers[topic].publish(message)

    def _listened(self, topics: Iterable[str]) -> set[str]:
        return {t for t in topics if t in self._publishers and self._publishers[t].get_subscription_count() > 0}

    def _now(self) -> int:
        return int(self.node.get_clock().now().nanoseconds)


def main() -> None:
    try:
        rclpy: Any = importlib.import_module("rclpy")
    except ModuleNotFoundError as missing:
        raise without(missing, "ROS 2") from missing
    rclpy.init()
    node = rclpy.create_node("stereopsis")
    try:
        stereo = StereoNode(node)
    except ModuleNotFoundError as missing:  # a package with message types
        raise without(missing, "ROS 2") from missing
    except Error as error:
        node.get_logger().fatal(str(error))
        raise SystemExit(2) from error
    try:
        rclpy.spin(node)
    except KeyboardInterrupt:
        pass
    finally:
        stereo.close()
        node.destroy_node()
        rclpy.try_shutdown()


if __name__ == "__main__":
    main()
