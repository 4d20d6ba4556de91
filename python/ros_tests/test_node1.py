"""Our node for ROS 1 beside the distribution's stereo_image_proc, on a real roscore."""

import json
import pathlib
import subprocess
import sys

import moving_rig
import numpy as np
import pytest
import rosgraph
import rospy
import stereopsis as st
from bag_files import FRAME, START, BagFile
from dynamic_reconfigure.client import Client
from processes import PATIENCE, wait_until
from robot import NODES, Listener, is_service, measured_rate, subscribed
from stereopsis import ros
from stereopsis.__main__ import main

RIG = st.Rig(focal=500, baseline=0.1, cx_left=240, cx_right=240, cy=180, unit="m", size=(480, 360))
LAUNCH = pathlib.Path(__file__).parents[2] / "ros" / "ros1"


@pytest.fixture(scope="session")
def generated():
    scene = st.synth("table", width=480, height=360, disparities=64, noise=2)
    return scene.left, scene.right, scene.disparity


def real(data):
    folder = data / "middlebury_v2" / "cones"
    scale = json.loads((folder / "dataset.json").read_text())["gt_scale"]
    truth = st.read_image(folder / "disp_left.png") / np.float32(scale)
    return st.read_image(folder / "left.png"), st.read_image(folder / "right.png"), np.where(truth > 0, truth, np.nan)


def pixels(message):
    """Returns the pixels of a DisparityImage, NaN where invalid."""
    disparity = np.array(ros.array_of(message.image))
    disparity[disparity < message.min_disparity] = np.nan
    return disparity


def parameters(who):
    return rospy.get_param(NODES[who])


def test_topics_and_types_are_those_of_stereo_image_proc(robot):
    def own_topics():
        published, _, _ = rosgraph.Master("/tester").getSystemState()
        theirs = [topic for topic, nodes in published if NODES["theirs"] in nodes and topic != "/rosout"]
        return [topic for topic in theirs if not topic.startswith("/theirs/stereo_image_proc_")]  # without its nodelets' parameters

    wait_until(lambda: len(own_topics()) >= 12, "the 12 topics of stereo_image_proc")  # its nodelets load one after another
    own = own_topics()
    types = dict(rosgraph.Master("/tester").getTopicTypes())  # after the topics, so that each of them has its type
    assert len(own) == 12
    for topic in own:
        ours = topic.replace(NODES["theirs"], NODES["ours"]).replace("/theirs/", "/ours/")
        assert types.get(ours) == types[topic], ours


def test_parameters_have_the_names_and_defaults_of_stereo_image_proc(robot):
    ours, theirs = parameters("ours"), parameters("theirs")
    assert {name: ours[name] for name in ("min_disparity", "disparity_range")} == {
        name: theirs[name] for name in ("min_disparity", "disparity_range")
    }
    described = {p["name"]: p for p in Client(NODES["ours"], timeout=PATIENCE).get_parameter_descriptions()}
    assert set(described) <= set(ours)
    assert (described["disparity_range"]["min"], described["disparity_range"]["max"]) == (0, 32768)
    assert described["optimisation_p1"]["type"] == "int" and described["optimisation_p1"]["max"] == 4095
    assert "'value': 'parabola'" in described["select_subpixel"]["edit_method"]


def test_nothing_is_subscribed_to_while_nobody_listens(robot, generated):
    left, right, _ = generated
    inputs = {f"/stereo/{side}/{name}" for side in ("left", "right") for name in ("image_raw", "camera_info")}
    assert not subscribed(NODES["ours"]) & inputs
    listener = Listener("/ours/disparity")
    wait_until(lambda: inputs <= subscribed(NODES["ours"]), "the node subscribes")
    with robot.sending(left, right, RIG):
        listener.wait()
        listener.close()  # a publisher notices it at its next message
        wait_until(lambda: not subscribed(NODES["ours"]) & inputs, "the node stops to listen")


