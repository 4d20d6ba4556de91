"""Bags in and out, by the command `stereopsis bag`."""

import contextlib
import io
import json
import os
import pathlib
import signal
import subprocess
import sys

import moving_rig
import numpy as np
import pytest
import stereopsis as st

pytest.importorskip("rosbags", reason="rosbags reads and writes bags")
cv2 = pytest.importorskip("cv2", reason="OpenCV writes pictures")
from bag_files import (  # noqa: E402
    FRAME, IMAGE, SMALL_RIG, START, BagFile, disparity_of, generated, kitti, small_bag,
)  # fmt: skip
from rosbags.highlevel import AnyReader  # noqa: E402
from stereopsis import ros  # noqa: E402
from stereopsis.__main__ import main  # noqa: E402
from stereopsis.ros.bags.discovery import found, is_raw, namespace_of  # noqa: E402
from stereopsis.ros.bags.reading import Bag  # noqa: E402
from stereopsis.ros.bags.recording import Recording  # noqa: E402
from stereopsis.ros.bags.segments import Done, Segments  # noqa: E402
from stereopsis.ros.families import Bagged  # noqa: E402

OUTPUTS = {"mcap": "out.mcap", "folder": "out", "sqlite3": "out.db3", "ros1": "out.bag"}
SMALL = ["--method", "banz-sgm", "--disparities", "16", "--device", "cpu", "--quiet"]


