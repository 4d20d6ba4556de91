"""The alignment of rows: the estimate of a pair, and matching with it."""

import pickle

import numpy as np
import pytest

import stereopsis as st
from stereopsis._rows import row_settings, text_of


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
        st.match(moved.left, moved.right, **how, align_rows=given) for given in ("off", rows, rows.alignment)
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


def test_rows_with_waves_have_as_few_errors_as_right_rows():
    how = {"disparities": 32, "device": "cpu", "warn_of_pair": False}
    scenes = [st.synth("table", width=400, height=300, disparities=32, noise=2, vertical_wave=wave) for wave in (0, 2)]
    right, given, aligned = (
        wrong(st.match(scene.left, scene.right, **how, align_rows=rows), scene)
        for scene, rows in ((scenes[0], "off"), (scenes[1], "off"), (scenes[1], "auto"))
    )
    assert given > 3 * right and aligned <= 1.25 * right


def test_a_field_is_a_part_of_the_alignment():
    field = [[0.5, 1, -0.25, 0], [1, 2, 3, 4], [0, 0, 0, 0], [1, 0, 1, 0]]
    rows = st.RowAlignment(0.5, field=field)
    assert rows.field == field and rows == pickle.loads(pickle.dumps(rows)) != st.RowAlignment(0.5)
    assert rows.scaled(2).field[1] == [2, 4, 6, 8] and "field of 4×4 knots" in repr(rows)
    assert row_settings(text_of(rows)).fixed == rows
    for wrong_field in ([[1, 2], [3, 4]], [[1, 2, 3, 4], [1]], [[0.0]] * 241):
        with pytest.raises(st.CallError):
            st.RowAlignment(field=wrong_field)
    with pytest.raises(st.CallError, match="not allowed"):
        row_settings("0.5,0,0,0,1,4,1,2,3")


def test_a_pair_has_an_alignment_of_its_own(moved):
    rows = st.estimate_row_alignment(moved.left, moved.right)
    agreeing = st.estimate_row_alignment(moved.left, moved.left)
    how = {"disparities": 32, "device": "cpu", "warn_of_pair": False}
    matcher = st.Matcher(**how, align_rows=agreeing)
    for given in (None, rows, agreeing, rows.alignment, None):
        expected = st.match(moved.left, moved.right, **how, align_rows=given or "off")
        result = matcher(moved.left, moved.right, align_rows=given)
        assert np.array_equal(result.disparity, expected.disparity, equal_nan=True)
    with pytest.raises(st.CallError, match="make the Matcher with align_rows='auto'"):
        st.Matcher(**how)(moved.left, moved.right, align_rows=rows)


def test_alignments_that_are_not_allowed_are_refused(moved):
    with pytest.raises(st.CallError, match=r"align_rows \{'a': 1\} is not allowed; it must be auto, off, OFFSET"):
        st.Matcher(disparities=32, align_rows={"a": 1})
    with pytest.raises(st.CallError, match=r"align_rows=1 is not allowed; give a RowAlignment"):
        st.Matcher(disparities=32, align_rows="auto")(moved.left, moved.right, align_rows=1)
    with pytest.raises(st.CallError, match="rows must move by at most 32 pixels"):
        st.match(moved.left, moved.right, 32, device="cpu", align_rows=st.RowAlignment(65))
    with pytest.raises(st.CallError, match="both must have the same size"):
        st.estimate_row_alignment(moved.left, moved.right[1:])


def test_match_and_run_align_by_default_and_a_matcher_if_it_is_asked_to(moved):
    how = {"disparities": 32, "device": "cpu"}
    rows = st.estimate_row_alignment(moved.left, moved.right)
    aligned = st.match(moved.left, moved.right, **how)
    assert aligned.row_alignment == rows.alignment and aligned.rows.tracks == rows.tracks
    assert "rows differ" in repr(aligned.rows) and wrong(aligned, moved) < 0.2
    with st.Matcher(**how, align_rows="auto") as matcher:
        assert np.array_equal(matcher(moved.left, moved.right).disparity, aligned.disparity, equal_nan=True)
        agreeing = matcher(moved.left, moved.left)
        assert agreeing.row_alignment is None and agreeing.rows.reason == "rows_agree"
    for given in ("off", "0,0"):
        as_they_are = st.match(moved.left, moved.right, **how, align_rows=given, warn_of_pair=False)
        assert wrong(as_they_are, moved) > 2 * wrong(aligned, moved)
    assert st.Matcher(**how, warn_of_pair=False)(moved.left, moved.right).rows is None
    assert pickle.loads(pickle.dumps(aligned)).row_alignment == rows.alignment


def test_results_of_a_sequence_have_the_alignments_of_the_filter():
    offsets = [0.5, 0.9, 0.1, 0.5]
    scenes = [st.synth("table", width=320, height=240, disparities=32, noise=2, seed=7, vertical_offset=v) for v in offsets]
    pairs = [(scene.left, scene.right) for scene in scenes]
    how = {"disparities": 32, "device": "cpu"}
    found = [done.result.row_alignment for done in st.Run(pairs, **how)]
    assert [a.offset for a in found] == pytest.approx([-v for v in offsets], abs=0.05)
    with st.Matcher(**how, align_rows="auto") as matcher:
        assert [r.row_alignment for r in matcher.stream(pairs)] == found
    tilted = st.synth("table", width=320, height=240, disparities=32, noise=2, vertical_offset=2.5, vertical_slope=4)
    done = st.Run(**how).one((tilted.left, tilted.right))
    assert done.result.row_alignment is not None and done.fault is None  # the aligned pair is judged
    assert st.Run(**how, align_rows="off").one((tilted.left, tilted.right)).fault.kind == "rows differ"
    run = st.Run(**how)
    run.pass_rows(pairs[0])
    assert [run.one(pair).result.row_alignment for pair in pairs[1:]] == found[1:]
    assert all(done.result.rows is None for done in st.Run(pairs, **how, align_rows="off"))


def test_shutters_that_are_out_of_step_are_said():
    """The cameras pitch, and the right image is taken later by 0.05 of the time between two pairs."""
    scene = st.synth("table", width=320, height=340, disparities=32)
    first_row = [round(60 + 20 * np.sin(0.7 * i) + 9 * np.sin(1.9 * i)) for i in range(-1, 27)]

    def pairs():
        for before, now, after in zip(first_row, first_row[1:], first_row[2:]):
            right, _ = st.align_rows(scene.right, st.RowAlignment(-0.05 * (before - after) / 2))
            yield scene.left[now : now + 240], right[now : now + 240]

    run = st.Run(pairs(), disparities=32, device="cpu")
    assert run.shutters is None
    list(run)
    assert run.shutters.pairs == pytest.approx(0.05, abs=0.01) and run.shutters.correlation > 0.8
    assert "later than the left one; trigger both cameras at the same time" in run.shutters.sentence
    off = st.Run(pairs(), disparities=32, device="cpu", align_rows="off")
    list(off)
    assert off.shutters is None


def test_the_rows_of_volumes_stripes_and_parts_stay_as_they_are(moved):
    how = {"align_rows": "auto", "device": "cpu", "warn_of_pair": False}
    volume = np.full((40, 60, 16), 20, np.uint8)
    assert st.match_volume(volume, align_rows="auto").rows is None
    stripe = st.BoundaryStripe(0, 100)
    assert st.Matcher(disparities=32, stripe=stripe, **how)(moved.left, moved.right).rows is None


def test_pairs_that_cannot_be_compared_say_what_is_wrong(moved):
    with pytest.raises(st.CallError, match="320×240"):
        st.match(moved.left, moved.right[1:], 32, device="cpu")
