"""Depth registered to other cameras: a plane stays the plane, the near hides the far, and nodes, bags and the command agree."""

import pickle

import numpy as np
import pytest
import stereopsis as st
from stereopsis.ros.registration import Registration

RIG = st.Rig(focal=140, baseline=0.12, cx_left=79.5, cy=59.5, unit="m", size=(160, 120))
LENS = st.Camera(fx=140, fy=141, cx=70, cy=48)
FILE = """image_width: 140
image_height: 100
K: [140, 0, 70, 0, 141, 48, 0, 0, 1]
D: [0, 0, 0, 0, 0]
R: [1, 0, 0, 0, 1, 0, 0, 0, 1]
T: [-40, 0, 30]
unit: mm
"""


def third(**changes):
    return st.PosedCamera(LENS, **{"size": (140, 100), "translation": (-0.04, 0, 0.03), **changes})


def test_a_plane_stays_the_plane():
    registered = st.register_depth(np.full((120, 160), 2, np.float32), RIG, third())
    assert registered.depth.shape == (100, 140) and registered.depth.dtype == np.float32
    np.testing.assert_allclose(registered.depth, 2.03, rtol=1e-6)
    y, x = np.mgrid[:100, :140]
    np.testing.assert_allclose(registered.points[..., 0], (x - 70) / 140 * 2.03, atol=1e-6)
    np.testing.assert_allclose(registered.source[..., 0], 79.5 + 140 * ((x - 70) / 140 * 2.03 + 0.04) / 2, atol=1e-3)
    np.testing.assert_allclose(registered.source[..., 1], 59.5 + 140 * ((y - 48) / 141 * 2.03) / 2, atol=1e-3)


def test_the_near_hides_the_far_and_what_nobody_sees_is_nan():
    depth = np.full((120, 160), 4, np.float32)
    depth[:, 60:100] = 1
    registered = st.register_depth(depth, RIG, third(translation=(-0.2, 0, 0))).depth
    row = registered[50]
    assert {round(float(z), 3) for z in row[np.isfinite(row)]} == {1, 4}
    assert 10 < np.isnan(row).sum() < 60  # behind the near part, and beyond the left image
    np.testing.assert_array_equal(st.register_depth(depth, RIG, third(translation=(-0.2, 0, 0)), threads=1).depth, registered)


def test_the_raw_left_camera_is_that_of_the_calibration():
    turn = (0.99995, 0, 0.01, 0, 1, 0, -0.01, 0, 0.99995)
    lens = dict(fx=150.0, fy=150.0, cx=80.0, cy=60.0, distortion=[-0.1, 0.01])
    cameras = st.Calibration(
        size=(160, 120),
        left=st.Camera(**lens, rectification=turn),
        right=st.Camera(**lens, rectification=turn),
        rotation=(1, 0, 0, 0, 1, 0, 0, 0, 1),
        translation=(-0.12, 0, 0),
        rig=RIG,
    )
    raw = st.PosedCamera.raw_left(cameras)
    assert raw.size == (160, 120) and raw.camera.fx == 150 and raw.camera.distortion[0] == -0.1
    assert raw.rotation == [1, 0, 0, 0, 1, 0, 0, 0, 1] and raw.translation == [0, 0, 0]
    depth = st.register_depth(np.full((120, 160), 2, np.float32), cameras, raw).depth
    seen = depth[60, 80]  # on the optical axis of the raw camera, which meets the plane at an angle
    assert seen == pytest.approx(2 / 0.99995, rel=1e-4)
    inside = depth[np.isfinite(depth)]
    assert inside.size > 10000 and np.ptp(inside) > 0.01