def bag(*words, code=0):
    """Runs the command in this process and returns its output."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        assert main(["bag", *map(str, words)]) == code, said.getvalue()
    return said.getvalue()


def read(path):
    """{topic: [message]}, by rosbags alone."""
    messages = {}
    with AnyReader([path]) as reader:
        for connection, _, raw in reader.messages():
            messages.setdefault(connection.topic, []).append(reader.deserialize(raw, connection.msgtype))
    return messages


@pytest.mark.parametrize("storage", ["mcap", "sqlite3", "ros1"])
@pytest.mark.parametrize("output", OUTPUTS)
def test_every_kind_of_bag_goes_in_and_comes_out(storage, output, tmp_path, same_bits):
    source = small_bag(tmp_path / ("in.bag" if storage == "ros1" else "in"), storage)
    out = tmp_path / OUTPUTS[output]
    bag(source, "-o", out, "--disparity", "--depth", "--points", "--confidence", *SMALL)
    made = read(out)
    assert set(made) == {"/stereo/" + n for n in ("disparity", "depth/image_rect", "depth/camera_info", "points2", "confidence")}
    for i, (left, right) in enumerate(generated()):
        wanted = st.match(left, right, 16, "banz-sgm", device="cpu", want=["depth", "points", "confidence"], rig=SMALL_RIG)
        shifted = np.where(np.isnan(wanted.disparity), np.float32(-3), wanted.disparity - np.float32(2))
        message = made["/stereo/disparity"][i]
        same_bits(ros.array_of(message.image), shifted)
        assert ros.stamps.stamp_of(message) == START + i * FRAME and message.header.frame_id == "left_optical"
        same_bits(ros.array_of(made["/stereo/depth/image_rect"][i]), wanted.depth)
        same_bits(ros.array_of(made["/stereo/confidence"][i]), wanted.confidence)
        cloud = np.frombuffer(made["/stereo/points2"][i].data, np.float32).reshape(64, 96, 4)
        same_bits(np.ascontiguousarray(cloud[..., :3]), np.ascontiguousarray(wanted.points))


def test_depth_is_measured_unless_it_is_filled_on_request(tmp_path, same_bits):
    source = small_bag(tmp_path / "in", "mcap")
    options = ["--depth", "--method", "sgm", "--disparities", "16", "--device", "cpu", "--quiet"]
    bag(source, "-o", tmp_path / "usual", "--disparity", "--nan", *options)
    bag(source, "-o", tmp_path / "filled", "--fill-depth", *options)
    bag(source, "-o", tmp_path / "measured", "--disparity", "--nan", "--measured-only", *options)
    usual, filled, measured = (read(tmp_path / name) for name in ("usual", "filled", "measured"))
    for i, (left, right) in enumerate(generated(3)):
        wanted = st.match(left, right, 16, device="cpu", want="depth", rig=SMALL_RIG, fill_depth=True)
        assert wanted.filled.any()
        same_bits(ros.array_of(filled["/stereo/depth/image_rect"][i]), wanted.depth)
        same_bits(ros.array_of(usual["/stereo/depth/image_rect"][i]), np.where(wanted.measured, wanted.depth, np.float32(np.nan)))
        for made, disparity in ((usual, wanted.disparity), (measured, wanted.measured_disparity)):
            np.testing.assert_array_equal(ros.array_of(made["/stereo/disparity"][i].image), disparity - np.float32(2))


@pytest.mark.parametrize("topic", ["disparity", "depth"])
def test_seeds_come_from_a_topic(topic, tmp_path, same_bits):
    known = [np.where(np.random.default_rng(i).random((64, 96)) < 0.1, np.float32(6), np.float32(np.nan)) for i in range(4)]
    seeds = {"disparity": known, "depth": [(9 / (of - 2)).astype(np.float32) for of in known]}[topic]
    with BagFile(tmp_path / "in") as made:
        for i, pair in enumerate(generated()):
            made.pair(START + i * FRAME, *pair, SMALL_RIG)
            if i != 2:
                made.image("/known", START + i * FRAME, seeds[i])
    option = "--seeds" if topic == "disparity" else "--seed-depth"
    said = bag(tmp_path / "in", "-o", tmp_path / "out", option, "/known", "--nan", *SMALL)
    assert "the pair is matched without seeds" in said
    for i, (left, right) in enumerate(generated()):
        wanted = st.match(left, right, 16, "banz-sgm", device="cpu", seeds=np.full((64, 96), np.nan, np.float32) if i == 2 else known[i])
        np.testing.assert_array_equal(ros.array_of(read(tmp_path / "out")["/stereo/disparity"][i].image), wanted.disparity - np.float32(2))
    assert "there is no topic '/none'" in bag(tmp_path / "in", "-o", tmp_path / "other", option, "/none", code=2)
    assert "--frames matches no pair" in bag(tmp_path / "in", "--frames", tmp_path / "frames", option, "/known", code=2)


def test_our_own_disparities_are_seeds(tmp_path):
    source = small_bag(tmp_path / "in")
    bag(source, "-o", tmp_path / "first", *SMALL, "--pass", "/stereo/*")
    assert "without seeds" not in bag(tmp_path / "first", "-o", tmp_path / "out", "--seeds", "/stereo/disparity", "--namespace", "/again", "--nan", *SMALL)
    first, again = read(tmp_path / "first")["/stereo/disparity"][0], ros.array_of(read(tmp_path / "out")["/again/disparity"][0].image)
    wanted = st.match(*generated()[0], 16, "banz-sgm", device="cpu", seeds=disparity_of(first) + np.float32(2))
    np.testing.assert_array_equal(again, wanted.disparity - np.float32(2))


def test_thirty_real_pairs_are_those_of_match(tmp_path, command, same_bits):
    """Read back by rosbags and by mcap-ros2-support, of which neither is ours."""
    decoder = pytest.importorskip("mcap_ros2.reader", reason="mcap-ros2-support reads MCAP")
    folder, rig = kitti()
    lefts, rights = (sorted((folder / side).iterdir()) for side in ("left", "right"))
    assert len(lefts) == len(rights) == 30
    with BagFile(tmp_path / "in") as made:
        for i, pair in enumerate(zip(lefts, rights, strict=True)):
            made.pair(START + i * FRAME, *map(st.read_image, pair), rig)
    bag(tmp_path / "in", "-o", tmp_path / "out.mcap", "--disparity", "--depth", "--disparities", 64, "--device", "cpu")
    options = ["--disparities", 64, "--device", "cpu"]
    command("match", folder / "left", folder / "right", "-o", tmp_path / "d%06d.npy", *options)
    ours = read(tmp_path / "out.mcap")
    theirs = {}
    for message in decoder.read_ros2_messages(str(tmp_path / "out.mcap")):
        theirs.setdefault(message.channel.topic, []).append(message.ros_msg)
    for i in range(30):
        wanted = np.load(tmp_path / f"d{i:06d}.npy")
        by_rosbags, by_mcap = ours["/stereo/disparity"][i], theirs["/stereo/disparity"][i]
        same_bits(np.isnan(disparity_of(by_rosbags)), np.isnan(wanted))
        np.testing.assert_array_equal(disparity_of(by_rosbags), wanted)
        same_bits(disparity_of(by_mcap), disparity_of(by_rosbags))
        assert by_mcap.header.stamp.sec == 1_700_000_000 + i // 10
        depth = ros.array_of(theirs["/stereo/depth/image_rect"][i])
        valid = np.isfinite(depth)  # only measured pixels have depth
        assert valid.mean() > 0.5 and (wanted[valid] > 0).all()
        np.testing.assert_allclose(depth[valid], by_mcap.f * by_mcap.t / np.float64(wanted[valid]), rtol=1e-6)


def test_the_chessboard_pairs_are_rectified_as_match_does_it(tmp_path, command):
    """Raw cameras: a calibration that turns and bends, from the rig file as camera_info."""
    data = os.environ.get("STEREOPSIS_DATA")
    if not data:
        pytest.skip("STEREOPSIS_DATA names no folder of real scenes")
    folder = pathlib.Path(data) / "calibration" / "opencv_chessboard"
    lefts, rights = sorted(folder.glob("left*.jpg"))[:3], sorted(folder.glob("right*.jpg"))[:3]
    k = (536.0, 0.0, 342.0, 0.0, 536.0, 235.0, 0.0, 0.0, 1.0)
    angle = 0.02
    turn = (np.cos(angle), 0.0, np.sin(angle), 0.0, 1.0, 0.0, -np.sin(angle), 0.0, np.cos(angle))
    sides = {}
    for side, tx in (("left", 0.0), ("right", -536.0 * 3.3)):
        sides[side] = dict(
            height=480, width=640, distortion_model="plumb_bob", d=(-0.28, 0.06, 0.001, -0.001, 0.1), k=k, r=turn,
            p=(536.0, 0.0, 330.0, tx, 0.0, 536.0, 240.0, 0.0, 0.0, 0.0, 1.0, 0.0), binning_x=0, binning_y=0,
        )  # fmt: skip
    with BagFile(tmp_path / "in") as made:
        for i, pair in enumerate(zip(lefts, rights, strict=True)):
            for side, file in zip(("left", "right"), pair, strict=True):
                made.image(f"/rig/{side}/image_raw", START + i * FRAME, st.read_image(file))
                made.info(f"/rig/{side}/camera_info", START + i * FRAME, sides[side])
    options = ["--disparities", 96, "--method", "banz-sgm", "--device", "cpu", "--align-rows", "off"]
    bag(tmp_path / "in", "-o", tmp_path / "out", "--nan", *options)
    bag(tmp_path / "in", "--frames", tmp_path / "frames")
    cameras = ["--calib", tmp_path / "frames" / "rig.yml", "--raw"]
    command("match", lefts[0], rights[0], "-o", tmp_path / "d.npy", *cameras, *options)
    wanted = np.load(tmp_path / "d.npy")
    as_they_are = st.match(*map(st.read_image, (lefts[0], rights[0])), 96, "banz-sgm", device="cpu", align_rows="off").disparity
    assert np.isfinite(wanted).mean() > 0.3 and (as_they_are != wanted).mean() > 0.3
    np.testing.assert_array_equal(ros.array_of(read(tmp_path / "out")["/rig/disparity"][0].image), wanted)


@pytest.mark.parametrize("storage, name", [("mcap", "in"), ("ros1", "in.bag")])
@pytest.mark.parametrize("ending, options", [("png", []), ("jpg", [cv2.IMWRITE_JPEG_QUALITY, 95])])
def test_compressed_images_are_those_of_their_files(storage, name, ending, options, tmp_path, same_bits):
    """The topics have image_transport's names. A JPEG's expected pixels come from the library's reader."""
    kind = "sensor_msgs/CompressedImage"
    with BagFile(tmp_path / name, storage) as made:
        for i, pair in enumerate(generated(2)):
            for side, image in zip(("left", "right"), pair, strict=True):
                file = tmp_path / f"{side}{i}.{ending}"
                assert cv2.imwrite(str(file), image[..., ::-1], options)
                fields = dict(format=f"rgb8; {ending} compressed bgr8", data=np.fromfile(file, np.uint8))
                message = Bagged(made.store).make(kind, header=made.header(START + i * FRAME), **fields)
                made.write(f"/stereo/{side}/image_rect/compressed", kind.replace("/", "/msg/"), START + i * FRAME, message)
    bag(tmp_path / name, "-o", tmp_path / "out", *SMALL)
    for i, message in enumerate(read(tmp_path / "out")["/stereo/disparity"]):
        left, right = (st.read_image(tmp_path / f"{side}{i}.{ending}") for side in ("left", "right"))
        same_bits(disparity_of(message), st.match(left, right, 16, "banz-sgm", device="cpu").disparity)


