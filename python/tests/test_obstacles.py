"""Obstacles above the ground, in Python and with the command."""

import subprocess
import sys

import numpy as np
import pytest
import stereopsis as st

RIG = st.Rig(focal=300, baseline=0.2, cx_left=160, cx_right=160, cy=80, unit="m", size=(320, 240))


@pytest.fixture
def street():
    """Disparities of the ground 1.2 m below the camera, and of boxes at 4 m and 8 m."""
    rows = np.arange(240, dtype=np.float32)[:, None]
    disparity = np.repeat(np.maximum(0.2 / 1.2 * (rows - 80), 1), 320, axis=1).astype(np.float32)
    disparity[110:170, 140:200] = 15
    disparity[95:124, 240:260] = 7.5
    return disparity


def depth_of(disparity):
    return (np.float32(60) / disparity).astype(np.float32)


def test_what_is_nearer_than_a_distance(street):
    found = st.obstacles(depth_of(street), RIG, 10)
    assert [round(one.distance, 3) for one in found.list] == [4, 8]
    near = found.list[0]
    assert near.box == (140, 110, 60, near.box[3]) and near.pixels == (found.labels == 1).sum() == 60 * near.box[3]
    assert near.height == pytest.approx(1.2 - (110 - 80) * 4 / 300, abs=0.02)
    assert found.height[230, 10] == pytest.approx(0, abs=0.02)
    assert [round(one.distance) for one in st.obstacles(depth_of(street), RIG, 6).list] == [4]
    ground = st.fit_ground(depth_of(street), RIG)
    assert ground.camera_height == pytest.approx(1.2, abs=0.02) and ground.doubt == ""


def test_unsure_pixels_are_no_obstacles(street):
    confidence = np.where(street == 15, 0.2, 0.9).astype(np.float32)
    assert [round(one.distance) for one in st.obstacles(depth_of(street), RIG, 10, confidence=confidence).list] == [8]
    given = st.obstacles(depth_of(street), RIG, 10, confidence=confidence, min_confidence=0.1, ground=st.Ground(1.2)).list
    assert [round(one.distance) for one in given] == [4, 8] and given[0].confidence == pytest.approx(0.2)


def test_a_doubtful_ground_and_none(street):
    two_levels = street.copy()
    two_levels[:, :100] *= 0.6
    with pytest.warns(UserWarning, match="may not be the ground.* are below the plane"):
        st.obstacles(depth_of(two_levels), RIG)
    with pytest.raises(st.CallError, match="no ground was found"):
        st.obstacles(np.full((240, 320), 3, np.float32), RIG)
    with pytest.raises(st.CallError, match="lowest is -1"):
        st.obstacles(depth_of(street), RIG, lowest=-1)


def test_the_command_writes_the_points_of_obstacles(street, tmp_path):
    st.write_pfm(tmp_path / "d.pfm", street)
    words = ["--focal", "300", "--baseline", "0.2m"]
    call = [sys.executable, "-m", "stereopsis", "cloud", tmp_path / "d.pfm", "-o", tmp_path / "c.ply", *words, "--above-ground", "0.3m", "--far", "10m"]
    said = subprocess.run(call, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True).stdout
    assert "2 obstacles, the nearest at 4" in said
    rig = st.Rig(focal=300, baseline=0.2, cx_left=159.5, cx_right=159.5, cy=119.5, unit="m", size=(320, 240))
    count = (st.obstacles(depth_of(street), rig, 10, highest=float("inf")).labels > 0).sum()
    assert f"element vertex {count}\n".encode() in (tmp_path / "c.ply").read_bytes()
