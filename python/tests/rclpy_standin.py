"""A stand-in for rclpy and its messages, NOT ROS 2, for machines without it (no package registry has it).

It has what the node uses of rclpy's interface, in one process, and is as strict where the real one is: messages take their own
fields alone, each of its type (a float is no int, bytes are an array.array of "B"), parameters keep to their
descriptors. Tests on it show that the node makes the intended calls, not that the node runs in ROS 2.
"""

import array
import sys
import time
import types

from rosbags.typesys import Stores, get_typestore

STORE = get_typestore(Stores.ROS2_HUMBLE)
BASE, NAME, ARRAY, SEQUENCE = 1, 2, 3, 4


def fits(value, kind):
    form, about = kind
    if form == BASE:
        name = about[0]
        if name.startswith(("float", "double")):
            return type(value) is float
        if name == "bool":
            return type(value) is bool
        if name == "string":
            return type(value) is str
        if name in ("byte", "octet"):
            return type(value) is bytes and len(value) == 1
        bits = int(name.removeprefix("u").removeprefix("int"))
        low, high = (0, 2**bits) if name.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1))
        return type(value) is int and low <= value < high
    if form == NAME:
        return type(value) is message_class(about)
    inner, length = about
    if inner[0] == BASE and inner[1][0] == "uint8":
        return type(value) is array.array and value.typecode == "B"
    return isinstance(value, (list, tuple)) and (form == SEQUENCE or len(value) == length) and all(fits(v, inner) for v in value)


def empty(kind):
    form, about = kind
    if form == BASE:
        name = about[0]
        return {"string": "", "bool": False, "octet": b"\0", "byte": b"\0"}.get(name, 0.0 if name.startswith(("float", "double")) else 0)
    if form == NAME:
        return message_class(about)()
    inner, length = about
    if inner[0] == BASE and inner[1][0] == "uint8":
        return array.array("B", bytes(length if form == ARRAY else 0))
    return [empty(inner)] * (length if form == ARRAY else 0)


CLASSES = {}


def message_class(name):
    """Returns the class of a message by its name, such as "std_msgs/msg/Header"."""
    if name not in CLASSES:
        constants, fields = STORE.fielddefs[name]
        fields = dict(fields)

        def make(self, **given):
            unknown = set(given) - set(fields)
            assert not unknown, f"{name} has no field {unknown}"
            for field, kind in fields.items():
                setattr(self, field, given[field] if field in given else empty(kind))

        def change(self, field, value):
            assert field in fields, f"{name} has no field {field}"
            assert fits(value, fields[field]), f"{name}.{field} can't be {type(value).__name__} {value!r:.60}"
            object.__setattr__(self, field, value)

        about = {c[0]: bytes([c[2]]) if c[1] in ("byte", "octet") else c[2] for c in constants}
        CLASSES[name] = type(name.rpartition("/")[2], (), {"__init__": make, "__setattr__": change, **about})
    return CLASSES[name]


class Parameter:
    def __init__(self, name, value):
        self.name, self.value = name, value


class Plain:
    """A message of rcl_interfaces, of which fields are given by name."""

    def __init__(self, **fields):
        self.__dict__.update(fields)


class Publisher:
    def __init__(self, graph, kind, topic, qos):
        self._graph, self.kind, self.topic, self.qos = graph, kind, topic, qos

    def get_subscription_count(self):
        return len(self._graph.subscriptions.get(self.topic, []))

    def publish(self, message):
        assert type(message) is self.kind, f"{self.topic} is of {self.kind}, not {type(message)}"
        for subscription in list(self._graph.subscriptions.get(self.topic, [])):
            subscription.callback(message)


class Subscription:
    def __init__(self, kind, topic, callback, qos):
        self.kind, self.topic, self.callback, self.qos = kind, topic, callback, qos


class Graph:
    def __init__(self):
        self.subscriptions, self.publishers = {}, {}

    def subscribe(self, kind, topic, callback, qos=None):
        made = Subscription(kind, topic, callback, qos)
        self.subscriptions.setdefault(topic, []).append(made)
        return made

    def unsubscribe(self, subscription):
        self.subscriptions[subscription.topic].remove(subscription)


