"""Messages ↔ arrays, cameras ↔ rig, and what a result becomes: the same for ROS 1, ROS 2 and bags."""

import struct
from types import SimpleNamespace as Message

import numpy as np
import pytest
import stereopsis as st
from stereopsis import ros
from stereopsis.ros import stamps
from stereopsis.ros.bayer import demosaiced
from stereopsis.ros.images import grey_of
from stereopsis.ros.results import Results, Shape

rosbags = pytest.importorskip("rosbags", reason="rosbags has the messages' types")
from rosbags.typesys import Stores, get_typestore  # noqa: E402

FAMILIES = {"ros1": ros.Bagged(get_typestore(Stores.ROS1_NOETIC)), "ros2": ros.Bagged(get_typestore(Stores.ROS2_HUMBLE))}
RANDOM = np.random.default_rng(5)


@pytest.fixture(params=FAMILIES)
def family(request):
    return FAMILIES[request.param]


@pytest.fixture
def messages(family):
    return ros.Messages(family)


def image(array, encoding, big=False, gap=0):
    """An Image as a driver sends it: with gaps behind its rows, and in another order of bytes."""
    stored = array.astype(array.dtype.newbyteorder(">" if big else "<"))
    rows = stored.reshape(array.shape[0], -1).view(np.uint8)
    padded = np.pad(rows, ((0, 0), (0, gap)), constant_values=77)
    return Message(
        width=array.shape[1],
        height=array.shape[0],
        encoding=encoding,
        is_bigendian=int(big),
        step=padded.shape[1],
        data=padded.tobytes(),
    )


def info(**more):
    f, cx, cy = more.pop("f", 500.0), more.pop("cx", 320.0), more.pop("cy", 240.0)
    tx = more.pop("tx", 0.0)
    fields = dict(
        width=640,
        height=480,
        distortion_model="plumb_bob",
        d=[0.0] * 5,
        k=[f, 0, cx, 0, f, cy, 0, 0, 1],
        r=[1, 0, 0, 0, 1, 0, 0, 0, 1],
        p=[f, 0, cx, tx, 0, f, cy, 0, 0, 0, 1, 0],
        binning_x=0,
        binning_y=0,
        roi=Message(x_offset=0, y_offset=0, width=0, height=0, do_rectify=False),
    )
    return Message(**{**fields, **more})


def rig_of(left, right, raw=False):
    return ros.cameras_of(ros.Camera.of(left), ros.Camera.of(right), raw).rig


@pytest.mark.parametrize("gap", [0, 3])
@pytest.mark.parametrize("big", [False, True])
@pytest.mark.parametrize(
    "encoding, dtype, channels",
    [("mono8", "u1", 1), ("mono16", "u2", 1), ("16UC1", "u2", 1), ("32FC1", "f4", 1), ("rgb8", "u1", 3), ("bgr8", "u1", 3),
     ("rgba8", "u1", 4), ("bgra16", "u2", 4), ("rgb16", "u2", 3), ("8UC3", "u1", 3)],
)  # fmt: skip
def test_every_encoding_gives_the_pixels(encoding, dtype, channels, big, gap, same_bits):
    pixels = RANDOM.integers(0, 200, (5, 7, channels)).astype(dtype)
    array = ros.array_of(image(pixels, encoding, big, gap * np.dtype(dtype).itemsize))
    wanted = pixels[..., 0] if channels == 1 else pixels[..., :3]
    if encoding.startswith(("bgr", "8UC3")):
        wanted = wanted[..., ::-1]
    same_bits(np.ascontiguousarray(array), np.ascontiguousarray(wanted))


def test_what_lies_as_it_should_is_not_copied():
    data = np.arange(60, dtype=np.uint8)
    for encoding, width, step in (("mono8", 8, 10), ("rgb8", 3, 10)):
        message = Message(width=width, height=6, encoding=encoding, is_bigendian=0, step=step, data=data)
        assert np.shares_memory(ros.array_of(message), data)


