"""Cameras that publish, and listeners."""

import contextlib
import sys
import threading
import time

import rosgraph
import rospy
from processes import PATIENCE, Inbox, wait_until
from sensor_msgs.msg import CameraInfo, Image
from stereopsis import ros

NODES = {"ours": "/ours/stereopsis", "theirs": "/theirs/stereo_image_proc"}
INPUTS = [f"{side}/{name}" for side in ("left", "right") for name in ("image_raw", "camera_info")]


class Listener(Inbox):
    def __init__(self, topic):
        super().__init__()
        kind = ros.Ros1().kind(dict(rosgraph.Master("/tester").getTopicTypes())[topic])
        self._subscriber = rospy.Subscriber(topic, kind, self.hear, buff_size=1 << 24)

    def close(self):
        self._subscriber.unregister()


class Robot:
    """Two cameras in /stereo, and a node of each kind that has them as inputs."""

    def __init__(self, processes):
        self._processes, self._messages = processes, ros.Messages(ros.Ros1())
        self._publishers = {
            topic: rospy.Publisher(f"/stereo/{topic}", Image if "image" in topic else CameraInfo, queue_size=5) for topic in INPUTS
        }
        self.start_ours("ours")
        remaps = [f"{topic}:=/stereo/{topic}" for topic in INPUTS]
        self._processes.start(
            "/usr/lib/stereo_image_proc/stereo_image_proc", "__ns:=/theirs", *remaps, name="theirs", PATH="/usr/bin:/bin"
        )
        rospy.wait_for_service("/theirs/stereo_image_proc/set_parameters", PATIENCE)

    def start_ours(self, name, *words):
        """Our node in /NAME, on the cameras of /stereo."""
        remaps = [f"{topic}:=/stereo/{topic}" for topic in INPUTS]
        call = [sys.executable, "-m", "stereopsis.ros.node1", f"__ns:=/{name}", *remaps, "_device:=cpu", *words]
        process = self._processes.start(*call, name=name)
        service = f"/{name}/stereopsis/set_parameters"
        wait_until(lambda: is_service(service) or process.poll() is not None, service)
        assert process.poll() is None, self._processes.said(name)
        return process

    def publish(self, left, right, rig):
        stamp = rospy.Time.now().to_nsec()
        for side, image in (("left", left), ("right", right)):
            self._publishers[f"{side}/camera_info"].publish(self.info(stamp, rig, side))
            self._publishers[f"{side}/image_raw"].publish(self._messages.image(self._header(stamp), image))

    def info(self, stamp, rig, side):
        """Returns the camera_info of a rectified rig, or of cameras given as {side: fields}."""
        fields = rig[side] if isinstance(rig, dict) else ros.info_fields(rig, side)
        return self._messages.camera_info(self._header(stamp), fields)

    def _header(self, stamp):
        return self._messages.header(stamp, "left_optical")

    @contextlib.contextmanager
    def sending(self, left, right, rig, rate=5.0):
        """The pair again and again, with new stamps."""
        ended = threading.Event()

        def send():
            while not ended.wait(1 / rate):
                self.publish(left, right, rig)

        thread = threading.Thread(target=send)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def stop(self):
        for publisher in self._publishers.values():
            publisher.unregister()


def is_service(name):
    try:
        return bool(rosgraph.Master("/tester").lookupService(name))
    except rosgraph.MasterException:
        return False


def subscribed(node):
    """The topics that it has subscribed to."""
    _, subscribers, _ = rosgraph.Master("/tester").getSystemState()
    return {topic for topic, nodes in subscribers if node in nodes}


def measured_rate(listener, count=20):
    """Messages a second, of so many."""
    listener.next()
    begin, before = time.monotonic(), len(listener.came)
    wait_until(lambda: len(listener.came) >= before + count, f"{count} messages")
    return (len(listener.came) - before) / (time.monotonic() - begin)