@pytest.mark.parametrize("which", ["generated", "real"])
def test_disparities_beside_those_of_stereo_image_proc(robot, listen, which, generated, request, capsys):
    left, right, truth = generated if which == "generated" else real(request.getfixturevalue("data"))
    rig = st.Rig(**{name: getattr(RIG, name) for name in ("focal", "baseline", "cx_left", "cx_right", "cy", "unit")},
                 size=(left.shape[1], left.shape[0]))  # fmt: skip
    listeners = {who: listen(f"/{who}/disparity") for who in NODES}
    size = left.shape[0], left.shape[1]
    with robot.sending(left, right, rig):
        messages = {who: one.wait(lambda m: (m.image.height, m.image.width) == size) for who, one in listeners.items()}
    ours, theirs = (messages[who] for who in ("ours", "theirs"))
    for field in ("f", "T", "min_disparity", "max_disparity"):
        assert getattr(ours, field) == pytest.approx(getattr(theirs, field)), field
    assert (ours.image.encoding, ours.header.frame_id) == (theirs.image.encoding, theirs.header.frame_id)
    maps = {who: pixels(message) for who, message in messages.items()}
    wanted = st.match(left, right, 64, device="cpu")
    np.testing.assert_array_equal(maps["ours"], wanted.disparity)
    measured = (np.isfinite(wanted.disparity) & (wanted.validity & st.validity.filled == 0)).mean()
    both = np.isfinite(maps["ours"]) & np.isfinite(maps["theirs"]) & np.isfinite(truth)
    close = {who: (np.abs(made - truth)[both] <= 1).mean() for who, made in maps.items()}
    valid = {who: np.isfinite(made).mean() for who, made in maps.items()}
    with capsys.disabled():
        for who, node in NODES.items():
            print(f"\n{which}: {node}: {valid[who]:.1%} valid, {close[who]:.1%} within a pixel where both are", end="")
        print(f"\n{which}: {NODES['ours']}: {measured:.1%} measured, the rest filled", end="")
    assert close["ours"] > 0.9 and close["ours"] >= close["theirs"]
    assert valid["ours"] >= measured > valid["theirs"]


def test_both_at_full_rate(robot, generated, capsys):
    """The nodes run in turn, because they share the cores."""
    left, right, _ = generated
    rates = {}
    with robot.sending(left, right, RIG, rate=60):
        for who in NODES:
            for topic in ("disparity", "points2"):
                listener = Listener(f"/{who}/{topic}")
                rates[who, topic] = measured_rate(listener)
                listener.close()
    with capsys.disabled():
        for (who, topic), rate in rates.items():
            print(f"\n480×360, 64 disparities, 60 pairs a second sent: {NODES[who]}: {rate:.1f} {topic} a second", end="")


def test_parameters_are_live(robot, processes, listen, generated):
    left, right, _ = generated
    disparity, client, before = listen("/ours/disparity"), Client(NODES["ours"], timeout=PATIENCE), parameters("ours")
    with robot.sending(left, right, RIG):
        held = client.update_configuration(
            {"min_disparity": 4, "disparity_range": 32, "fill_enabled": False, "optimisation_p1": 5}
        )
        assert held["optimisation_p1"] == 5 and parameters("ours")["disparity_range"] == 32
        changed = disparity.next(lambda message: message.max_disparity == 35)
        wanted = st.match(left, right, (4, 36), device="cpu", set={"optimisation.p1": 5, "fill.enabled": False}).disparity
        assert changed.min_disparity == 4 and np.isnan(wanted).any()
        np.testing.assert_array_equal(ros.array_of(changed.image), np.where(np.isnan(wanted), 3, wanted))
        refused = client.update_configuration({"optimisation_p1": 4000, "disparity_range": 16})  # more than P2
        assert refused["optimisation_p1"] == 5 and refused["disparity_range"] == 32
        assert "nothing has changed" in processes.said("ours")
        client.update_configuration({"invalid_is_nan": True})
        as_nan = disparity.next(lambda message: np.isnan(ros.array_of(message.image)).any())
        np.testing.assert_array_equal(ros.array_of(as_nan.image), wanted)
        names = ("min_disparity", "disparity_range", "fill_enabled", "optimisation_p1", "invalid_is_nan")
        client.update_configuration({name: before[name] for name in names})
        assert disparity.next(lambda message: message.max_disparity == 63).min_disparity == 0


def test_depth_points_and_rectified_images(robot, listen, generated):
    left, right, _ = generated
    topics = ["depth/image_rect", "depth/camera_info", "points2", "confidence", "left/image_rect_color", "right/image_mono"]
    heard = {topic: listen(f"/ours/{topic}") for topic in topics}
    theirs = listen("/theirs/points2")
    with robot.sending(left, right, RIG):
        made = {topic: listener.wait() for topic, listener in heard.items()}
        other = theirs.wait()
    wanted = st.match(left, right, 64, device="cpu", rig=RIG, want=["depth"])
    np.testing.assert_array_equal(ros.array_of(made["depth/image_rect"]), wanted.depth)
    assert made["depth/camera_info"].P[0] == 500
    cloud = made["points2"]
    assert (cloud.width, cloud.height, [f.name for f in cloud.fields]) == (480, 360, [f.name for f in other.fields])
    np.testing.assert_array_equal(ros.array_of(made["left/image_rect_color"]), left)
    assert made["right/image_mono"].encoding == "mono8"