def test_luma_is_taken_of_interleaved_chroma():
    luma = RANDOM.integers(0, 256, (4, 6)).astype(np.uint8)
    chroma = np.full_like(luma, 128)
    for encoding, planes in (("yuv422", (chroma, luma)), ("yuv422_yuy2", (luma, chroma))):
        assert (ros.array_of(image(np.stack(planes, 2), encoding)) == luma).all()


@pytest.mark.parametrize("pattern", ["rggb", "bggr", "gbrg", "grbg"])
@pytest.mark.parametrize("bits", [8, 16])
def test_bayer_patterns_give_colours_back(pattern, bits):
    dtype = np.dtype(f"u{bits // 8}")
    y, x = np.mgrid[0:11, 0:14]
    ramp = np.stack([10 * x + 3, 4 * y + 6 * x, 12 * y + 20], 2).astype(dtype)  # bilinear interpolation is exact on it
    site = np.array([["rgb".index(pattern[2 * (j % 2) + i % 2]) for i in range(14)] for j in range(11)])
    mosaic = np.take_along_axis(ramp, site[..., None], 2)[..., 0]
    made = ros.array_of(image(mosaic, f"bayer_{pattern}{bits}"))
    assert made.dtype == dtype
    np.testing.assert_array_equal(made[1:-1, 1:-1], ramp[1:-1, 1:-1])
    flat = np.array([9, 90, 200], dtype)[site]
    assert (demosaiced(flat, pattern) == np.array([9, 90, 200])).all()  # borders too


def test_compressed_images_are_decoded(tmp_path, scene, command):
    command("synth", "-o", tmp_path, "--width", 64, "--height", 48)
    lossless = Message(format="png", data=(tmp_path / "left.png").read_bytes())
    np.testing.assert_array_equal(ros.array_of(lossless), st.read_image(tmp_path / "left.png"))
    with pytest.raises(st.FormatError):
        ros.array_of(Message(format="jpeg", data=b"\xff\xd8\xff\xe0 and no more"))


def test_an_image_that_lies_is_refused():
    good = dict(width=8, height=4, encoding="mono8", is_bigendian=0, step=8, data=bytes(32))
    lies = [
        (dict(data=bytes(31)), "data has 31 bytes, but 4 rows of 8 bytes require 32"),
        (dict(data=bytes(33)), "33 bytes"),
        (dict(step=7), "step is 7"),
        (dict(width=0), "size is 0×4"),
        (dict(width=2**31 - 1, height=2**31 - 1, step=2**31 - 1), "size is"),
        (dict(encoding="mono9"), "encoding 'mono9' is not known"),
        (dict(encoding="\x1b[31m" + "x" * 100), r"encoding '\?\[31mx+' is not known"),
    ]
    for change, said in lies:
        with pytest.raises(st.FormatError, match=said):
            ros.array_of(Message(**{**good, **change}))


def test_grey_is_the_librarys(scene):
    grey = grey_of(scene.left)
    pair = [scene.left, scene.right], [grey, grey_of(scene.right)]
    colour, ours = (st.match(*images, 32, "banz-sgm", device="cpu", align_rows="off").disparity for images in pair)
    np.testing.assert_array_equal(colour, ours)


def test_a_rig_comes_from_camera_info_with_its_signs():
    rig = rig_of(info(), info(tx=-60.0, cx=310.0))
    assert (rig.focal, rig.baseline, rig.cx_left, rig.cx_right, rig.cy, rig.unit) == (500, 0.12, 320, 310, 240, "m")
    assert rig.size == (640, 480)
    assert rig.depth(30) == 500 * 0.12 / (30 - 10)
    with pytest.raises(st.FormatError, match="swap the cameras"):
        rig_of(info(), info(tx=60.0))
    with pytest.raises(st.FormatError, match="have the baseline 0"):
        rig_of(info(), info())


def test_a_left_camera_that_is_not_the_origin_counts():  # KITTI's colour cameras
    assert rig_of(info(tx=20.0), info(tx=-40.0)).baseline == pytest.approx(0.12)


