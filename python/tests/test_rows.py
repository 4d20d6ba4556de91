"""The alignment of rows: the estimate of a pair, and matching with it."""

import pickle

import numpy as np
import pytest

import stereopsis as st


@pytest.fixture(scope="module")
def moved():
    return st.synth("table", width=320, height=240, disparities=32, noise=2, vertical_offset=1, vertical_slope=1)


def wrong(result, scene):
    return np.mean(~(abs(result.disparity - scene.disparity) <= 1)[scene.nonocc == 255])


def test_an_estimate_finds_the_rows_and_removes_the_errors(moved):
    rows = st.estimate_row_alignment(moved.left, moved.right)
    assert rows.reason == "" and rows.alignment == rows.plane and rows.tracks > 300
    assert rows.plane.offset == pytest.approx(-1, abs=0.03) and rows.plane.roll == pytest.approx(-1, abs=0.1)
    assert rows.deviation.offset < 0.01 and 0 < rows.remaining < 0.2
    how = {"disparities": 32, "device": "cpu", "warn_of_pair": False}
    before, after, same = (
        st.match(moved.left, moved.right, **how, row_alignment=given) for given in (None, rows, rows.alignment)
    )
    assert wrong(after, moved) < wrong(before, moved) / 2
    assert np.array_equal(after.disparity, same.disparity, equal_nan=True)


def test_the_layout_of_the_images_makes_no_difference(moved):
    bgr = [np.ascontiguousarray(image[..., ::-1]) for image in (moved.left, moved.right)]
    rgb = st.estimate_row_alignment(moved.left, moved.right)
    assert st.estimate_row_alignment(*bgr, color="bgr").plane == rgb.plane


def test_rows_that_agree_are_not_aligned(moved):
    rows = st.estimate_row_alignment(moved.left, moved.left)
    assert rows.alignment is None and rows.reason == "rows_agree" and "rows agree" in repr(rows)
    flat = np.full((120, 160), 100, np.uint8)
    assert st.estimate_row_alignment(flat, flat).reason == "few_tracks"


def test_an_alignment_is_a_value():
    rows = st.RowAlignment(offset=0.5, roll=-1)
    assert rows == pickle.loads(pickle.dumps(rows)) != st.RowAlignment()
    assert rows.rms == pytest.approx((0.25 + 1 / 12) ** 0.5) and "offset 0.5 px" in repr(rows)


def test_a_pair_has_an_alignment_of_its_own(moved):
    rows = st.estimate_row_alignment(moved.left, moved.right)
    agreeing = st.estimate_row_alignment(moved.left, moved.left)
    how = {"disparities": 32, "device": "cpu", "warn_of_pair": False}
    matcher = st.Matcher(**how, row_alignment=agreeing)
    alone = st.match(moved.left, moved.right, **how)
    for given in (None, rows, agreeing, rows.alignment, None):
        expected = st.match(moved.left, moved.right, **how, row_alignment=given) if given else alone
        result = matcher(moved.left, moved.right, row_alignment=given)
        assert np.array_equal(result.disparity, expected.disparity, equal_nan=True)
    with pytest.raises(st.CallError, match="make the Matcher with row_alignment=st.RowAlignment()"):
        st.Matcher(**how)(moved.left, moved.right, row_alignment=rows)


def test_alignments_that_are_not_allowed_are_refused(moved):
    with pytest.raises(st.CallError, match=r"row_alignment=1 is not allowed; give a RowAlignment"):
        st.Matcher(disparities=32, row_alignment=1)
    with pytest.raises(st.CallError, match="rows must move by at most 32 pixels"):
        st.match(moved.left, moved.right, 32, device="cpu", row_alignment=st.RowAlignment(65))
    with pytest.raises(st.CallError, match="both must have the same size"):
        st.estimate_row_alignment(moved.left, moved.right[1:])
