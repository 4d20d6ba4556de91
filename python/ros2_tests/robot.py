"""Nodes of ROS 2 in processes of their own, and cameras and listeners in this one."""

import os
import signal
import sys
import threading

import rclpy
from processes import PATIENCE, Inbox, Processes, wait_until
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile, qos_profile_sensor_data
from stereopsis import ros

FAMILY = ros.Ros2()
# The program of the node under test: the node in Python, or that of the variable.
NODE = [os.environ["STEREOPSIS_ROS_NODE"]] if "STEREOPSIS_ROS_NODE" in os.environ else [sys.executable, "-m", "stereopsis.ros.node2"]


class Listener(Inbox):
    def __init__(self, node, topic, kind):
        super().__init__()
        self._node, self._subscription = node, node.create_subscription(FAMILY.kind(kind), topic, self.hear, QoSProfile(depth=50))

    def at(self, stamp):
        return self.wait(lambda message: ros.stamps.stamp_of(message) == stamp)

    def close(self):
        self._node.destroy_subscription(self._subscription)


class Graph(Processes):
    """This process as a node, and the processes that it started."""

    def __init__(self, folder):
        super().__init__(folder)
        rclpy.init()
        self.node = rclpy.create_node("tester")
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self.node)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._spin, daemon=True)
        self._thread.start()

    def _spin(self):
        while not self._ended.is_set():
            self._executor.spin_once(timeout_sec=0.1)

    def close(self):
        self.end_all()
        self._ended.set()
        self._thread.join()
        rclpy.shutdown()

    def listen(self, topic, kind):
        return Listener(self.node, topic, kind)

    def call(self, service, kind, **fields):
        client = self.node.create_client(kind, service)
        assert client.wait_for_service(PATIENCE), service
        done = threading.Event()
        future = client.call_async(kind.Request(**fields))
        future.add_done_callback(lambda _: done.set())
        assert done.wait(PATIENCE), service
        self.node.destroy_client(client)
        return future.result()


class Ours:
    """Our node in /NAME with rectified cameras, which publish to `topics`."""

    def __init__(self, graph, name, *words, image="image_rect", compressed=False, **parameters):
        self.graph, self.name = graph, name
        given = {"device": "cpu", "method": "banz-sgm", **parameters}
        settings = [word for key, value in given.items() for word in ("-p", f"{key}:={value}")]
        self.process = graph.start(*NODE, "--ros-args", "-r", f"__ns:=/{name}", *settings, *words, name=name)
        self._messages = ros.Messages(FAMILY)
        kind = "sensor_msgs/CompressedImage" if compressed else "sensor_msgs/Image"
        ending = "/compressed" if compressed else ""
        self.publishers = {
            side: (
                graph.node.create_publisher(FAMILY.kind("sensor_msgs/CameraInfo"), f"/{name}/{side}/camera_info", 10),
                graph.node.create_publisher(FAMILY.kind(kind), f"/{name}/{side}/{image}{ending}", 10),
            )
            for side in ("left", "right")
        }
        self._listeners = []
        wait_until(lambda: self.is_up() or self.process.poll() is not None, f"the node /{name}")
        assert self.process.poll() is None, graph.said(name)

    def is_up(self):
        return any(name == "stereopsis" and space == f"/{self.name}" for name, space in self.graph.node.get_node_names_and_namespaces())

    def listen(self, topic, kind="sensor_msgs/Image"):
        """Hears a topic of the node, which then subscribes to the cameras."""
        self._listeners.append(self.graph.listen(topic if topic.startswith("/") else f"/{self.name}/{topic}", kind))
        if not topic.startswith("/"):
            wait_until(self.is_subscribed, "the node subscribes to the cameras")
        return self._listeners[-1]

    def is_subscribed(self):
        return all(publisher.get_subscription_count() > 0 for both in self.publishers.values() for publisher in both)

    def send(self, stamp, left, right, rig, delay=0, **fields):
        """Sends a pair; None leaves out an image. `rig` is a rig, or the fields of both cameras."""
        for side, image, at in (("left", left, stamp), ("right", right, stamp + delay)):
            if image is None:
                continue
            info, images = self.publishers[side]
            info.publish(self.info(at, side, rig))
            images.publish(image if hasattr(image, "header") else self._messages.image(self._header(at, side), image, **fields))

    def info(self, stamp, side, rig):
        return self._messages.camera_info(self._header(stamp, side), rig[side] if isinstance(rig, dict) else ros.info_fields(rig, side))

    def _header(self, stamp, side):
        return self._messages.header(stamp, f"{side}_optical")

    def set(self, **values):
        """Sets parameters, whose "__" stands for ".". Returns the reason if the node refuses them."""
        from rcl_interfaces.srv import SetParametersAtomically

        parameters = [Parameter(name.replace("__", "."), value=value).to_parameter_msg() for name, value in values.items()]
        result = self.graph.call(f"/{self.name}/stereopsis/set_parameters_atomically", SetParametersAtomically, parameters=parameters).result
        return "" if result.successful else result.reason

    def described(self, *names):
        from rcl_interfaces.srv import DescribeParameters

        return self.graph.call(f"/{self.name}/stereopsis/describe_parameters", DescribeParameters, names=list(names)).descriptors

    def end(self, how=signal.SIGINT):
        for listener in self._listeners:
            listener.close()
        for both in self.publishers.values():
            for publisher in both:
                self.graph.node.destroy_publisher(publisher)
        return self.graph.end(self.process, how)


def status_of(message):
    """Returns the level, the message and the values of our diagnostics."""
    (status,) = message.status
    return status.level[0], status.message, {pair.key: pair.value for pair in status.values}


SENSOR_DATA = qos_profile_sensor_data
