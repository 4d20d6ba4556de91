"""The ROS 2 node on a STAND-IN for rclpy (rclpy_standin.py): ROS 2 itself has not run here."""

import subprocess
import sys
import threading

import numpy as np
import pytest
import stereopsis as st
from stereopsis import ros
from stereopsis._rows import text_of
from stereopsis.ros import Messages, Ros2

pytest.importorskip("rosbags", reason="rosbags has the messages' types")
import rclpy_standin  # noqa: E402
from bag_files import SMALL_RIG, generated  # noqa: E402

SECOND = 10**9


class Robot:
    """A node, its graph, and who sends and listens beside it."""

    def __init__(self, monkeypatch, **parameters):
        rclpy_standin.install(monkeypatch)
        from stereopsis.ros.node2 import StereoNode

        self.graph = rclpy_standin.Graph()
        self.node = rclpy_standin.Node(self.graph, **{"device": "cpu", "method": "banz-sgm", **parameters})
        self.stereo = StereoNode(self.node)
        self.messages = Messages(Ros2())
        self.came = {}
        self._news = threading.Condition()

    def listen(self, topic):
        def receive(message):
            with self._news:
                self.came.setdefault(topic, []).append(message)
                self._news.notify_all()

        made = self.graph.subscribe(None, topic, receive)
        self.tick()
        return made

    def tick(self):
        for timer in self.node.timers:
            timer()

    def send(self, topic, message):
        for subscription in self.graph.subscriptions.get(topic, []):
            assert type(message) is subscription.kind
            subscription.callback(message)

    def send_pair(self, stamp, left, right, name="image_rect", delay=0):
        for side, image, at in (("left", left, stamp), ("right", right, stamp + delay)):
            header = self.messages.header(at, f"{side}_optical")
            size = image.shape[1], image.shape[0]
            self.send(f"{side}/camera_info", self.messages.camera_info(header, ros.info_fields(SMALL_RIG, side, size)))
            self.send(f"{side}/{name}", self.messages.image(header, image))

    def wait(self, topic, count=1):
        with self._news:
            assert self._news.wait_for(lambda: len(self.came.get(topic, [])) >= count, 60), (topic, self.node.warnings)
            return self.came[topic][count - 1]


@pytest.fixture
def robot(monkeypatch):
    made = []

    def make(**parameters):
        made.append(Robot(monkeypatch, **parameters))
        return made[-1]

    yield make
    for one in made:
        one.stereo.close()


def test_a_pair_in_and_every_result_out(robot):
    it = robot(disparity_range=16)
    topics = ["disparity", "depth/image_rect", "depth/camera_info", "points2", "confidence"]
    for topic in topics:
        it.listen(topic)
    (left, right), *_ = generated(1)
    it.send_pair(5 * SECOND, left, right)
    done = {topic: it.wait(topic) for topic in topics}
    wanted = st.match(left, right, 16, "banz-sgm", device="cpu", rig=SMALL_RIG, want=["depth", "confidence"])
    pixels = ros.array_of(done["disparity"].image)
    valid = ~np.isnan(wanted.disparity)
    np.testing.assert_array_equal(pixels[valid], wanted.disparity[valid] - 2)
    assert (pixels[~valid] == done["disparity"].min_disparity - 1).all()
    np.testing.assert_array_equal(ros.array_of(done["depth/image_rect"]), wanted.depth)
    np.testing.assert_array_equal(ros.array_of(done["confidence"]), wanted.confidence)
    assert (done["points2"].width, done["points2"].height, done["points2"].point_step) == (96, 64, 16)
    assert all(m.header.frame_id == "left_optical" and m.header.stamp.sec == 5 for m in done.values())
    assert it.node.warnings == []


def test_nothing_is_subscribed_to_while_nobody_listens(robot):
    it = robot()
    inputs = ["left/image_rect", "right/image_rect", "left/camera_info", "right/camera_info"]
    assert not any(it.graph.subscriptions.get(topic) for topic in inputs)
    listener = it.listen("disparity")
    assert all(it.graph.subscriptions[topic][0].qos == "sensor data" for topic in inputs)
    it.graph.unsubscribe(listener)
    it.tick()
    assert not any(it.graph.subscriptions[topic] for topic in inputs)
    assert it.graph.publishers["disparity"].qos == ("reliable", 1)


def test_raw_images_are_taken_and_given_back_rectified(robot):
    it = robot(rectify=True, disparity_range=16, use_system_default_qos=True)
    it.listen("left/image_rect")
    it.listen("right/image_mono")
    assert it.graph.subscriptions["left/image_raw"][0].qos == "system"
    (left, right), *_ = generated(1)
    it.send_pair(SECOND, left, right, "image_raw")
    assert it.wait("left/image_rect").encoding == "mono8"
    assert ros.array_of(it.wait("right/image_mono")).shape == right.shape[:2]