def test_binning_and_regions_are_those_of_image_geometry():
    region = Message(x_offset=100, y_offset=40, width=400, height=300, do_rectify=True)
    camera = ros.Camera.of(info(tx=-60.0, binning_x=2, binning_y=2, roi=region))
    assert camera.size == (200, 150)
    assert camera.projection == (250, 0, 110, -30, 0, 250, 100, 0, 0, 0, 1, 0)
    assert camera.matrix == (250, 0, 110, 0, 250, 100, 0, 0, 1)
    rig = rig_of(info(roi=region), info(tx=-60.0, roi=Message(**{**vars(region), "x_offset": 90})))
    assert rig.cx_left - rig.cx_right == -10 and rig.baseline == pytest.approx(0.12)


def test_raw_cameras_are_rectified_as_the_library_does_it(tmp_path):
    turned = [0.999, 0.02, 0.04, -0.02, 0.9998, 0.001, -0.04, -0.002, 0.9992]
    u, _, v = np.linalg.svd(np.reshape(turned, (3, 3)))
    left = info(d=[-0.2, 0.05, 0.001, -0.002, 0.0], r=list((u @ v).ravel()))
    right = info(d=[-0.25, 0.06, 0, 0, 0], tx=-60.0)
    cameras = ros.cameras_of(ros.Camera.of(left), ros.Camera.of(right), raw=True)
    assert cameras.calibration.size == (640, 480)
    cameras.calibration.write(tmp_path / "rig.yml")
    image = RANDOM.integers(0, 255, (480, 640)).astype(np.uint8)
    ours = st._native.Rectification(cameras.calibration)(image, image)
    theirs = st._native.Rectification(st.read_calibration(tmp_path / "rig.yml"))(image, image)
    assert (ours[0] != image).mean() > 0.5
    np.testing.assert_array_equal(ours[0], theirs[0])
    straight = ros.cameras_of(ros.Camera.of(info()), ros.Camera.of(info(tx=-60.0)), raw=True)
    assert straight.calibration is None  # there is nothing to rectify


def test_cameras_that_nobody_calibrated_are_none():
    zero = info(d=[], k=[0.0] * 9, r=[0.0] * 9, p=[0.0] * 12)
    assert ros.cameras_of(ros.Camera.of(zero), ros.Camera.of(zero), raw=False) is None


@pytest.mark.parametrize(
    "change, said",
    [(dict(k=[float("nan")] * 9), "not finite"), (dict(p=[1.0] * 11), "11 numbers in P"), (dict(f=float("inf")), "not finite"),
     (dict(cy=250.0), "differ in focal length"), (dict(width=320), "both must have the same size"), (dict(f=400.0), "differ")],
)  # fmt: skip
def test_cameras_that_are_no_pair_are_refused(change, said):
    with pytest.raises(st.FormatError, match=said):
        rig_of(info(), info(**{"tx": -60.0, **change}))


def test_a_distortion_that_is_not_known_is_refused():
    with pytest.raises(st.FormatError, match="'cylinder', a lens model that is not supported"):
        rig_of(info(distortion_model="cylinder", d=[0.1]), info(tx=-60.0), raw=True)


def test_a_rig_goes_to_camera_info_and_comes_back(messages):
    rig = st.Rig(focal=512.5, baseline=120.0, cx_left=320.25, cx_right=331, cy=239, unit="mm", size=(640, 480))
    header = messages.header(1_500_000_002, "left_optical")
    sides = [messages.camera_info(header, ros.info_fields(rig, side)) for side in ("left", "right")]
    back = rig_of(*sides)
    assert back.baseline == pytest.approx(0.12, rel=1e-15) and back.unit == "m"
    for name in ("focal", "cx_left", "cx_right", "cy", "size"):
        assert getattr(back, name) == getattr(rig, name)
    with pytest.raises(st.CallError, match="ROS requires metres"):
        ros.info_fields(st.Rig(focal=1, baseline=1), "left")