def test_a_camera_is_read_in_the_unit_of_the_rig(tmp_path):
    (tmp_path / "third.yml").write_text(FILE)
    camera = st.PosedCamera.read(tmp_path / "third.yml", RIG.unit)
    assert camera.size == (140, 100) and camera.camera.fy == 141 and camera.camera.model == "polynomial"
    np.testing.assert_allclose(camera.translation, (-0.04, 0, 0.03))
    again = pickle.loads(pickle.dumps(camera))
    assert again.translation == camera.translation and again.camera.fx == camera.camera.fx
    depth = np.full((120, 160), 2, np.float32)
    np.testing.assert_array_equal(st.register_depth(depth, RIG, again).depth, st.register_depth(depth, RIG, third()).depth)
    np.testing.assert_allclose(st.PosedCamera.read(tmp_path / "third.yml").translation, (-40, 0, 30))
    with pytest.raises(st.CallError, match="T is in mm"):
        st.PosedCamera.read(tmp_path / "third.yml", "")
    (tmp_path / "third.yml").write_text(FILE.replace("T:", "U:"))
    with pytest.raises(st.FormatError, match=r"translation \(T\)"):
        st.PosedCamera.read(tmp_path / "third.yml")
    with pytest.raises(st.FileError):
        st.PosedCamera.read(tmp_path / "absent.yml")


def test_the_command_writes_the_same(command, tmp_path, same_bits):
    scene = st.synth("table", width=160, height=120, disparities=32)
    cv2 = pytest.importorskip("cv2", reason="OpenCV writes pictures")
    for name in ("left", "right"):
        cv2.imwrite(str(tmp_path / f"{name}.png"), getattr(scene, name)[..., ::-1])
    (tmp_path / "third.yml").write_text(FILE)
    command(
        "match", tmp_path / "left.png", tmp_path / "right.png", "--disparities", 32, "--align-rows", "off",
        "-o", tmp_path / "d.npy", "--depth", tmp_path / "z.npy",
        "--focal", 140, "--baseline", "0.12m", "--register-to", tmp_path / "third.yml",
    )  # fmt: skip
    result = st.match(scene.left, scene.right, 32, rig=RIG, want=["depth"])
    same_bits(np.load(tmp_path / "z.npy"), st.register_depth(result.depth, RIG, third()).depth)


@pytest.mark.parametrize(
    "depth, rig, to, sentence",
    [
        (np.ones((100, 160), np.float32), RIG, third(), "the rig is for images of 160×120"),
        (np.ones((120, 160)), RIG, third(), "float32"),
        (np.ones((120, 160), np.float32), RIG, third(size=(0, 100)), "at least 1"),
    ],
)
def test_wrong_arguments_are_rejected(depth, rig, to, sentence):
    with pytest.raises(st.CallError, match=sentence):
        st.register_depth(depth, rig, to)


@pytest.mark.parametrize(
    "camera, frame, sentence",
    [("raw", "", "raw requires raw images"), ("third.yml", "", "register_frame"), ("", "colour", "give register_to")],
)
def test_an_incomplete_registration_is_refused(camera, frame, sentence):
    with pytest.raises(st.CallError, match=sentence):
        Registration.of(camera, frame, raw=False)


def test_a_bag_has_the_depth_as_the_raw_left_camera_sees_it(tmp_path):
    pytest.importorskip("rosbags", reason="rosbags reads and writes bags")
    pytest.importorskip("cv2", reason="the tests of bags need OpenCV")
    from bag_files import SMALL_RIG, START, BagFile, generated
    from stereopsis import ros
    from test_ros_bags import SMALL, bag, read

    (left, right), *_ = generated(1)
    with BagFile(tmp_path / "in") as source:
        for side, image in (("left", left), ("right", right)):
            fields = ros.info_fields(SMALL_RIG, side, (image.shape[1], image.shape[0]))
            source.info(f"/stereo/{side}/camera_info", START, fields | {"d": (-0.1, 0.01, 0.0, 0.0, 0.0)})
            source.image(f"/stereo/{side}/image_raw", START, image)
    bag(tmp_path / "in", "-o", tmp_path / "out", "--depth", "--register-to", "raw", *SMALL)
    made = read(tmp_path / "out")
    rectified, registered = made["/stereo/depth/image_rect"][0], made["/stereo/depth_registered/image_raw"][0]
    info = made["/stereo/depth_registered/camera_info"][0]
    assert registered.header.frame_id == rectified.header.frame_id
    assert (registered.width, registered.height) == (left.shape[1], left.shape[0]) and list(info.d)[:2] == [-0.1, 0.01]
    assert 0 < np.isfinite(ros.array_of(registered)).mean() < np.isfinite(ros.array_of(rectified)).mean() + 0.2
    said = bag(tmp_path / "in", "-o", tmp_path / "wrong", "--register-to", tmp_path / "third.yml", *SMALL, code=2)
    assert "--register-frame" in said