def test_depth_as_another_camera_sees_it(robot, processes, listen, generated, tmp_path):
    left, right, _ = generated
    camera = tmp_path / "colour.yaml"
    camera.write_text(
        "image_width: 400\nimage_height: 300\nK: [420, 0, 200, 0, 420, 150, 0, 0, 1]\nD: [0.01, 0, 0, 0, 0]\n"
        "R: [1, 0, 0, 0, 1, 0, 0, 0, 1]\nT: [0.03, 0, 0]\nunit: m\n"
    )
    node = robot.start_ours("registered", f"_register_to:={camera}", "_register_frame:=colour_optical")
    heard = {topic: listen(f"/registered/depth_registered/{topic}") for topic in ("image_raw", "camera_info")}
    with robot.sending(left, right, RIG):
        depth, info = (heard[topic].wait() for topic in ("image_raw", "camera_info"))
    measured = st.match(left, right, 64, device="cpu", rig=RIG, want=["depth"]).depth
    np.testing.assert_array_equal(ros.array_of(depth), st.register_depth(measured, RIG, st.PosedCamera.read(camera, "m")).depth)
    assert (depth.width, depth.height, depth.header.frame_id) == (400, 300, "colour_optical")
    assert (info.width, info.height, info.K[0], info.header.frame_id) == (400, 300, 420, "colour_optical")
    processes.end(node)


def test_a_rig_that_moves_is_corrected_and_written(robot, listen, processes, tmp_path):
    node = robot.start_ours("moving", "_disparity_range:=24", f"_track_rig:={tmp_path / 'rig.yml'}")
    heard = listen("/moving/disparity")
    pairs = moving_rig.pairs(26)
    with robot.sending(*pairs[0], moving_rig.RIG):
        heard.wait()
    for pair in pairs:
        before = len(heard.came)
        robot.publish(*pair, moving_rig.RIG)
        wait_until(lambda: len(heard.came) > before, "the result of the pair")  # noqa: B023
    processes.end(node)
    said = processes.said("moving")
    assert said.count("the rows have jumped") == 1 and "is corrected by pitch 0." in said
    assert np.degrees(st.read_calibration(tmp_path / "rig.yml").rotation[7]) == pytest.approx(moving_rig.BUMP[0], abs=0.02)


def test_raw_cameras_are_rectified_as_stereo_image_proc_does_it(robot, listen, data, capsys):
    """The chessboard's pictures, with lenses that bend and cameras that are turned."""
    folder = data / "calibration" / "opencv_chessboard"
    left, right = (st.read_image(folder / f"{side}01.jpg") for side in ("left", "right"))
    turn = (np.cos(0.02), 0.0, np.sin(0.02), 0.0, 1.0, 0.0, -np.sin(0.02), 0.0, np.cos(0.02))
    cameras = {
        side: dict(
            height=480, width=640, distortion_model="plumb_bob", d=(-0.28, 0.06, 0.001, -0.001, 0.1),
            k=(536.0, 0.0, 342.0, 0.0, 536.0, 235.0, 0.0, 0.0, 1.0), r=turn,
            p=(530.0, 0.0, 330.0, tx, 0.0, 530.0, 240.0, 0.0, 0.0, 0.0, 1.0, 0.0), binning_x=0, binning_y=0,
        )
        for side, tx in (("left", 0.0), ("right", -530.0 * 0.08))
    }  # fmt: skip
    heard = {who: listen(f"/{who}/left/image_rect") for who in NODES}
    with robot.sending(left, right, cameras):
        ours, theirs = (ros.array_of(heard[who].wait(lambda m: m.width == 640)).astype(int) for who in ("ours", "theirs"))
    apart = np.abs(ours - theirs)[20:-20, 20:-20]
    with capsys.disabled():
        print(f"\nraw: rectified images differ by {apart.mean():.2f} of 255, the raw one by {np.abs(left - theirs).mean():.1f}", end="")
    assert apart.mean() < 0.5 and np.abs(left - theirs)[20:-20, 20:-20].mean() > 10