def test_stamps_are_exact(messages):
    for stamp in (0, 1, 1_700_000_000_123_456_789):
        header = messages.header(stamp, "a")
        assert stamps.stamp_of(Message(header=header)) == stamp
    assert stamps.nanoseconds(Message(secs=3, nsecs=7)) == 3_000_000_007
    assert stamps.shown(3_000_000_007) == "3.000000007"


RIG = st.Rig(focal=200, baseline=0.1, cx_left=75, cx_right=68, cy=50, unit="m", size=(160, 120))


def matched(scene, products, pipeline=None, rig=RIG, disparities=(2, 34), **more):
    cameras = None if rig is None else ros.Cameras((160, 120), rig)
    pair = ros.StampedPair(1_000_000_007, "left_optical", 1, scene.left, scene.right, scene.left, cameras)
    matching = ros.Matching(pipeline or st.Pipeline("banz-sgm"), device="cpu", disparities=disparities, **more)
    return ros.Processor(matching, products, ros.Notes(pytest.fail)).one(pair, products)


def test_a_disparity_image_is_what_its_definition_says(scene, messages, family):
    done = matched(scene, ["disparity", "depth"])
    header = messages.header(done.pair.stamp, done.pair.frame_id)
    message = messages.disparity(header, done.result.disparity, done.searched)
    baseline = message.T if family.capitals else message.t
    assert (message.f, baseline, message.min_disparity, message.max_disparity, message.delta_d) == (200, 0.1, -5, 26, 1)
    assert message.image.encoding == "32FC1" and message.image.step == 4 * 160
    pixels = ros.array_of(message.image)
    valid = ~np.isnan(done.result.disparity)
    assert 0.5 < valid.mean() < 1
    assert (pixels[~valid] == message.min_disparity - 1).all() and (pixels[valid] >= message.min_disparity).all()
    np.testing.assert_array_equal(pixels[valid], done.result.disparity[valid] - 7)
    with np.errstate(divide="ignore"):
        depth = np.where(pixels > 0, message.f * baseline / pixels, np.nan)  # Z = fT / d
    measured = done.result.measured
    np.testing.assert_allclose(depth[measured], done.result.depth[measured], rtol=1e-6)
    window = message.valid_window
    assert (window.x_offset, window.y_offset, window.width, window.height) == (2, 0, 158, 120)
    outside = np.ones_like(valid)
    outside[:, window.x_offset : window.x_offset + window.width] = False
    assert not valid[outside].any()
    as_nan = ros.array_of(messages.disparity(header, done.result.disparity, done.searched, invalid_is_nan=True).image)
    np.testing.assert_array_equal(np.isnan(as_nan), ~valid)


def test_only_measured_pixels_have_depth_and_on_request_disparity(scene, messages):
    parallel = st.Rig(focal=200, baseline=0.1, cx_left=75, cx_right=75, cy=50, unit="m", size=(160, 120))
    usual, filled = (matched(scene, ["depth", "points"], st.Pipeline("sgm"), parallel, fill_depth=fill) for fill in (False, True))
    assert usual.result.filled.sum() > 100

    def valid(done, product, **shape):
        _, _, message = next(Results(messages, Shape(invalid_is_nan=True, **shape)).of(done, product))
        if product == "points":
            return np.isfinite(np.frombuffer(message.data, np.float32).reshape(120, 160, 4)[..., 2])
        return ~np.isnan(ros.array_of(message.image if product == "disparity" else message))

    for product in ("depth", "points"):
        np.testing.assert_array_equal(valid(usual, product), usual.result.measured)
        np.testing.assert_array_equal(valid(filled, product), ~np.isnan(usual.result.disparity))
    np.testing.assert_array_equal(valid(usual, "disparity"), ~np.isnan(usual.result.disparity))
    np.testing.assert_array_equal(valid(usual, "disparity", measured_only=True), usual.result.measured)


