"""Nodes of ROS 2 in processes of their own, and cameras and listeners in this one."""

import os
import signal
import subprocess
import sys
import threading
import time

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile, qos_profile_sensor_data
from stereopsis import ros

PATIENCE = 120  # seconds: the machine may be busy with a build
FAMILY = ros.Ros2()


def wait_until(is_so, what, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while not (found := is_so()):
        assert time.monotonic() < end, f"{what}: not within {seconds} s"
        time.sleep(0.05)
    return found


class Listener:
    def __init__(self, node, topic, kind):
        self.came, self._news = [], threading.Condition()
        self._node, self._subscription = node, node.create_subscription(FAMILY.kind(kind), topic, self._hear, QoSProfile(depth=50))

    def _hear(self, message):
        with self._news:
            self.came.append(message)
            self._news.notify_all()

    def wait(self, is_right=lambda message: True):
        """Returns the first message, of all that have come, that is as it should be."""
        with self._news:
            found = lambda: next((m for m in self.came if is_right(m)), None)  # noqa: E731
            assert self._news.wait_for(lambda: found() is not None, PATIENCE), f"{len(self.came)} messages, none of them right"
            return found()

    def at(self, stamp):
        return self.wait(lambda message: ros.stamps.stamp_of(message) == stamp)

    def close(self):
        self._node.destroy_subscription(self._subscription)


class Graph:
    """This process as a node, and the processes that it started."""

    def __init__(self, folder):
        self._folder, self._running = folder, []
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
        for process in self._running[:]:
            self.end(process)
        self._ended.set()
        self._thread.join()
        rclpy.shutdown()

    def start(self, name, *words, **environment):
        with open(self._folder / f"{name}.txt", "wb") as log:
            process = subprocess.Popen([sys.executable, *map(str, words)], stdout=log, stderr=subprocess.STDOUT, env={**os.environ, **environment})
        self._running.append(process)
        return process

    def said(self, name):
        return (self._folder / f"{name}.txt").read_text(errors="replace")

    def end(self, process, how=signal.SIGINT):
        if process.poll() is None:
            process.send_signal(how)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self._running.remove(process)
        return process.returncode

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
        call = ["-m", "stereopsis.ros.node2", "--ros-args", "-r", f"__ns:=/{name}", *settings, *words]
        self.process = graph.start(name, *call)
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
            header = self._messages.header(at, f"{side}_optical")
            info.publish(self._messages.camera_info(header, rig[side] if isinstance(rig, dict) else ros.info_fields(rig, side)))
            images.publish(image if hasattr(image, "header") else self._messages.image(header, image, **fields))

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
