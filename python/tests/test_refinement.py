"""Calibrations from ordinary pairs: given ones are corrected, and unknown cameras are calibrated."""

import numpy as np
import pytest
import stereopsis as st

RIG = {"focal": 400.0, "cx_left": 199.5, "cy": 149.5, "baseline": "120mm", "size": (400, 300)}


@pytest.fixture(scope="module")
def pairs():
    scenes = [st.synth("room", width=400, height=300, disparities=48, seed=seed, vertical_offset=4, vertical_slope=3) for seed in range(1, 7)]
    return [(scene.left, scene.right) for scene in scenes]


def test_a_turned_camera_is_found(pairs):
    refined = st.refine_calibration(pairs, st.Rig(**RIG))
    terms = {term.name: term for term in refined.terms}
    assert abs(terms["pitch"].correction) == pytest.approx(np.degrees(4 / 400), abs=0.02) and terms["pitch"].unit == "°"
    assert terms["roll"].is_observed and terms["roll"].deviation < 0.02
    assert refined.pairs == 6 and refined.points > 300
    assert refined.rows_before > 3 and refined.rows_after < 0.1 and "after the correction" in refined.sentence
    left, right, _, _ = st.Rectification(refined.calibration)(*pairs[0])
    assert not st.check(*pairs[0]).rectified and st.check(left, right).rectified
    again = st.refine_calibration(pairs, refined.calibration)
    assert again.rows_before < 0.1


def test_images_of_another_size_and_few_points_are_errors(pairs):
    with pytest.raises(st.CallError, match="pair 0 has 400×300 pixels, but the calibration is for 640×480"):
        st.refine_calibration(pairs, st.Rig(**{**RIG, "size": (640, 480)}))
    with pytest.raises(st.CallError, match="the rig has no size"):
        st.refine_calibration(pairs, st.Rig(**{**RIG, "size": (0, 0)}))
    black = np.zeros((300, 400), np.uint8)
    with pytest.raises(st.FormatError, match="only 0 points were found"):
        st.refine_calibration([(black, black)], st.Rig(**RIG))


def test_unknown_cameras_are_calibrated(pairs):
    found = st.estimate_calibration(pairs, focal=400)
    assert found.calibration.rig.unit == "baselines" and found.calibration.rig.baseline == pytest.approx(1)
    left, right, _, _ = st.Rectification(found.calibration)(*pairs[0])
    assert not st.check(*pairs[0]).rectified and st.check(left, right).rectified
    scaled = st.estimate_calibration(pairs[:1], baseline="12cm")
    assert scaled.calibration.rig.unit == "mm" and scaled.calibration.rig.baseline == pytest.approx(120)
    assert scaled.terms[-1].name == "focal" and not scaled.terms[-1].is_observed
    for wrong in ({"focal": 0}, {"baseline": -1.0}):
        with pytest.raises(st.CallError, match="must be above 0"):
            st.estimate_calibration(pairs[:1], **wrong)
    with pytest.raises(st.CallError, match="there are no pairs"):
        st.estimate_calibration([])


def test_the_focal_length_of_photos_is_read(pairs, tmp_path):
    image = pytest.importorskip("PIL.Image")
    for name, pixels in zip(("left", "right"), pairs[0], strict=True):
        photo = image.fromarray(pixels)
        exif = photo.getexif()
        exif.get_ifd(0x8769)[0xA405] = 40
        photo.save(tmp_path / f"{name}.jpg", quality=98, exif=exif)
    source = st.PairSource(tmp_path / "left.jpg", tmp_path / "right.jpg")
    found = st.estimate_calibration(source)
    assert found.terms[-1].name == "k1_right"  # the focal length is given
    assert found.calibration.left.fx == pytest.approx(40 * 500 / 43.2666, rel=1e-4)