def test_the_window_holds_what_can_be_valid(scene):
    pipeline = st.Pipeline("banz-sgm").set("select.border_candidates", True)
    assert matched(scene, []).searched.window == (2, 0, 158, 120)
    assert matched(scene, [], disparities=(-40, -9)).searched.window == (0, 0, 150, 120)
    assert matched(scene, [], pipeline).searched.window == (0, 0, 160, 120)
    assert matched(scene, [], st.Pipeline("sgm")).searched.window == (0, 0, 160, 120)  # it fills
    assert matched(scene, [], st.Pipeline("sgm")).searched.step == 1 / 256
    rated = st.Pipeline("prehn-window").set("refinements", ("left_right", "window_confidence")).set("select.border_candidates", False)
    assert matched(scene, [], rated).searched.window == (2, 0, 158, 120)  # neither refinement gives a pixel a disparity


def test_without_cameras_there_is_no_depth(scene, messages):
    done = matched(scene, ["disparity", "depth", "points"], rig=None)
    assert "depth" not in done.result and "points" not in done.result
    message = messages.disparity(messages.header(0, ""), done.result.disparity, done.searched)
    assert message.f == 0 and message.min_disparity == 2


def test_depth_is_in_metres_or_millimetres(messages):
    depth = np.array([[1.2344, np.nan, 70.0, 65.535, 0.0004]], np.float32)
    header = messages.header(0, "left")
    metres = messages.depth(header, depth, millimetres=False)
    np.testing.assert_array_equal(ros.array_of(metres), depth)
    millimetres = messages.depth(header, depth, millimetres=True)
    assert (millimetres.encoding, millimetres.step) == ("16UC1", 10)
    assert ros.array_of(millimetres).tolist() == [[1234, 0, 0, 65535, 0]]


@pytest.mark.parametrize("organised", [True, False])
def test_a_cloud_has_the_points_and_their_colours(scene, messages, organised):
    done = matched(scene, ["points"])
    cloud = messages.cloud(messages.header(1, "left"), done.result.points, done.colour, organised)
    valid = np.isfinite(done.result.points).all(2)
    count = 160 * 120 if organised else valid.sum()
    assert (cloud.width, cloud.height) == ((160, 120) if organised else (count, 1))
    assert (cloud.point_step, cloud.row_step, cloud.is_dense) == (16, 16 * cloud.width, not organised)
    assert [(f.name, f.offset, f.datatype, f.count) for f in cloud.fields] == [
        ("x", 0, 7, 1), ("y", 4, 7, 1), ("z", 8, 7, 1), ("rgb", 12, 7, 1)
    ]  # fmt: skip
    table = np.frombuffer(cloud.data, np.float32).reshape(-1, 4)
    assert len(table) == count
    there = np.isfinite(table[:, 0])
    np.testing.assert_array_equal(table[there, :3], done.result.points[valid])
    first = struct.unpack("BBBB", table[there][0, 3:].tobytes())
    assert first == (*scene.left[valid][0][::-1], 0)
    bare = messages.cloud(messages.header(1, "left"), done.result.points, None, organised)
    assert bare.point_step == 12


def test_messages_are_whole_for_the_wire(scene, messages, family):
    done = matched(scene, ["disparity", "points"])
    header = messages.header(1, "left")
    made = {
        "stereo_msgs/msg/DisparityImage": messages.disparity(header, done.result.disparity, done.searched),
        "sensor_msgs/msg/PointCloud2": messages.cloud(header, done.result.points, done.colour, True),
        "sensor_msgs/msg/CameraInfo": messages.camera_info(header, ros.info_fields(RIG, "right")),
        "diagnostic_msgs/msg/DiagnosticArray": messages.diagnostics(header, "stereo", "WARN", "slow", {"rate": "3"}),
    }
    store = family.typestore
    write, read = (
        (store.serialize_ros1, store.deserialize_ros1)
        if family.capitals
        else (store.serialize_cdr, store.deserialize_cdr)
    )
    for name, message in made.items():
        again = read(write(message, name), name)
        assert again.header.frame_id == "left" and stamps.stamp_of(again) == 1