def test_parameters_are_live_described_and_refused_with_the_reason(robot):
    it = robot(disparity_range=16)
    described = it.node.descriptors
    assert described["optimisation.p1"].integer_range[0].to_value == 4095
    assert "pixels" in described["disparity_range"].description and described["method"].read_only
    it.listen("disparity")
    (left, right), *_ = generated(1)
    it.send_pair(SECOND, left, right)
    before = it.wait("disparity")
    assert it.node.set_parameters(optimisation__p1=3, min_disparity=1, invalid_is_nan=True) == ""
    it.send_pair(2 * SECOND, left, right)
    after = it.wait("disparity", 2)
    assert (before.min_disparity, after.min_disparity) == (-2, -1)
    wanted = st.match(left, right, (1, 17), "banz-sgm", device="cpu", set={"optimisation.p1": 3}).disparity
    np.testing.assert_array_equal(ros.array_of(after.image), wanted - np.float32(2))
    assert "above sgm.p2" in it.node.set_parameters(optimisation__p1=4000)
    it.send_pair(3 * SECOND, left, right)
    np.testing.assert_array_equal(ros.array_of(it.wait("disparity", 3).image), ros.array_of(after.image))
    assert "read-only" in it.node.set_parameters(method="sgm")


def test_approximate_stamps_and_lost_messages_are_in_the_diagnostics(robot):
    it = robot(disparity_range=16, approximate_sync=True, approximate_sync_tolerance_seconds=0.005)
    it.listen("disparity")
    it.listen("/diagnostics")
    (left, right), *_ = generated(1)
    it.send_pair(SECOND, left, right, delay=3_000_000)
    it.wait("disparity")
    it.send_pair(2 * SECOND, left, right, delay=9_000_000)
    it.send_pair(3 * SECOND, left, right, delay=1_000_000)
    it.wait("disparity", 2)
    seen = len(it.came.get("/diagnostics", []))
    status = it.wait("/diagnostics", seen + 1).status[0]
    values = {pair.key: pair.value for pair in status.values}
    assert status.level == b"\0" and values["left without a partner"] == values["right without a partner"] == "1"
    assert values["left largest gap"] == "1.000 s" and values["right messages"] == "3"


def test_a_pair_that_seems_wrong_is_in_the_log_and_the_diagnostics(robot):
    it = robot(disparity_range=16)
    it.listen("disparity")
    it.listen("/diagnostics")
    scene = st.synth("table", width=192, height=144, disparities=16, seed=1)  # smaller pairs are not judged
    it.send_pair(SECOND, scene.right, scene.left)
    it.wait("disparity")
    seen = len(it.came.get("/diagnostics", []))
    status = it.wait("/diagnostics", seen + 2).status[0]
    values = {pair.key: pair.value for pair in status.values}
    assert values["pair: negative disparities"] == "1" and status.level == b"\1"
    assert len(it.node.warnings) == 1 and "swapped" in it.node.warnings[0]


def test_the_rows_of_a_pair_are_aligned_and_in_the_diagnostics(robot):
    moved = st.synth("table", width=320, height=240, disparities=16, noise=2, vertical_offset=1)
    aligned = st.match(moved.left, moved.right, 16, "banz-sgm", device="cpu")
    assert aligned.row_alignment is not None
    for how, said in (("auto", "rows aligned: "), (text_of(aligned.row_alignment), "rows aligned: "), ("off", None)):
        it = robot(disparity_range=16, align_rows=how, invalid_is_nan=True)
        it.listen("disparity")
        it.listen("/diagnostics")
        it.send_pair(SECOND, moved.left, moved.right)
        pixels = ros.array_of(it.wait("disparity").image)
        seen = len(it.came.get("/diagnostics", []))
        values = {pair.key: pair.value for pair in it.wait("/diagnostics", seen + 2).status[0].values}
        assert values.get("rows", "").startswith(said) if said else "rows" not in values
        wanted = st.match(moved.left, moved.right, 16, "banz-sgm", device="cpu", align_rows="off" if how == "off" else aligned.rows)
        if how != "auto":  # the filter of a sequence has a further term
            np.testing.assert_array_equal(pixels, wanted.disparity - np.float32(2))
    with pytest.raises(st.CallError, match="align_rows x is not allowed"):
        robot(align_rows="x")


def test_broken_messages_do_not_end_the_node(robot):
    it = robot(disparity_range=16)
    it.listen("disparity")
    (left, right), *_ = generated(1)
    it.send_pair(SECOND, left, right[:50])
    it.send_pair(2 * SECOND, left, right)
    assert it.wait("disparity").header.stamp.sec == 2
    assert len(it.node.warnings) == 1 and "1.000000000" in it.node.warnings[0]


STAND_IN = "m = types.ModuleType('{0}'); m.init = m.init_node = m.create_node = lambda *_: None; sys.modules['{0}'] = m; "


@pytest.mark.parametrize(
    "node, there, lacks",
    [("node1", None, "rospy"), ("node2", None, "rclpy"), ("node2", "rclpy", "rcl_interfaces")],
)
def test_a_node_without_ros_says_so(node, there, lacks):
    program = "import sys, types; " + (STAND_IN.format(there) if there else "")
    program += f"sys.modules['{lacks}'] = None; from stereopsis.ros.{node} import main; main()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("stereopsis: ") and f"has no {lacks}" in done.stderr and done.stderr.count("\n") == 1
