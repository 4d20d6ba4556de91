"""Our node for ROS 2 in a real ROS 2."""

import os
import re
import signal
import subprocess
import sys
import time

import moving_rig
import numpy as np
import pytest
import stereopsis as st
from bag_files import FRAME, SMALL_RIG, START, BagFile, generated
from processes import PATIENCE, wait_until
from robot import FAMILY, NODE, SENSOR_DATA, status_of
from stereopsis import ros
from stereopsis.ros.bags.recording import Recording
from stereopsis.ros.cameras import Camera, cameras_of

SECOND = 10**9
RESULTS = {
    "disparity": "stereo_msgs/DisparityImage",
    "depth/image_rect": "sensor_msgs/Image",
    "depth/camera_info": "sensor_msgs/CameraInfo",
    "points2": "sensor_msgs/PointCloud2",
    "confidence": "sensor_msgs/Image",
}
STATUS = "diagnostic_msgs/DiagnosticArray"
LEVELS = {"OK": 0, "WARN": 1, "ERROR": 2}


def disparities(message):
    """Returns the disparities of a DisparityImage of SMALL_RIG, NaN where invalid."""
    pixels = np.array(ros.array_of(message.image))
    pixels[pixels < message.min_disparity] = np.nan
    return pixels + np.float32(SMALL_RIG.cx_left - SMALL_RIG.cx_right)


def matched(left, right, disparities=16, **options):
    return st.match(left, right, disparities, "banz-sgm", device="cpu", **options)


def test_every_result_has_the_bits_of_match(ours):
    node = ours("results", disparity_range=16)
    heard = {topic: node.listen(topic, kind) for topic, kind in RESULTS.items()}
    (left, right), *_ = generated(1)
    node.send(5 * SECOND, left, right, SMALL_RIG)
    done = {topic: listener.wait() for topic, listener in heard.items()}
    wanted = matched(left, right, rig=SMALL_RIG, want=["depth", "confidence", "points"])
    np.testing.assert_array_equal(disparities(done["disparity"]), wanted.disparity)
    np.testing.assert_array_equal(ros.array_of(done["depth/image_rect"]), wanted.depth)
    np.testing.assert_array_equal(ros.array_of(done["confidence"]), wanted.confidence)
    points = np.frombuffer(done["points2"].data, np.float32).reshape(64, 96, 4)
    np.testing.assert_array_equal(points[..., :3], wanted.points)
    assert (done["disparity"].f, done["disparity"].t) == pytest.approx((90, 0.1))
    assert all(m.header.frame_id == "left_optical" and m.header.stamp.sec == 5 for m in done.values())


def test_topics_types_and_descriptions_and_nothing_is_subscribed_to_while_nobody_listens(graph, ours):
    node = ours("idle")
    types = lambda: dict(graph.node.get_topic_names_and_types())  # noqa: E731
    wait_until(lambda: {f"/idle/{topic}" for topic in RESULTS} <= set(types()), "the topics are known")
    for topic, kind in RESULTS.items():
        assert types()[f"/idle/{topic}"] == [kind.replace("/", "/msg/")]
    assert not any(publisher.get_subscription_count() for both in node.publishers.values() for publisher in both)
    listener = graph.listen("/idle/disparity", RESULTS["disparity"])
    wait_until(node.is_subscribed, "the node subscribes")
    (quality,) = {s.qos_profile.reliability for s in graph.node.get_subscriptions_info_by_topic("/idle/left/image_rect")}
    assert quality == SENSOR_DATA.reliability
    listener.close()
    wait_until(lambda: not node.is_subscribed(), "the node stops to listen")
    p1, count, method = node.described("optimisation.p1", "disparity_range", "method")
    assert p1.integer_range[0].to_value == 4095 and "pixels" in count.description and method.read_only


def test_parameters_are_live_and_refused_with_the_reason(ours):
    node = ours("live", disparity_range=16)
    heard = node.listen("disparity", RESULTS["disparity"])
    (left, right), *_ = generated(1)
    node.send(SECOND, left, right, SMALL_RIG)
    assert heard.at(SECOND).min_disparity == -2
    assert node.set(optimisation__p1=3, min_disparity=1, invalid_is_nan=True) == ""
    node.send(2 * SECOND, left, right, SMALL_RIG)
    after = heard.at(2 * SECOND)
    wanted = matched(left, right, (1, 17), set={"optimisation.p1": 3}).disparity
    np.testing.assert_array_equal(ros.array_of(after.image), wanted - np.float32(2))
    assert "above sgm.p2" in node.set(optimisation__p1=4000)
    assert "min_disparity is 1" in node.set(disparity_range=0)
    assert "read-only" in node.set(method="sgm")
    node.send(3 * SECOND, left, right, SMALL_RIG)
    np.testing.assert_array_equal(ros.array_of(heard.at(3 * SECOND).image), ros.array_of(after.image))