class Node:
    """`given` are parameters of the command line."""

    def __init__(self, graph, **given):
        self.graph, self._given = graph, given
        self.descriptors, self._values, self._callbacks, self.timers, self.warnings = {}, {}, [], [], []

    def declare_parameter(self, name, value, descriptor):
        assert name not in self._values and descriptor.name == name and descriptor.description
        chosen = self._given.get(name, value)
        assert type(chosen) is type(value) and self._allowed(descriptor, chosen) is None
        self.descriptors[name], self._values[name] = descriptor, chosen
        return Parameter(name, chosen)

    @staticmethod
    def _allowed(descriptor, value):
        for limits in (*getattr(descriptor, "integer_range", []), *getattr(descriptor, "floating_point_range", [])):
            assert type(limits.from_value) is type(limits.to_value) is type(limits.step) is type(value)
            if not limits.from_value <= value <= limits.to_value:
                return f"{descriptor.name} is out of range"
        return None

    def get_parameter(self, name):
        return Parameter(name, self._values[name])

    def set_parameters(self, **values):
        """Sets parameters like ros2 param set; returns the reason of a rejection, or ""."""
        for name, value in values.items():
            name = name.replace("__", ".")
            if self.descriptors[name].read_only:
                return f"{name} is read-only"
            if type(value) is not type(self._values[name]):
                return f"{name} has another type"
            reason = self._allowed(self.descriptors[name], value)
            if reason:
                return reason
        changed = [Parameter(name.replace("__", "."), value) for name, value in values.items()]
        for callback in self._callbacks:
            result = callback(changed)
            if not result.successful:
                return result.reason
        self._values.update({p.name: p.value for p in changed})
        return ""

    def add_on_set_parameters_callback(self, callback):
        self._callbacks.append(callback)

    def create_timer(self, seconds, callback):
        assert type(seconds) is float
        self.timers.append(callback)

    def create_publisher(self, kind, topic, qos, *, qos_overriding_options):
        made = self.graph.publishers[topic] = Publisher(self.graph, kind, topic, qos)
        return made

    def create_subscription(self, kind, topic, callback, qos, *, qos_overriding_options):
        return self.graph.subscribe(kind, topic, callback, qos)

    def destroy_subscription(self, subscription):
        self.graph.unsubscribe(subscription)

    def get_logger(self):
        return types.SimpleNamespace(warning=self.warnings.append, fatal=self.warnings.append)

    def get_clock(self):
        return types.SimpleNamespace(now=lambda: types.SimpleNamespace(nanoseconds=time.time_ns()))


def modules():
    """Returns the modules that the node imports, by name."""
    made = {"rclpy": types.ModuleType("rclpy")}
    made["rclpy.qos"] = types.SimpleNamespace(
        QoSProfile=lambda depth: ("reliable", depth), qos_profile_sensor_data="sensor data", qos_profile_system_default="system"
    )
    made["rclpy.qos_overriding_options"] = types.SimpleNamespace(
        QoSOverridingOptions=types.SimpleNamespace(with_default_policies=object)
    )
    interfaces = ("ParameterDescriptor", "IntegerRange", "FloatingPointRange", "SetParametersResult")
    made["rcl_interfaces.msg"] = types.SimpleNamespace(**dict.fromkeys(interfaces, Plain))
    for package in ("std_msgs", "sensor_msgs", "stereo_msgs", "diagnostic_msgs", "builtin_interfaces"):
        kinds = [name for name in STORE.fielddefs if name.startswith(f"{package}/msg/")]
        made[f"{package}.msg"] = types.SimpleNamespace(**{k.rpartition("/")[2]: message_class(k) for k in kinds})
    return made


def install(monkeypatch):
    for name, module in modules().items():
        monkeypatch.setitem(sys.modules, name, module)
        if "." in name:
            monkeypatch.setitem(sys.modules, name.partition(".")[0], types.ModuleType(name.partition(".")[0]))