@pytest.mark.parametrize("storage, name", [("mcap", "in"), ("sqlite3", "in"), ("ros1", "in.bag")])
@pytest.mark.parametrize("part", [0.5, 0.8])
def test_a_bag_that_is_cut_is_read_to_its_last_whole_message(storage, name, part, tmp_path):
    path = tmp_path / name
    image = np.random.default_rng(3).integers(0, 256, (150, 200)).astype(np.uint8)
    with BagFile(path, storage) as made:
        for i in range(30):
            made.pair(START + i * FRAME, image, image)
    file = path if storage == "ros1" else next(f for f in path.iterdir() if f.suffix != ".yaml")
    whole = file.stat().st_size
    cut = tmp_path / f"cut{file.suffix}"
    cut.write_bytes(file.read_bytes()[: int(whole * part)])
    with Bag(cut) as damaged:
        stamps = [ros.stamps.stamp_of(damaged.decoded(raw)) for raw in damaged.messages()]
        assert "cut off" in damaged.damage
    assert stamps == sorted(stamps) and len(stamps) >= 60 * part - 3  # two a pair
    said = bag(cut, "-o", tmp_path / "out.mcap", "--method", "banz-sgm", "--disparities", 16, "--device", "cpu")
    assert "cut off" in said and f"{len(stamps) // 2} pairs" in said
    assert len(read(tmp_path / "out.mcap")["/stereo/disparity"]) == len(stamps) // 2


def test_a_folder_whose_recorder_was_killed_has_no_metadata(tmp_path):
    small_bag(tmp_path / "in")
    (tmp_path / "in" / "metadata.yaml").unlink()
    assert len(list(Recording(tmp_path / "in"))) == 4


def test_what_is_not_ours_is_passed_on(tmp_path):
    with BagFile(tmp_path / "in.bag", "ros1") as made:
        for i, (left, right) in enumerate(generated(2)):
            made.pair(START + i * FRAME, left, right, SMALL_RIG)
            made.info("/elsewhere/camera_info", START + i * FRAME + 5, ros.info_fields(SMALL_RIG, "left"))
    bag(tmp_path / "in.bag", "-o", tmp_path / "out.bag", "--pass", "/else*", *SMALL)
    made = read(tmp_path / "out.bag")
    assert {topic: len(messages) for topic, messages in made.items()} == {"/stereo/disparity": 2, "/elsewhere/camera_info": 2}
    assert made["/elsewhere/camera_info"][0].K[0] == 90
    assert "of ROS 1 and the output of ROS 2" in bag(tmp_path / "in.bag", "-o", tmp_path / "o", "--pass", "*", *SMALL, code=2)


END_AT_THE_TWELFTH = """
import os, sys
from stereopsis.__main__ import main
from stereopsis.ros.bags import run
from stereopsis.ros.bags.writing import BagWriter
how, run.PART_SECONDS = int(sys.argv[1]), float(sys.argv[2])
write, count = BagWriter.write, 0
def counted(*arguments):
    global count
    write(*arguments)
    count += 1
    if count == 12:
        os.kill(os.getpid(), how)
BagWriter.write = counted
sys.exit(main(["bag", *sys.argv[3:]]))
"""


def test_a_run_that_goes_on_searches_what_was_estimated(tmp_path):
    begun = Segments(tmp_path / "out", "mcap", {"a": 1}, False)
    begun.finish(begun.open(), Done(3, 2, (4, 20)))
    assert Segments(tmp_path / "out", "mcap", {"a": 1}, True).done == Done(3, 2, (4, 20))