def test_rows_are_aligned_by_a_field_that_is_given(ours):
    field = [[1.5], [-1.5]] * 4
    text = ",".join(map(str, (0.5, 0, 0, 0, 1, 8, *(knots[0] for knots in field))))
    node = ours("field", disparity_range=16, align_rows=text)
    heard = node.listen("disparity", RESULTS["disparity"])
    (left, right), *_ = generated(1)
    node.send(SECOND, left, right, SMALL_RIG)
    wanted = matched(left, right, align_rows=st.RowAlignment(0.5, field=field)).disparity
    assert not np.array_equal(wanted, matched(left, right, align_rows=st.RowAlignment(0.5)).disparity, equal_nan=True)
    np.testing.assert_array_equal(disparities(heard.wait()), wanted)


def test_the_search_range_is_estimated(ours):
    scene = st.synth("table", width=480, height=240, disparities=112, noise=2)
    rig = st.Rig(focal=300, baseline=0.1, cx_left=240, cx_right=240, cy=120, unit="m", size=(480, 240))
    node = ours("estimated", disparity_range=0)
    heard = node.listen("disparity", RESULTS["disparity"])
    pair = [ros.images.grey_of(image) for image in (scene.left, scene.right)]  # Fast DDS loses larger messages
    node.send(SECOND, *pair, rig)
    message = heard.wait()
    (wanted,) = st.Run([tuple(pair)], method="banz-sgm", device="cpu")
    assert (message.min_disparity, message.max_disparity + 1) == wanted.disparities != (0, 64)
    disparity = np.array(ros.array_of(message.image))
    disparity[disparity < message.min_disparity] = np.nan
    np.testing.assert_array_equal(disparity, wanted.result.disparity)


def test_qos_overrides_remapping_and_raw_images(graph, ours):
    overridden = "qos_overrides./moved/disparity.publisher.reliability"
    node = ours("raw", "-r", "disparity:=/moved/disparity", image="image_raw", rectify=True, disparity_range=16, **{overridden: "best_effort"})
    (publisher,) = wait_until(lambda: graph.node.get_publishers_info_by_topic("/moved/disparity"), "the node publishes")
    assert publisher.qos_profile.reliability == SENSOR_DATA.reliability
    heard = node.listen("depth/image_rect")
    (left, right), *_ = generated(1)
    cameras = {side: {**ros.info_fields(SMALL_RIG, side), "d": (0.05, 0.0, 0.0, 0.0, 0.0)} for side in ("left", "right")}
    node.send(SECOND, left, right, cameras)
    calibration = cameras_of(*(Camera.of(node.info(SECOND, side, cameras)) for side in cameras), raw=True).calibration
    wanted = matched(left, right, calibration=calibration, want=["depth"]).depth
    np.testing.assert_array_equal(ros.array_of(heard.wait()), wanted)


@pytest.mark.skipif("STEREOPSIS_ROS_NODE" in os.environ, reason="the component publishes no images; image_proc does")
def test_images_of_the_cameras(ours):
    node = ours("images", image="image_raw", rectify=True, disparity_range=16)
    heard = node.listen("left/image_rect"), node.listen("right/image_mono")
    (left, right), *_ = generated(1)
    node.send(SECOND, left, right, SMALL_RIG)
    np.testing.assert_array_equal(ros.array_of(heard[0].wait()), ros.images.grey_of(left))
    assert ros.array_of(heard[1].wait()).shape == right.shape[:2]


