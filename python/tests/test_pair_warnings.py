"""Warnings about pairs that cannot be matched well."""

import warnings

import numpy as np
import pytest
import stereopsis as st
from stereopsis import _native

METHODS = ["sgm", "ad-census"]  # esaw and others that check nothing count all pixels as measured


@pytest.fixture(scope="module")
def pair():
    scene = st.synth("table", width=320, height=240, disparities=48, noise=2)
    return scene.left, scene.right


@pytest.fixture(scope="module")
def unrelated(pair):
    return pair[0], st.synth("room", width=320, height=240, disparities=48, noise=2, seed=9).right


@pytest.fixture(scope="module")
def raw():
    scene = st.synth("table", width=320, height=240, disparities=48, noise=2, vertical_offset=6)
    return scene.left, scene.right


def warned(pair, **how):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        st.match(*pair, 48, device="cpu", **how)
    for one in caught:
        assert one.category is st.PairWarning and one.filename == __file__
    return [str(one.message) for one in caught]


@pytest.mark.parametrize("method", METHODS)
def test_what_is_wrong_with_a_pair_is_told(pair, unrelated, raw, method):
    assert warned(pair, method=method) == []
    (swapped,) = warned(pair[::-1], method=method)
    assert "seem to be swapped" in swapped and "% of the pixels are measured" in swapped
    (apart,) = warned(unrelated, method=method)
    assert "no point of one image was found in the other" in apart
    assert warned(raw, method=method) == []  # the rows are aligned
    (rows,) = warned(raw, method=method, align_rows="off")
    assert "rows do not correspond: they differ by up to 6." in rows and "rectify" in rows
    (twice,) = warned((pair[0], pair[0]), method=method)
    assert "the same pixels" in twice


def test_rows_that_differ_by_a_little_are_told_unless_they_are_aligned():
    scene = st.synth("table", width=320, height=240, disparities=48, noise=2, vertical_offset=0.6)
    pair = scene.left, scene.right
    assert warned(pair) == [] and warned(pair, align_rows="-0.6") == []
    (apart,) = warned(pair, align_rows="off")
    assert "the rows differ by 0." in apart and 'pass align_rows="auto"' in apart


def test_a_calibration_that_was_given_is_not_asked_for(raw, tmp_path):
    camera = "[300, 0, 159.5, 0, 300, 119.5, 0, 0, 1]"
    (tmp_path / "rig.yml").write_text(
        f"image_width: 320\nimage_height: 240\nM1: {camera}\nM2: {camera}\nD1: [0, 0, 0, 0, 0]\nD2: [0, 0, 0, 0, 0]\n"
        "R: [1, 0, 0, 0, 1, 0, 0, 0, 1]\nT: [-0.12, 0, 0]\n"
    )
    (rows,) = warned(raw, calibration=st.read_calibration(tmp_path / "rig.yml"))
    assert "rows do not correspond" in rows and "check that it is that of these cameras" in rows and "calibration=" not in rows


def test_the_same_image_is_known_by_its_pixels(pair):
    left = pair[0]
    copied = np.zeros((240, 330, 3), np.uint8)[:, :320]
    copied[...] = left
    assert len(warned((left, copied))) == 1
    copied[239, 319, 2] ^= 1
    assert not any("the same pixels" in sentence for sentence in warned((left, copied)))
    black = np.zeros_like(left)
    assert not any("the same pixels" in sentence for sentence in warned((black, black)))


def test_a_swapped_pair_whose_range_is_estimated_is_told(pair):
    with pytest.warns(st.PairWarning, match="seem to be swapped"):
        st.match(*pair[::-1], device="cpu")


def test_the_first_pair_and_those_of_which_little_is_measured_are_checked(pair):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        m = st.Matcher("sgm", disparities=48, device="cpu")
        for _ in range(3):
            m(*pair[::-1])
        assert len(caught) == 1, "each kind of fault is told once"
        list(m.stream([pair[::-1]] * 3))
        assert len(caught) == 2
        list(m.stream([pair, pair[::-1]]))
        assert len(caught) == 3
        quiet = st.Matcher("sgm", disparities=48, device="cpu", warn_of_pair=False)
        quiet(*pair[::-1])
        list(quiet.stream([pair[::-1]]))
        st.Matcher("sgm", disparities=(-48, 0), device="cpu")(*pair[::-1])  # the negative range was requested
        assert len(caught) == 3