def test_a_bag_that_is_played(robot, listen, generated, tmp_path):
    left, right, _ = generated
    with BagFile(tmp_path / "in.bag", "ros1") as made:
        for i in range(20):
            made.pair(START + i * FRAME, left, right, RIG, "image_raw")
    heard = {who: listen(f"/{who}/disparity") for who in NODES}
    for node in NODES.values():
        wait_until(lambda node=node: "/stereo/left/image_raw" in subscribed(node), f"{node} subscribes")
    call = ["/usr/bin/rosbag", "play", "-q", "--wait-for-subscribers", tmp_path / "in.bag"]
    subprocess.run(call, check=True, timeout=PATIENCE)
    bag_ends = START + 20 * FRAME
    stamps = {who: {ros.stamps.stamp_of(message) for message in one.came} for who, one in heard.items()}
    # A pair that an earlier test sent may be matched only now. Its stamp is the time at which it was sent.
    stamps = {who: {stamp for stamp in of_one if stamp < bag_ends} for who, of_one in stamps.items()}
    assert all(stamp in range(START, bag_ends, FRAME) for of_one in stamps.values() for stamp in of_one)
    assert len(stamps["ours"]) >= 5 and len(stamps["theirs"]) >= 5  # out of 20 pairs, as both nodes skip pairs while they are busy


def test_the_distribution_reads_our_bags(tester, generated, tmp_path):
    import rosbag

    left, right, _ = generated
    with BagFile(tmp_path / "in.bag", "ros1") as made:
        made.pair(START, left, right, RIG)
    assert main(["bag", *map(str, [tmp_path / "in.bag", "-o", tmp_path / "out.bag", "--disparities", 64, "--device", "cpu"])]) == 0
    with rosbag.Bag(tmp_path / "out.bag") as out:
        ((topic, message, _),) = out.read_messages()
    assert (topic, message._type) == ("/stereo/disparity", "stereo_msgs/DisparityImage")
    np.testing.assert_array_equal(pixels(message), st.match(left, right, 64, device="cpu").disparity)


def test_it_is_launched_and_takes_compressed_images(robot, processes, listen, generated):
    cv2 = pytest.importorskip("cv2")
    from sensor_msgs.msg import CameraInfo, CompressedImage

    left, right, _ = generated
    launched = processes.start(
        "/usr/bin/roslaunch", "stereopsis_ros", "stereo.launch", "namespace:=launched", "image_transport:=compressed",
        "device:=cpu", "rectify:=false", "method:=banz-sgm", name="launched", ROS_PACKAGE_PATH=f"{LAUNCH}:/usr/share",
        PATH=f"{pathlib.Path(sys.executable).parent}:/usr/bin:/bin",
    )  # fmt: skip
    wait_until(lambda: is_service("/launched/stereopsis/set_parameters") or launched.poll() is not None, "the launched node")
    assert launched.poll() is None, processes.said("launched")
    senders = {
        side: rospy.Publisher(f"/launched/{side}/image_rect/compressed", CompressedImage, queue_size=1, latch=True)
        for side in ("left", "right")
    }
    disparity = listen("/launched/disparity")
    for side, image in (("left", left), ("right", right)):
        data = cv2.imencode(".png", image[..., ::-1])[1].tobytes()
        message = CompressedImage(format="rgb8; png compressed bgr8", data=data)
        message.header.stamp.secs = 7
        senders[side].publish(message)
    infos = {side: rospy.Publisher(f"/launched/{side}/camera_info", CameraInfo, queue_size=1, latch=True) for side in senders}
    for side, sender in infos.items():
        sender.publish(robot.info(7 * 10**9, RIG, side))
    wanted = st.match(left, right, 64, "banz-sgm", device="cpu").disparity
    np.testing.assert_array_equal(pixels(disparity.wait()), wanted)
    processes.end(launched)


def test_what_is_given_is_honoured_named_or_refused(robot, processes):
    call = [sys.executable, "-m", "stereopsis.ros.node1", "__ns:=/wrong", "_queue_size:=many"]
    wrong = subprocess.run(call, capture_output=True, text=True, timeout=PATIENCE)
    assert wrong.returncode == 2 and "queue_size is 'many'; it must be a whole number" in wrong.stderr
    odd = robot.start_ours("odd", "_correlation_window_size:=15")
    wait_until(lambda: "correlation_window_size" in processes.said("odd"), "the warning")
    assert "have no effect" in processes.said("odd")
    processes.end(odd)
    assert odd.returncode == 0
