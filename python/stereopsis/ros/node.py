"""The base of the nodes for ROS 1 and ROS 2: parameters, topics, and subscriptions that follow the subscribers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any

from .._errors import CallError, Error
from .._pipeline import Pipeline
from .._rows import checked_rows
from .._tracking import rig_file
from .core import NodeCore, NodeSettings
from .families import Family
from .files import mask_of
from .parameters import Parameter, Value, applied, parameters_of
from .processor import Matching
from .registration import Registration
from .results import Shape

LISTENERS_SECONDS = 0.5


def settings_of(start: Mapping[str, Any]) -> NodeSettings:
    """Returns the settings that follow from the parameters that are read at the start."""
    pipeline = Pipeline.read(start["pipeline"]) if start["pipeline"] else Pipeline(start["method"])
    if start["seed_previous"] and start["seeds"] != "none":
        raise CallError("seed_previous and seeds both give the seeds of a pair; leave one of them out")
    tolerance = start["approximate_sync_tolerance_seconds"] if start["approximate_sync"] else 0.0
    return NodeSettings(
        Matching(
            pipeline,
            device=start["device"],
            threads=start["threads"],
            disparities=(0, 64),
            align_rows=checked_rows(start["align_rows"], "align_rows"),
            seed_previous=start["seed_previous"],
            track_rig=rig_file(start["track_rig"], "track_rig"),
            in_flight=1,
        ),
        Shape(registration=Registration.of(start["register_to"], start["register_frame"], start["rectify"])),
        raw=start["rectify"],
        tolerance=round(tolerance * 1e9),
        queue=start["queue_size"],
        masks=(mask_of(start["left_mask"]), mask_of(start["right_mask"])),
        seeds=start["seeds"],
    )


class StereoNode(ABC):
    """Subscribes and publishes only while there is at least one subscriber. A subclass connects the node to one ROS.

    start      the parameters that are read at the start, and their values
    separator  stands between a slot and its parameter
    """

    def __init__(self, family: Family, start: Mapping[str, Any], separator: str) -> None:
        self._family = family
        self._is_compressed = start["image_transport"] == "compressed"
        self._settings = settings = settings_of(start)
        self._parameters = parameters_of(settings.matching.pipeline, separator)
        self._values = {parameter.name: self._declared(parameter) for parameter in self._parameters}
        self._matching, self._shape = applied(self._values, self._parameters, settings.matching, settings.shape)
        outputs = {**settings.outputs(), "/diagnostics": "diagnostic_msgs/DiagnosticArray"}
        self._publishers = {topic: self._publisher(topic, family.kind(kind)) for topic, kind in outputs.items()}
        self._subscriptions: list[Any] = []
        self._core = NodeCore(settings, family, self._send, self._listened, self._now, self._warn)
        self._core.change(self._matching, self._shape)

    @abstractmethod
    def _declared(self, parameter: Parameter) -> Value:
        """Returns the value of a parameter that the caller gave, or the default."""

    @abstractmethod
    def _publisher(self, topic: str, kind: Any) -> Any: ...

    @abstractmethod
    def _subscription(self, topic: str, name: str, kind: Any) -> Any:
        """Subscribes to the topic `name`, which the core knows as `topic`."""

    @abstractmethod
    def _unsubscribe(self, subscription: Any) -> None: ...

    @abstractmethod
    def _resolved(self, topic: str) -> str:
        """Returns the name of a topic after remapping."""

    @abstractmethod
    def _listeners(self, publisher: Any) -> int: ...

    @abstractmethod
    def _now(self) -> int: ...

    @abstractmethod
    def _warn(self, text: str) -> None: ...

    def close(self) -> None:
        self._core.close()

    def follow_listeners(self) -> None:
        wanted = bool(self._listened(set(self._publishers) - {"/diagnostics"}))
        if wanted and not self._subscriptions:
            self._core.begin()
            inputs = self._settings.inputs
            self._subscriptions = [self._image_subscription(topic) for topic in dict.fromkeys(inputs.images)]
            info = self._family.kind("sensor_msgs/CameraInfo")
            self._subscriptions += [self._subscription(topic, topic, info) for topic in inputs.infos if topic]
            if inputs.of_seeds is not None:
                self._subscriptions.append(self._subscription(inputs.of_seeds, inputs.of_seeds, self._family.kind("sensor_msgs/Image")))
        elif not wanted and self._subscriptions:
            for subscription in self._subscriptions:
                self._unsubscribe(subscription)
            self._subscriptions = []
            self._core.pause()

    def _image_subscription(self, topic: str) -> Any:
        if not self._is_compressed:
            return self._subscription(topic, topic, self._family.kind("sensor_msgs/Image"))
        # image_transport appends the name to the remapped topic.
        return self._subscription(topic, f"{self._resolved(topic)}/compressed", self._family.kind("sensor_msgs/CompressedImage"))

    def _change(self, values: Mapping[str, Any]) -> str:
        """Sets all values, or sets none of them and returns the reason if one value is not allowed."""
        try:
            self._matching, self._shape = applied(values, self._parameters, self._matching, self._shape)
        except Error as error:
            return str(error)
        self._core.change(self._matching, self._shape)
        self._values = {**self._values, **values}
        return ""

    def _send(self, topic: str, message: Any) -> None:
        self._publishers[topic].publish(message)

    def _listened(self, topics: Iterable[str]) -> set[str]:
        return {topic for topic in topics if self._listeners(self._publishers[topic]) > 0}