def test_numbers_of_the_call_that_are_not_allowed(tmp_path):
    source = small_bag(tmp_path / "in", count=2)
    for words, said in (
        (["--fill-depth"], "--fill-depth applies to --depth and --points"),
        (["--depth", "--measured-only"], "--measured-only applies to --disparity"),
        (["--queue", 0], "--queue 0 is not allowed"),
        (["--approximate", -1], "--approximate -1.0 is not allowed"),
        (["--min-disparity", -40], "give both, or neither"),
        (["--report", tmp_path / "none/x.json"], "in a folder that does not exist"),
    ):
        assert said in bag(source, "-o", tmp_path / "out", *words, code=2)


def test_a_report_replaces_neither_the_bag_nor_a_calibration_nor_the_result(tmp_path):
    source, calib = small_bag(tmp_path / "in", count=2), tmp_path / "calib.txt"
    calib.write_text("cam0=[100 0 40; 0 100 30; 0 0 1]\ncam1=[100 0 40; 0 100 30; 0 0 1]\ndoffs=0\nbaseline=50\nwidth=80\nheight=60\n")
    file = next(one for one in source.iterdir() if one.suffix == ".mcap") if source.is_dir() else source
    before = {one: one.read_bytes() for one in (file, calib)}
    out = tmp_path / "out.mcap"
    for report, said in ((file, "is also the bag"), (calib, "is also --calib"), (out, "is also -o")):
        assert said in bag(source, "-o", out, "--calib", calib, "--report", report, *SMALL, code=2)
    assert {one: one.read_bytes() for one in before} == before and not out.exists()
    assert "--frames writes none" in bag(source, "--frames", tmp_path / "frames", "--report", tmp_path / "r.json", code=2)


@pytest.mark.parametrize("how, seconds, parts", [(signal.SIGINT, 60, 2), (signal.SIGTERM, 60, 2), (signal.SIGKILL, 0, 12)])
def test_a_run_that_was_interrupted_goes_on(tmp_path, how, seconds, parts):
    source = small_bag(tmp_path / "in", count=20)
    call = [source, "-o", tmp_path / "out", "--pass", "/stereo/left/camera_info", *SMALL]
    words = [sys.executable, "-c", END_AT_THE_TWELFTH, int(how), seconds, *call]
    ended = subprocess.run(list(map(str, words)), capture_output=True, text=True)
    if how == signal.SIGKILL:
        assert ended.returncode == -how
    else:
        assert ended.returncode == 128 + how and "pairs are done; continue with --resume" in ended.stderr, ended.stderr
    assert not (tmp_path / "out").exists()
    assert "continue with --resume" in bag(*call, code=2)
    assert "another call: nan was False and is True" in bag(*call, "--nan", "--resume", code=2)
    bag(*call, "--resume")
    assert len(list((tmp_path / "out").glob("*.mcap"))) == parts and not list(tmp_path.glob(".*parts"))
    bag(source, "-o", tmp_path / "whole", *call[3:])
    ours, whole = read(tmp_path / "out"), read(tmp_path / "whole")
    assert {t: len(m) for t, m in ours.items()} == dict.fromkeys(whole, 20)
    for one, other in zip(ours["/stereo/disparity"], whole["/stereo/disparity"], strict=True):
        assert bytes(one.image.data) == bytes(other.image.data) and ros.stamps.stamp_of(one) == ros.stamps.stamp_of(other)
    assert "exists already" in bag(*call, "--resume", code=2)


def test_rows_follow_the_sequence_and_a_run_that_goes_on_has_the_same(tmp_path):
    offsets = [0.5, 0.9, 0.2, 0.6, 0.5, 0.4, 0.7, 0.5, 0.3, 0.6, 0.5, 0.9, 0.1, 0.5]
    with BagFile(tmp_path / "in") as made:
        for i, offset in enumerate(offsets):
            moved = st.synth("table", width=240, height=180, disparities=16, noise=2, seed=7, vertical_offset=offset)
            made.pair(START + i * FRAME, moved.left, moved.right, SMALL_RIG)
    report = tmp_path / "report.json"
    said = bag(tmp_path / "in", "-o", tmp_path / "whole", "--report", report, *SMALL[:-1])
    assert "rows of 14 of 14 pairs aligned (median 0.49 px)" in said
    rows = json.loads(report.read_text())["rows"]
    assert [row["offset"] for row in rows] == pytest.approx([-v for v in offsets], abs=0.05) and all(row["aligned"] for row in rows)
    assert rows[1]["stamp"] == "1700000000.100000000"
    call = [tmp_path / "in", "-o", tmp_path / "out", *SMALL]
    words = [sys.executable, "-c", END_AT_THE_TWELFTH, int(signal.SIGKILL), 0, *call]
    assert subprocess.run(list(map(str, words))).returncode == -signal.SIGKILL
    bag(*call, "--resume", "--report", report)
    resumed = json.loads(report.read_text())["rows"]
    assert 0 < len(resumed) < 14 and resumed == rows[-len(resumed) :]
    for one, other in zip(*(read(tmp_path / name)["/stereo/disparity"] for name in ("out", "whole")), strict=True):
        assert bytes(one.image.data) == bytes(other.image.data)
    bag(tmp_path / "in", "-o", tmp_path / "off", "--align-rows", "off", "--report", report, *SMALL)
    assert json.loads(report.read_text())["rows"] == []
    assert "--align-rows x is not allowed" in bag(tmp_path / "in", "-o", tmp_path / "x", "--align-rows", "x", *SMALL, code=2)


