"""Tests that stripes of an image, each matched by itself, give the same result as the whole image."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stereopsis as st

SCENE = st.synth("table", width=120, height=90, disparities=16)
RANGE = (0, 16)
CUTS = (0, 31, 60, 90)
Arrays = Any


def grown(first: int, end: int, rows: int) -> tuple[int, int]:
    return max(0, first - rows), min(CUTS[-1], end + rows)


def matched(rules: st.PartitionPlan, first: int, end: int, above: Arrays, below: Arrays, follow: str = "none") -> st.Result:
    top, bottom = grown(first, end, rules.feature_rows)
    stripe = st.BoundaryStripe(first - top, end - first, above is not None, below is not None, follow)
    want = ["right"] if rules.reads_right and follow == "none" else []
    m = st.Matcher(pipeline=rules.raw, disparities=RANGE, stripe=stripe, want=want)
    return m(SCENE.left[top:bottom], SCENE.right[top:bottom], paths_above=above, paths_below=below)


def raw_maps(rules: st.PartitionPlan) -> dict[str, Arrays]:
    own = list(zip(CUTS, CUTS[1:], strict=False))
    rows = [grown(first, end, rules.raw_rows) for first, end in own]
    above: list[Arrays] = [None] * len(own)
    below: list[Arrays] = [None] * len(own)
    for i in range(len(own) - 1):
        above[i + 1] = matched(rules, rows[i][0], rows[i + 1][0], above[i], None, "down").paths
    for i in range(len(own) - 1, 0, -1):
        below[i - 1] = matched(rules, rows[i - 1][1], rows[i][1], None, below[i], "up").paths
    parts = [matched(rules, *rows[i], above[i], below[i]) for i in range(len(own))]
    inner = [slice(first - top, end - top) for (first, end), (top, _) in zip(own, rows, strict=True)]
    names = ["disparity", "validity", *(["right"] if rules.reads_right else [])]
    return {name: np.concatenate([getattr(p, name)[s] for p, s in zip(parts, inner, strict=True)]) for name in names}


@pytest.mark.parametrize("paths", [4, 8])
def test_stripes_have_the_bits_of_the_whole(paths: int) -> None:
    pipeline = st.Pipeline("sgm").update({"sgm.paths": paths, "speckle.size": 20})
    rules = pipeline.partition_plan()
    assert rules.follows_paths and rules.fills and not rules.reads_images
    assert rules.path_kinds == (1 if paths == 4 else 3)
    maps = raw_maps(rules)
    refined = st.Matcher(pipeline=rules.refined, disparities=RANGE, refine_only=True)(None, None, maps=maps)
    whole = st.match(SCENE.left, SCENE.right, disparities=16, pipeline=pipeline)
    assert np.array_equal(refined.disparity, whole.disparity, equal_nan=True)
    assert np.array_equal(refined.validity, whole.validity)


def test_a_fill_divides_the_refinements_and_says_whether_its_rows_suffice() -> None:
    def stages(pipeline: st.Pipeline | None) -> list[str]:
        assert pipeline is not None
        return [slot.stage for slot in pipeline.slots() if slot.is_refinement]

    rules = st.Pipeline("sgm").partition_plan()
    assert stages(rules.unfilled) + stages(rules.filled) == stages(rules.refined) and stages(rules.filled)[0] == "fill"
    assert rules.takes_edges
    nearest = st.Pipeline("sgm").set("fill.mode", "nearest").partition_plan()
    assert not nearest.takes_edges and nearest.filled is not None
    disparity, validity = np.full((12, 4), np.nan, np.float32), np.zeros((12, 4), np.uint8)
    disparity[:, 0] = 7
    assert nearest.filled.rows_suffice(disparity, validity, 4, 4, False, False)
    assert not nearest.filled.rows_suffice(disparity, validity, 1, 4, False, False)  # a row above the maps may be nearer
    assert nearest.filled.rows_suffice(disparity, validity, 1, 4, True, False)
    with pytest.raises(st.CallError, match="rows"):
        nearest.filled.rows_suffice(disparity, validity, 9, 4, False, False)


def test_slots_have_the_properties_of_their_stages() -> None:
    slots = {slot.slot: slot for slot in st.Pipeline("sgm").set("refinements", ("left_right", "window_confidence", "fill")).slots()}
    assert slots["fill"].fills and not slots["fill"].keeps_invalid and slots["fill"].enabled
    assert slots["left_right"].keeps_invalid and slots["left_right"].changes_disparity
    assert not slots["window_confidence"].changes_disparity
    assert slots["select"].computes_subpixels == (st.Pipeline("sgm").get("select.subpixel") != "none")


def test_paths_alone_are_no_map() -> None:
    result = matched(st.Pipeline("sgm").partition_plan(), 0, 30, None, None, "down")
    assert "disparity" not in result and "paths" in result
    assert result.paths.shape == (1, 120, 16) and result.paths.dtype == np.uint16
    assert repr(result) == "<path costs of 120 columns>"


def test_required_input_is_what_a_region_reads() -> None:
    raw = st.Pipeline("zncc").partition_plan().raw
    m = st.Matcher(pipeline=raw, disparities=RANGE, region=(0, 40, 120, 10), device="cpu")
    x, y, w, h = m.explain(SCENE.left, SCENE.right).required_input
    assert (x, w) == (0, 120) and 0 < y < 40 and y + h > 50
    whole = m(SCENE.left, SCENE.right).disparity[40:50]
    part = st.Matcher(pipeline=raw, disparities=RANGE)(SCENE.left[y : y + h], SCENE.right[y : y + h])
    assert np.array_equal(part.disparity[40 - y : 50 - y], whole, equal_nan=True)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(st.CallError, match="cannot be matched in stripes"):
        st.Pipeline("ad-census").partition_plan()
    with pytest.raises(st.CallError, match="follow='across'"):
        st.Matcher("sgm", disparities=RANGE, stripe=st.BoundaryStripe(0, 9, follow="across"))(SCENE.left, SCENE.right)
    with pytest.raises(st.CallError, match="stripe=3 is not allowed"):
        st.Matcher("sgm", disparities=RANGE, stripe=3)  # type: ignore[arg-type]
    m = st.Matcher("sgm", disparities=RANGE, stripe=st.BoundaryStripe(10, 50, above=True))
    with pytest.raises(st.CallError, match="path costs must be"):
        m(SCENE.left, SCENE.right, paths_above=np.zeros((1, 120), np.uint16))
    with pytest.raises(st.CallError, match="not planned"):
        st.Matcher("sgm", disparities=RANGE)(SCENE.left, SCENE.right, paths_below=np.zeros((1, 120, 16), np.uint16))
    with pytest.raises(st.CallError, match="maps='depth' is not allowed"):
        st.Matcher("sgm", disparities=RANGE, refine_only=True)(None, None, maps={"depth": SCENE.disparity})