@pytest.mark.parametrize("encoding, of", [("mono8", 0), ("bgr8", 1), ("bgra8", 1), ("bayer_rggb8", 0), ("mono16", 0), ("yuv422_yuy2", 0)])
def test_encodings(ours, encoding, of):
    node = ours(f"as_{encoding}", disparity_range=16)
    heard = node.listen("disparity", RESULTS["disparity"])
    pair = generated(1)[0]
    grey = [ros.images.grey_of(image) for image in pair]
    sent = {
        "bgr8": lambda i: pair[i][..., ::-1],
        "bgra8": lambda i: np.dstack([pair[i][..., ::-1], grey[i]]),
        "mono16": lambda i: grey[i].astype(np.uint16) * 257,
        "yuv422_yuy2": lambda i: np.dstack([grey[i], np.full_like(grey[i], 128)]),
    }.get(encoding, lambda i: grey[i])
    images = [np.ascontiguousarray(sent(i)) for i in (0, 1)]
    node.send(SECOND, *images, SMALL_RIG, encoding=encoding)
    header = ros.Messages(FAMILY).header(0, "")
    arrays = [np.array(ros.array_of(ros.Messages(FAMILY).image(header, image, encoding))) for image in images]
    np.testing.assert_array_equal(disparities(heard.wait()), matched(*arrays).disparity)


def test_compressed_images_and_masks(ours, tmp_path):
    cv2 = pytest.importorskip("cv2")
    (left, right), *_ = generated(1)
    mask = np.full(left.shape[:2], 255, np.uint8)
    mask[40:] = 0
    st.write_image(tmp_path / "mask.png", mask)
    node = ours("compressed", compressed=True, image_transport="compressed", disparity_range=16, left_mask=tmp_path / "mask.png")
    heard = node.listen("disparity", RESULTS["disparity"])
    messages = []
    for image in (left, right):
        data = cv2.imencode(".png", image[..., ::-1])[1].tobytes()
        message = FAMILY.make("sensor_msgs/CompressedImage", format="rgb8; png compressed bgr8", data=FAMILY.bytes(np.frombuffer(data, np.uint8)))
        message.header.stamp.sec = 7
        messages.append(message)
    node.send(7 * SECOND, *messages, SMALL_RIG)
    wanted = matched(left, right, mask_left=mask)
    assert np.isnan(wanted.disparity[40:]).all()
    np.testing.assert_array_equal(disparities(heard.wait()), wanted.disparity)


@pytest.mark.parametrize("contents", ["disparity", "depth"])
def test_seeds_from_a_topic(graph, ours, contents):
    node = ours(f"seeded_{contents}", disparity_range=16, seeds=contents)
    heard = node.listen("disparity", RESULTS["disparity"])
    publisher = graph.node.create_publisher(FAMILY.kind("sensor_msgs/Image"), f"/{node.name}/seeds", 5)
    wait_until(publisher.get_subscription_count, "the node subscribes to the seeds")
    (left, right), *_ = generated(1)
    seeds = np.full(left.shape[:2], np.nan, np.float32)
    seeds[20:40, 30:60] = 11
    image = seeds if contents == "disparity" else np.float32(SMALL_RIG.focal * SMALL_RIG.baseline) / (seeds - np.float32(2))
    for _ in range(10):  # the seeds reach the node before the pair, which would otherwise not wait for them
        publisher.publish(ros.Messages(FAMILY).image(ros.Messages(FAMILY).header(SECOND, ""), image))
        time.sleep(0.2)
    node.send(SECOND, left, right, SMALL_RIG)
    matcher = st.Matcher("banz-sgm", device="cpu", disparities=16, set={"seeds.stage": "seeds"})
    wanted = matcher(left, right, seeds=seeds).disparity
    assert not np.array_equal(wanted, matched(left, right).disparity, equal_nan=True)
    np.testing.assert_array_equal(disparities(heard.wait()), wanted)
    graph.node.destroy_publisher(publisher)


def test_depth_as_another_camera_sees_it(ours, tmp_path):
    camera = tmp_path / "colour.yaml"
    camera.write_text(
        "image_width: 80\nimage_height: 60\nK: [80, 0, 40, 0, 80, 30, 0, 0, 1]\nD: [0.01, 0, 0, 0, 0]\n"
        "R: [1, 0, 0, 0, 1, 0, 0, 0, 1]\nT: [0.03, 0, 0]\nunit: m\n"
    )
    node = ours("registered", disparity_range=16, register_to=camera, register_frame="colour_optical")
    heard = node.listen("depth_registered/image_raw")
    (left, right), *_ = generated(1)
    node.send(SECOND, left, right, SMALL_RIG)
    depth = heard.wait()
    measured = matched(left, right, rig=SMALL_RIG, want=["depth"]).depth
    np.testing.assert_array_equal(ros.array_of(depth), st.register_depth(measured, SMALL_RIG, st.PosedCamera.read(camera, "m")).depth)
    assert (depth.width, depth.height, depth.header.frame_id) == (80, 60, "colour_optical")