def test_shutters_that_are_out_of_step_are_said_once(tmp_path):
    moving = st.synth("table", width=320, height=340, disparities=16)
    first_row = [round(60 + 20 * np.sin(0.7 * i) + 9 * np.sin(1.9 * i)) for i in range(-1, 27)]
    with BagFile(tmp_path / "in") as made:
        for i, (before, now, after) in enumerate(zip(first_row, first_row[1:], first_row[2:])):
            right, _ = st.align_rows(moving.right, st.RowAlignment(0.04 * (before - after) / 2))
            made.pair(START + i * FRAME, moving.left[now : now + 240], right[now : now + 240], SMALL_RIG)
    said = bag(tmp_path / "in", "-o", tmp_path / "out", "--report", tmp_path / "report.json", *SMALL)
    assert said.count("earlier than the left one; trigger both cameras at the same time") == 1
    assert json.loads((tmp_path / "report.json").read_text())["warnings"] == {"shutters out of step": 1}


def test_a_rig_that_moves_is_corrected_and_written(tmp_path):
    with BagFile(tmp_path / "in") as made:
        for i, (left, right) in enumerate(moving_rig.pairs(26)):
            made.pair(START + i * FRAME, left, right, moving_rig.RIG)
    call = [tmp_path / "in", "-o", tmp_path / "out", "--track-rig", tmp_path / "rig.yml", "--disparities", "24", "--device", "cpu", "--quiet"]
    said = bag(*call)
    assert said.count("the rows have jumped") == 1 and "is corrected by pitch 0." in said
    assert np.degrees(st.read_calibration(tmp_path / "rig.yml").rotation[7]) == pytest.approx(moving_rig.BUMP[0], abs=0.02)
    assert "leave --resume out" in bag(*call, "--resume", code=2)
    assert "is not allowed; the calibration is written as .yml" in bag(*call[:3], "--track-rig", "rig.txt", *SMALL, code=2)


@pytest.mark.parametrize("output", ["out.mcap", "out.bag"])
def test_parts_become_one_file(tmp_path, output):
    source = small_bag(tmp_path / "in", count=14)
    call = [source, "-o", tmp_path / output, *SMALL]
    words = [sys.executable, "-c", END_AT_THE_TWELFTH, int(signal.SIGKILL), 0, *call]
    assert subprocess.run(list(map(str, words))).returncode == -signal.SIGKILL
    bag(*call, "--resume")
    assert len(read(tmp_path / output)["/stereo/disparity"]) == 14


def test_drops_and_gaps_are_reported_exactly(tmp_path):
    with BagFile(tmp_path / "in") as made:
        for i in range(100):
            image = np.full((48, 64), i, np.uint8)
            made.image("/stereo/left/image_rect", START + i * FRAME, image)
            if i % 10 != 5:
                made.image("/stereo/right/image_rect", START + i * FRAME, image)
    bag(tmp_path / "in", "-o", tmp_path / "out", "--report", tmp_path / "report.json", *SMALL)
    report = json.loads((tmp_path / "report.json").read_text())
    assert (report["pairs"], report["left_out"], report["damage"]) == (90, 0, None)
    left, right = (report["topics"][f"/stereo/{side}/image_rect"] for side in ("left", "right"))
    assert left == dict(messages=100, paired=90, alone=10, repeated=0, jumps_back=0, largest_gap=0.1, gap_after="1700000000.000000000")
    assert right == {**left, "messages": 90, "alone": 0, "largest_gap": 0.2, "gap_after": "1700000000.400000000"}


def test_memory_is_flat_over_a_thousand_messages(tmp_path):
    """1,000 left images of 1280×720, every tenth dropped on the right."""
    rng = np.random.default_rng(1)
    image = np.kron(rng.integers(0, 255, (45, 80)).astype(np.uint8), np.ones((16, 16), np.uint8))
    with BagFile(tmp_path / "in.bag", "ros1", compressed=True) as made:
        for i in range(1000):
            made.image("/stereo/left/image_rect", START + i * FRAME, image)
            if i % 10 != 5:
                made.image("/stereo/right/image_rect", START + i * FRAME, image)
    recording = Recording(tmp_path / "in.bag")
    peaks = []
    for count, _ in enumerate(recording):
        if count in (100, 899):
            peaks.append(int(next(line for line in open("/proc/self/status") if line.startswith("VmRSS")).split()[1]))
    left, right = recording.counts.values()
    assert count + 1 == 900 and (left.alone, right.alone, right.largest_gap) == (100, 0, 2 * FRAME)
    assert peaks[1] - peaks[0] < 20_000, peaks  # kilobytes; a pair has 1,843


def test_broken_messages_are_said_and_passed_over(tmp_path):
    with BagFile(tmp_path / "in") as made:
        for i, (left, right) in enumerate(generated(6)):
            if i == 3:
                left = left.astype(np.uint16)[..., 0]
            made.pair(START + i * FRAME, left, right, SMALL_RIG)
            if i == 1:
                made.raw("/stereo/left/image_rect", "sensor_msgs/msg/Image", START + i * FRAME + 7, b"\0\1\0\0nonsense")
    said = bag(tmp_path / "in", "-o", tmp_path / "out", "--report", tmp_path / "r.json", *SMALL)
    lines = said.splitlines()
    assert len(lines) == 2
    assert "/stereo/left/image_rect, recorded at 1700000000.100000007: the bytes are not a sensor_msgs/msg/Image" in lines[0]
    assert "right/image_rect at 1700000000.300000000 are 96×64 uint16 and 96×64 uint8, so the pair is skipped" in lines[1]
    report = json.loads((tmp_path / "r.json").read_text())
    assert (report["pairs"], report["left_out"]) == (5, 1)


