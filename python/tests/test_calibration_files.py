"""Calibration files: formats without a rectification, the lens model, the scale, and what is warned of."""

import numpy as np
import pytest
import stereopsis as st

CAMERA = """{name}:
  camera_model: pinhole
  distortion_coeffs: [-0.28, 0.09, 0.0004, -0.0003]
{model}  intrinsics: [300.0, 300.0, 159.5, 119.5]
  resolution: [320, 240]
"""
POSE = """  T_cn_cnm1:
  - [0.9998, 0.0, -0.02, -0.12]
  - [0.0, 1.0, 0.0, 0.002]
  - [0.02, 0.0, 0.9998, 0.001]
  - [0.0, 0.0, 0.0, 1.0]
"""


def camchain(path, model="  distortion_model: radtan\n"):
    path.write_text(CAMERA.format(name="cam0", model=model) + CAMERA.format(name="cam1", model=model) + POSE)
    return path


def middlebury(path, size=""):
    path.write_text(f"cam0=[1200 0 638; 0 1200 478; 0 0 1]\ncam1=[1200 0 687.6; 0 1200 478; 0 0 1]\nbaseline=120\n{size}")
    return path


def test_a_rectification_is_computed(tmp_path):
    calibration = st.read_calibration(camchain(tmp_path / "camchain.yaml"))
    assert calibration.size == (320, 240) and calibration.rig.unit == "m"
    assert calibration.rig.baseline == pytest.approx(0.12, rel=1e-3)
    image = np.arange(320 * 240, dtype=np.uint32).astype(np.uint8).reshape(240, 320)
    assert st.Rectification(calibration)(image, image)[0].shape == (240, 320)


def test_an_unnamed_lens_model_is_asked_for(tmp_path):
    file = camchain(tmp_path / "unnamed.yaml", model="")
    with pytest.raises(st.CallError, match="--lens radtan"):
        st.read_calibration(file)
    assert st.read_calibration(file, lens="radtan").left.model == "polynomial"
    assert st.read_calibration(file, lens="equidistant").left.model == "fisheye"
    with pytest.raises(st.CallError, match="'round'"):
        st.read_calibration(file, lens="round")


def test_a_scale_applies_to_pixels(tmp_path):
    rig = st.Rig.read(middlebury(tmp_path / "calib.txt", "width=1280\nheight=960\n"), scale=0.25)
    assert rig.size == (320, 240) and rig.focal == 300 and rig.baseline == 120
    with pytest.raises(st.CallError, match="scale"):
        st.Rig.read(tmp_path / "calib.txt", scale=0)


def test_implausible_values_are_warned_of(tmp_path):
    with pytest.warns(st.CalibrationWarning, match="principal point") as warned:
        st.Rig.read(middlebury(tmp_path / "calib.txt"), size=(320, 240))
    assert warned[0].filename == __file__
    calibration = st.read_calibration(camchain(tmp_path / "camchain.yaml"))
    wrong = st.Calibration(
        size=calibration.size,
        left=calibration.left,
        right=calibration.right,
        rotation=calibration.rotation,
        translation=[1000 * t for t in calibration.translation],
        rig=calibration.rig,
    )
    wrong.write(tmp_path / "wrong.yml")
    with pytest.warns(st.CalibrationWarning, match="R and T contradict"):
        st.read_calibration(tmp_path / "wrong.yml")


def test_an_unknown_file_is_answered_by_its_contents(tmp_path):
    (tmp_path / "x.yaml").write_text("exposure: 3\ngain: 2\n")
    with pytest.raises(st.FormatError, match="exposure, gain.*Kalibr"):
        st.read_calibration(tmp_path / "x.yaml")