def test_a_rig_that_moves_is_corrected_and_written(graph, ours, tmp_path):
    node = ours("moving", disparity_range=24, track_rig=tmp_path / "rig.yml")
    heard = node.listen("disparity", RESULTS["disparity"])
    for i, (left, right) in enumerate(moving_rig.pairs(26)):  # each pair after the result of the one before, so that none is skipped
        node.send((i + 1) * SECOND, *(ros.images.grey_of(image) for image in (left, right)), moving_rig.RIG)
        heard.at((i + 1) * SECOND)
    assert node.end() == 0
    said = graph.said("moving")
    assert said.count("the rows have jumped") == 1 and "is corrected by pitch 0." in said
    assert np.degrees(st.read_calibration(tmp_path / "rig.yml").rotation[7]) == pytest.approx(moving_rig.BUMP[0], abs=0.02)


def test_a_bag_that_is_played(ours, tmp_path):
    pairs = generated(6)
    with BagFile(tmp_path / "in.mcap") as bag:
        for i, (left, right) in enumerate(pairs):
            bag.pair(START + i * FRAME, left, right, SMALL_RIG)
    node = ours("played", disparity_range=16)
    heard = node.listen("disparity", RESULTS["disparity"])
    for pair in Recording(tmp_path / "in.mcap"):  # plays with the stamps of the bag, each pair after the result of the one before
        node.send(pair.stamp, pair.left, pair.right, SMALL_RIG)
        np.testing.assert_array_equal(disparities(heard.at(pair.stamp)), matched(pair.left, pair.right).disparity)
    assert [ros.stamps.stamp_of(message) for message in heard.came] == [START + i * FRAME for i in range(len(pairs))]