def test_cameras_of_the_call_replace_those_of_the_bag(tmp_path, same_bits):
    r = SMALL_RIG
    with BagFile(tmp_path / "none") as made:
        for i, (left, right) in enumerate(generated(2)):
            made.pair(START + i * FRAME, left, right)
    cameras = "".join(f"cam{k}=[{r.focal} 0 {cx}; 0 {r.focal} {r.cy}; 0 0 1]\n" for k, cx in enumerate((r.cx_left, r.cx_right)))
    (tmp_path / "calib.txt").write_text(f"{cameras}doffs={r.cx_right - r.cx_left}\nbaseline=100\nwidth=96\nheight=64\nndisp=16\n")  # in mm
    bag(small_bag(tmp_path / "in", "mcap", 2), "-o", tmp_path / "infos.mcap", "--depth", *SMALL)
    bag(tmp_path / "none", "-o", tmp_path / "file.mcap", "--depth", "--calib", tmp_path / "calib.txt", *SMALL)
    bag(tmp_path / "none", "-o", tmp_path / "numbers.mcap", "--depth", "--focal", r.focal, "--baseline", "10cm", *SMALL)
    of_infos, of_file, of_numbers = (
        [ros.array_of(one) for one in read(tmp_path / f"{name}.mcap")["/stereo/depth/image_rect"]] for name in ("infos", "file", "numbers")
    )
    for a, b, c in zip(of_infos, of_file, of_numbers, strict=True):
        same_bits(a, b)
        there = np.isfinite(a) & np.isfinite(c)  # the numbers have both principal points at the same column
        np.testing.assert_allclose(r.focal * r.baseline * (1 / c[there] - 1 / a[there]), r.cx_left - r.cx_right, atol=1e-3)
        assert there.sum() > 1000
    for words, sentence in [
        (["--focal", "90"], "--focal and --baseline must be given together"),
        (["--calib", "a.txt", "--focal", "90", "--baseline", "1m"], "both describe the cameras"),
        (["--lens", "radtan"], "apply to the file of --calib"),
        (["--focal", "90", "--baseline", "2 parsec"], "--baseline"),
    ]:
        assert sentence in bag(tmp_path / "none", "-o", tmp_path / "no.mcap", *words, *SMALL, code=2)


def test_a_run_without_a_result_fails(tmp_path):
    left, right = generated()[0]
    for name, later, size, infos, words, sentence in [
        ("alone", 12_000_000, 64, False, [], "the nearest ones differ by 12 ms; give --approximate 0.015"),
        ("sizes", 0, 60, False, [], "has no usable pair of"),
        ("together", 0, 64, True, ["--depth"], "none of the 2 pairs of"),
        ("both", 0, 64, True, ["--depth", "--disparity"], "has no depth, because none of the 2 pairs of"),
    ]:
        with BagFile(tmp_path / name) as made:
            for k in range(2):
                made.image("/stereo/left/image_rect", START + k * FRAME, left)
                made.image("/stereo/right/image_rect", START + k * FRAME + later, right[:size])
                for side in ("left", "right") if infos else ():  # both cameras are at the same place
                    fields = ros.info_fields(SMALL_RIG, side, (96, 64))
                    made.info(f"/stereo/{side}/camera_info", START + k * FRAME, {**fields, "p": (*fields["p"][:3], 0.0, *fields["p"][4:])})
        with contextlib.redirect_stderr(io.StringIO()) as said:
            assert main(["bag", str(tmp_path / name), "-o", str(tmp_path / f"{name}.mcap"), *words, *SMALL]) == 1
        assert sentence in said.getvalue().splitlines()[-1]
        assert not infos or "P[3] of /stereo/right/camera_info is 0, so the baseline is not known" in said.getvalue()


def test_pixels_of_16_bits_may_begin_anywhere(tmp_path, same_bits):
    left, right = (np.ascontiguousarray(image[..., 0] if image.ndim == 3 else image).astype(np.uint16) * 200 for image in generated()[0])
    with BagFile(tmp_path / "odd") as made:
        for side, image in (("left", left), ("right", right)):
            message = made.messages.image(made.header(START), image, "mono16")
            rows = np.zeros((64, 2 * 96 + 1), np.uint8)  # an odd number of bytes
            rows[:, :-1] = image.view(np.uint8)
            message.step, message.data = rows.shape[1], rows.ravel()
            made.write(f"/stereo/{side}/image_rect", IMAGE, START, message)
    bag(tmp_path / "odd", "-o", tmp_path / "out.mcap", "--nan", *SMALL)
    made = read(tmp_path / "out.mcap")["/stereo/disparity"][0]
    same_bits(ros.array_of(made.image), st.match(left, right, 16, "banz-sgm", device="cpu").disparity)


def test_pairs_that_seem_wrong_are_reported(tmp_path):
    names = ("table", "clutter", "room", "garden", "street", "planes")
    scenes = [st.synth(name, width=320, height=240, disparities=16) for name in names]
    with BagFile(tmp_path / "in") as made:
        for i in range(6):  # the right eye is late from pair 3 on
            made.pair(START + i * FRAME, scenes[i].left, scenes[i - (i > 2)].right, SMALL_RIG)
    said = bag(tmp_path / "in", "-o", tmp_path / "out", "--report", tmp_path / "r.json", *SMALL, "--method", "sgm")
    assert said.count("right is a frame late: it fits the left image before it") == 1
    assert json.loads((tmp_path / "r.json").read_text())["warnings"] == {"pair: a frame late": 3}