def test_a_stream_whose_arrays_are_reused_is_checked_on_its_own_pairs(pair, unrelated):
    arrays = np.empty_like(pair[0]), np.empty_like(pair[1])
    apart = st.synth("clutter", width=320, height=240, disparities=48, noise=2, seed=7).left, unrelated[1]

    def reused():
        for one in (pair, pair, apart, pair, pair, pair):
            arrays[0][...], arrays[1][...] = one
            yield arrays

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        list(st.Matcher("sgm", disparities=48, device="cpu").stream(reused()))
    assert len(caught) == 1 and "no point of one image" in str(caught[0].message)


@pytest.mark.parametrize(("late", "other"), [("right", "left"), ("left", "right")])
def test_an_eye_that_is_a_frame_late_is_told(late, other):
    names = ("table", "clutter", "room", "garden")
    scenes = [st.synth(name, width=320, height=240, disparities=16, noise=1) for name in names]
    on_time, behind = [0, 1, 2, 3], [0, 1, 1, 2]
    eyes = {other: [getattr(scenes[i], other) for i in on_time], late: [getattr(scenes[i], late) for i in behind]}

    def told(**how):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            list(st.Matcher("sgm", disparities=16, device="cpu").stream(zip(eyes["left"], eyes["right"], strict=True), **how))
        (sentence,) = [str(one.message) for one in caught]
        return sentence

    for in_flight in (1, 3):
        assert f"{late} is a frame late: it fits the {other} image before it; find the frame" in told(in_flight=in_flight)
    assert "no point of one image" in told(in_flight=1, copy=False), "the arrays of the pair before may hold another pair"


def test_turned_images_vertical_rigs_and_second_pictures_of_a_view_are_told(pair):
    left, right = pair
    assert "turned by 180°" in warned((left, right[::-1, ::-1].copy()))[0]
    assert "mirrored" in warned((left, right[:, ::-1].copy()))[0]
    upright = [np.ascontiguousarray(np.swapaxes(image, 0, 1)) for image in pair]
    assert "pass the left one as left" in warned(upright)[0]
    assert "pass the right one as left" in warned(upright[::-1])[0]
    again = st.synth("table", width=320, height=240, disparities=48, noise=3).left
    assert "the same picture" in warned((left, again))[0]


def test_a_warning_may_be_an_error(pair):
    m = st.Matcher("sgm", disparities=48, device="cpu")
    with warnings.catch_warnings():
        warnings.simplefilter("error", st.PairWarning)
        with pytest.raises(st.PairWarning, match="swapped"):
            m(*pair[::-1])
    assert m(*pair).measured_share > 0.5


@pytest.mark.parametrize("shape", [(1, 1), (20, 31), (31, 20), (40, 50)])
def test_small_pairs_are_matched_without_a_judgement(shape):
    noise = np.random.default_rng(3).integers(0, 255, (2, *shape), np.uint8)
    sentences = warned(noise)
    assert sentences == [] or min(shape) >= 32


def test_a_rig_of_images_of_another_size_is_told(pair):
    def told(size, cx=159.5, **how):
        rig = st.Rig(focal=300, baseline=0.1, cx_left=cx, cy=119.5, size=size)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with st.Matcher(disparities=48, device="cpu", rig=rig, want=["depth"], **how) as matcher:
                matcher(*pair), matcher(*pair)
        assert all(one.category is st.CalibrationWarning and one.filename == __file__ for one in caught)
        return [str(one.message) for one in caught]

    assert told((320, 240)) == told((0, 0)) == told((640, 480), warn_of_pair=False) == []
    (scaled,) = told((640, 480))
    assert "640×480, and these have 320×240; read it with scale=0.5, or give" in scaled
    (other,) = told((640, 400))
    assert "these have 320×240; give the rig" in other
    (outside,) = told((0, 0), cx=320)
    assert "the principal point of the rig, (320, 119.5), is outside images of 320×240" in outside


def test_a_mark_over_both_eyes_of_a_sequence_is_told():
    dots = np.kron(np.random.default_rng(5).random((7, 140)) > 0.5, np.ones((4, 4))).astype(bool)

    def frame(seed, mark=True):
        scene = st.synth("mix", width=640, height=480, disparities=64, noise=2, seed=seed)
        images = [image[..., 1].copy() for image in (scene.left, scene.right)]
        for image in images if mark else []:
            part = image[200:228, 30:590]
            part[dots] = part[dots] // 2 + 128
        return images

    def fault(pair, before):
        one, other = (_native.Pair(dict(zip(("left", "right"), images)), 0, "rgb", None) for images in (pair, before))
        return one.fault(other, None, False)

    assert fault(frame(2), frame(1)).kind == "a shared pattern"
    assert fault(frame(2, mark=False), frame(1, mark=False)) is None
    assert fault(frame(1), frame(1)) is None  # the cameras stand