def test_lost_images_are_in_the_diagnostics_and_once_in_the_log(graph, ours):
    node = ours("lossy", disparity_range=16, approximate_sync=True, approximate_sync_tolerance_seconds=0.005)
    node.listen("disparity", RESULTS["disparity"])
    diagnostics = node.listen("/diagnostics", STATUS)
    (left, right), *_ = generated(1)

    def statuses():
        return [status_of(message) for message in diagnostics.came if ros.stamps.stamp_of(message) > begin]

    def send_until(is_so, missing):
        """Sends pairs, every `missing`-th of them without a right image."""
        nonlocal stamp
        while not any(map(is_so, statuses())):
            stamp += SECOND // 20
            node.send(stamp, left, None if stamp // (SECOND // 20) % missing == 0 else right, SMALL_RIG, delay=3_000_000)
            time.sleep(0.05)

    begin, stamp = graph.node.get_clock().now().nanoseconds, SECOND
    send_until(lambda s: s[0] == LEVELS["OK"] and int(s[2].get("pairs matched", 0)) > 20, 10**6)
    send_until(lambda s: s[0] == LEVELS["WARN"] and "left images are lost or have no partner" in s[1], 6)
    send_until(lambda s: s[0] == LEVELS["ERROR"] and "left images are lost or have no partner" in s[1], 2)
    level, _, values = statuses()[-1]
    came, paired, alone = (int(values[f"left {what}"]) for what in ("messages", "matched", "without a partner"))
    assert alone > 0 and came - paired - alone in (0, 1)  # one may wait for its partner
    assert values["right without a partner"] == "0" and float(values["median age of results"].split()[0]) > 0
    said = graph.said("lossy")
    assert said.count("FASTRTPS_DEFAULT_PROFILES_FILE") == 1
    diagnostics.wait(lambda m: "no message on left/image_rect and right/image_rect" in status_of(m)[1])  # a time-out


def test_stamps_that_differ_and_pairs_that_seem_wrong_are_in_the_diagnostics(graph, ours):
    node = ours("wrong", disparity_range=16)
    heard = node.listen("disparity", RESULTS["disparity"])
    diagnostics = node.listen("/diagnostics", STATUS)
    (left, right), *_ = generated(1)
    node.send(SECOND, left, right, SMALL_RIG, delay=3_000_000)
    diagnostics.wait(lambda m: status_of(m)[:2] == (LEVELS["ERROR"], "both sides send, but no stamps are alike; is approximate_sync needed?"))
    scene = st.synth("table", width=192, height=144, disparities=16, seed=1)  # smaller pairs are not judged
    rig = st.Rig(focal=90, baseline=0.1, cx_left=48, cx_right=46, cy=32, unit="m", size=(192, 144))
    node.send(2 * SECOND, left, right[:50], SMALL_RIG)
    node.send(3 * SECOND, scene.right, scene.left, rig)
    assert heard.wait().header.stamp.sec == 3
    values = status_of(diagnostics.wait(lambda m: "pair: negative disparities" in status_of(m)[2]))[2]
    assert values["pairs of unequal images"] == "1" and "swapped" in graph.said("wrong")


def test_the_profile_brings_images_to_other_processes(graph, ours, monkeypatch):
    """640×480 at 30 pairs a second, as best effort, which loses most of them without the profile."""
    file = subprocess.run([sys.executable, "-m", "stereopsis.ros.node2", "--profile"], capture_output=True, text=True, check=True).stdout.strip()
    variable = "FASTDDS_DEFAULT_PROFILES_FILE" if os.environ.get("ROS_DISTRO") == "kilted" else "FASTRTPS_DEFAULT_PROFILES_FILE"
    monkeypatch.setenv(variable, file)
    node = ours("profiled", disparity_range=16)
    diagnostics = node.listen("/diagnostics", STATUS)
    node.listen("confidence")
    sender = graph.start(
        sys.executable, os.path.join(os.path.dirname(__file__), "sender.py"), "/profiled", 640, 480, 150, 30, "BEST_EFFORT", name="cameras"
    )
    assert sender.wait(PATIENCE) == 0, graph.said("cameras")
    values = status_of(diagnostics.wait(lambda m: int(status_of(m)[2].get("pairs received", 0)) >= 143))[2]
    assert int(values["pairs received"]) <= 150


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_the_end_is_clean(graph, ours, how):
    node = ours(f"ended_{how.name}", disparity_range=16)
    heard = node.listen("disparity", RESULTS["disparity"])
    (left, right), *_ = generated(1)
    node.send(SECOND, left, right, SMALL_RIG)
    heard.wait()
    assert node.end(how) == 0
    assert "Traceback" not in graph.said(node.name)


def test_what_is_not_allowed_is_named():
    for rows in ("x", "0,0,0,0,1,8,0.5"):
        wrong = subprocess.run([*NODE, "--ros-args", "-p", f"align_rows:={rows}"], capture_output=True, text=True, timeout=PATIENCE)
        assert wrong.returncode == 2 and re.search(f"align_rows {rows} is not allowed", wrong.stderr) and "Traceback" not in wrong.stderr


def test_the_example_publishes_obstacles(graph, ours):
    """A box of 0.8 m at 4 m, on the ground 1.2 m below the camera."""
    rig = st.Rig(focal=300, baseline=0.2, cx_left=160, cx_right=160, cy=80, unit="m", size=(320, 240))
    rows = np.arange(240, dtype=np.float32)[:, None]
    disparity = np.repeat(np.maximum(300 * 0.2 / (1.2 * 300) * (rows - 80), 1), 320, axis=1).astype(np.float32)
    disparity[110:170, 140:200] = 15
    noise = np.random.default_rng(1).integers(0, 256, (240, 400), np.uint8)
    right = noise[:, :320]
    left = np.take_along_axis(noise, (np.arange(320) - np.rint(disparity).astype(int)) % 400, axis=1)
    node = ours("seen", disparity_range=32)
    example = os.path.join(os.path.dirname(__file__), "../../examples/ros2_obstacles.py")
    graph.start(sys.executable, example, "--ros-args", "-r", "__ns:=/seen", "-p", "camera_height:=1.2", name="obstacles")
    heard = graph.listen("/seen/obstacles", "sensor_msgs/PointCloud2")
    wait_until(node.is_subscribed, "the example subscribes to the node's depth")
    stamp = SECOND
    while not heard.came:
        stamp += SECOND
        node.send(stamp, left, right, rig)
        time.sleep(0.5)
    points = np.frombuffer(heard.came[0].data, np.float32).reshape(-1, 3)
    assert any(abs(z - 4) < 0.3 and abs(x) < 0.6 for x, _, z in points), points