def spoilt(data, rng):
    """Cut off, with bytes changed, with a number that lies, or with more behind."""
    data, at = bytearray(data), int(rng.integers(len(data) - 8))
    match rng.integers(4):
        case 0:
            return data[:at]
        case 1:
            data[at] = rng.integers(256)
        case 2:
            data[at : at + 4] = rng.choice([b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", b"\0\0\0\0", b"\0\0\xc0\x7f"])
        case 3:
            data += rng.bytes(int(rng.integers(1, 64)))
    return data


@pytest.mark.parametrize("storage, name", [("mcap", "in"), ("ros1", "in.bag")])
def test_whatever_bytes_messages_have_the_run_goes_on(storage, name, tmp_path):
    """The images and cameras of 400 pairs are damaged; only the last pair is whole."""
    rng, said, count = np.random.default_rng(5), [], 400
    with BagFile(tmp_path / name, storage) as made:
        for i, (left, right) in enumerate(generated(count)):
            write = made.raw
            if i < count - 1:
                made.raw = lambda topic, kind, time, data, write=write: write(topic, kind, time, bytes(spoilt(bytes(data), rng)))
            made.pair(START + i * FRAME, left[:16, :24], right[:16, :24], SMALL_RIG, "image_raw")
            made.raw = write
    pairs = list(Recording(tmp_path / name, notes=ros.Notes(said.append)))
    assert pairs[-1].stamp == START + (count - 1) * FRAME and pairs[-1].cameras is not None
    assert len(pairs) < count // 2 and 3 < len(said) < 12
    assert all("/stereo/" in line and "17000000" in line for line in said)


def test_a_call_that_is_wrong_is_refused_in_one_sentence(tmp_path):
    source = small_bag(tmp_path / "in")
    (tmp_path / "text.mcap").write_text("no bag")
    for words, said in [
        ([tmp_path / "none.mcap", "-o", "x"], "does not exist"),
        ([tmp_path / "text.mcap", "-o", "x"], "no message in it is complete"),
        ([source], "the call has no output"),
        ([source, "-o", tmp_path / "x.txt"], "ends in .txt"),
        ([source, "-o", tmp_path / "x", "--left", "/no"], "there is no image topic '/no'; there are: /stereo/left/image_rect"),
        ([source, "-o", tmp_path / "x", "--near", "1"], "must be given together"),
        ([source, "-o", tmp_path / "x", "--pass", "/no"], "--pass /no matches no topic"),
        ([source, "-o", tmp_path / "x", "--method", "magic"], "magic"),
    ]:
        done = bag(*words, code=1 if said in ("does not exist", "no message in it is complete") else 2)
        assert said in done and done.count("\n") == 1
    assert not (tmp_path / "x").exists()


def test_near_and_far_are_the_range(tmp_path):
    source = small_bag(tmp_path / "in", count=1)
    bag(source, "-o", tmp_path / "out", "--near", 0.6, "--far", 5, "--method", "banz-sgm", "--device", "cpu")
    (message,) = read(tmp_path / "out")["/stereo/disparity"]
    first, end = SMALL_RIG.range(0.6, 5)
    assert (message.min_disparity, message.max_disparity) == (first - 2, end - 1 - 2)


def by_name(*words, code=0, **environment):
    """Runs the compiled command, which starts this environment's package for bags, and returns its output."""
    program = os.environ.get("STEREOPSIS_COMMAND") or pathlib.Path(st.__file__).parent / "bin" / "stereopsis"
    done = subprocess.run(
        [program, *map(str, words)], capture_output=True, text=True,
        env={**os.environ, "STEREOPSIS_PYTHON": sys.executable, **environment},
    )  # fmt: skip
    if "requires OpenCV" in done.stderr:
        pytest.skip("the command was built without OpenCV")
    assert done.returncode == code, done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize("storage, name", [("ros1", "in.bag"), ("mcap", "in"), ("sqlite3", "in")])
def test_match_takes_bags(tmp_path, storage, name):
    source = small_bag(tmp_path / name, storage, count=2)
    by_name("match", source, "-o", tmp_path / "d%06d.npy", "--depth", tmp_path / "z%06d.npy", *SMALL[:-1])
    for i, pair in enumerate(generated(2)):
        wanted = st.match(*pair, 16, "banz-sgm", device="cpu", rig=SMALL_RIG, want=["depth"])
        np.testing.assert_array_equal(np.load(tmp_path / f"d{i:06d}.npy"), wanted.disparity)
        np.testing.assert_allclose(np.load(tmp_path / f"z{i:06d}.npy"), wanted.depth, rtol=1e-6)


def test_check_and_rectify_take_bags(tmp_path):
    (left, right), *_ = generated(1)
    with BagFile(tmp_path / "in") as made:
        for side, image in (("left", left), ("right", right)):
            fields = ros.info_fields(SMALL_RIG, side, (image.shape[1], image.shape[0]))
            made.info(f"/stereo/{side}/camera_info", START, fields | {"d": (-0.2, 0.02, 0.0, 0.0, 0.0)})
            made.image(f"/stereo/{side}/image_raw", START, image)
    (tmp_path / "rectified").mkdir()
    by_name("rectify", tmp_path / "in", "-o", tmp_path / "rectified")
    (file,) = (tmp_path / "rectified" / "left").iterdir()
    calibration = next(iter(Recording(tmp_path / "in"))).cameras.calibration
    np.testing.assert_array_equal(st.read_image(file), st.Rectification(calibration)(left, right)[0])
    assert "96×64" in by_name("check", tmp_path / "in", code=1)  # too small to be judged


def test_evaluate_takes_bags(tmp_path):
    with BagFile(tmp_path / "in.bag", "ros1") as made:
        made.pair(START, *generated(1)[0])
    bag(tmp_path / "in.bag", "-o", tmp_path / "found", *SMALL)
    truth = st.match(*generated(1)[0], 16, "banz-sgm", device="cpu").disparity
    st.write_pfm(tmp_path / "truth.pfm", truth)
    by_name("evaluate", tmp_path / "found", "--truth", tmp_path / "truth.pfm", "--json", tmp_path / "measures.json")
    assert json.loads((tmp_path / "measures.json").read_text())["measures"]["avgerr"] == 0


def test_calibrate_takes_bags(tmp_path):
    """The chessboard's pairs as raw cameras: what comes is what the pictures give."""
    data = os.environ.get("STEREOPSIS_DATA")
    if not data:
        pytest.skip("STEREOPSIS_DATA names no folder of real scenes")
    folder = pathlib.Path(data) / "calibration" / "opencv_chessboard"
    with BagFile(tmp_path / "in") as made:
        for i, left in enumerate(sorted(folder.glob("left*.jpg"))):
            right = left.with_name(left.name.replace("left", "right"))
            made.pair(START + i * FRAME, st.read_image(left), st.read_image(right), name="image_raw")
    board = ["--board", "chessboard:9x6:25mm"]
    said = by_name("calibrate", tmp_path / "in", *board, "-o", tmp_path / "bag.yml")
    assert "13" in said
    by_name("calibrate", "--left", folder / "left*.jpg", "--right", folder / "right*.jpg", *board, "-o", tmp_path / "files.yml")
    ours, files = (st.read_calibration(tmp_path / f"{name}.yml").rig for name in ("bag", "files"))
    assert (ours.focal, ours.baseline) == pytest.approx((files.focal, files.baseline), rel=1e-6)


def test_what_is_no_call_of_a_bag_is_refused(tmp_path):
    assert "--for requires a call of match, check, rectify, calibrate, evaluate" in bag("--for", "bench", small_bag(tmp_path / "in"), code=2)
    said = by_name("match", tmp_path / "in", "-o", tmp_path, "--resume", code=2)
    assert "--resume cannot be used with the images of a bag" in said and "-o OUT --resume" in said
    with BagFile(tmp_path / "two") as made:
        for camera in ("front", "rear"):
            for side, image in zip(("left", "right"), generated(1)[0], strict=True):
                made.image(f"/{camera}/{side}/image_rect", START, image)
    said = by_name("match", tmp_path / "two", "-o", tmp_path / "d.npy", code=2)
    assert "several pairs of cameras" in said and f"stereopsis bag {tmp_path / 'two'} --frames" in said
    assert "'none.mcap' does not exist" in by_name("match", "none.mcap", "-o", tmp_path / "d.npy", code=1)
    assert "is a command of the Python package, and /none cannot be run" in by_name("match", "x.bag", code=1, STEREOPSIS_PYTHON="/none")


TYPES = {"image": "sensor_msgs/msg/Image", "packed": "sensor_msgs/msg/CompressedImage", "info": "sensor_msgs/msg/CameraInfo"}


def topics(**kinds):
    return {topic: TYPES[kind] for kind, names in kinds.items() for topic in names.split()}


@pytest.mark.parametrize(
    "there, left, info",
    [
        (topics(image="/s/left/image_raw /s/right/image_raw /s/left/image_rect /s/right/image_rect", info="/s/left/camera_info"),
         "/s/left/image_rect", "/s/left/camera_info"),
        (topics(image="/cam0/image_raw /cam1/image_raw /imu"), "/cam0/image_raw", None),
        (topics(packed="/c/infra1/image_rect_raw/compressed /c/infra2/image_rect_raw/compressed", info="/c/infra1/camera_info"),
         "/c/infra1/image_rect_raw/compressed", "/c/infra1/camera_info"),
        (topics(image="/zed/left/image_rect_color /zed/right/image_rect_color /zed/left/image_rect_gray /zed/right/image_rect_gray"),
         "/zed/left/image_rect_color", None),
    ],
)  # fmt: skip
def test_the_pair_is_found_by_name(there, left, info):
    assert (found(there).left, found(there).left_info) == (left, info)


def test_topics_that_are_no_pair_or_several_are_asked_for():
    with pytest.raises(st.CallError, match="several pairs of cameras, /front/left/image and /front/right/image; /rear/left"):
        found(topics(image="/front/left/image /front/right/image /rear/left/image /rear/right/image"))
    with pytest.raises(st.CallError, match="no two image topics are a left and a right one; name two of these with --left and --right: /depth/image"):
        found(topics(image="/depth/image"))
    there = topics(image="/a/one /b/two", info="/a/camera_info")
    assert found(there, "/b/two", "/a/one").right_info == "/a/camera_info"


def test_names_say_whether_images_are_rectified_and_where_results_belong():
    assert is_raw("/left/image_raw") and is_raw("/rect/image") and not is_raw("/left/image_rect_color/compressed")
    assert namespace_of(ros.Topics("/s/left/image", "/s/right/image")) == "/s"
    assert namespace_of(ros.Topics("/cam0/image", "/cam1/image")) == ""


def test_the_list_says_what_is_there(tmp_path):
    listed = bag(small_bag(tmp_path / "in"), "--list")
    assert "/stereo/left/image_rect    sensor_msgs/msg/Image       4" in listed
    assert "pair: /stereo/left/image_rect and /stereo/right/image_rect (rectified)" in listed
