"""Seeds: disparities that are known beforehand."""

from __future__ import annotations

import numpy as np
import pytest
import stereopsis as st

D = 48


@pytest.fixture(scope="module")
def scene() -> st.Scene:
    return st.synth("table", width=240, height=160, disparities=D, seed=3)


@pytest.fixture(scope="module")
def seeds(scene: st.Scene) -> np.ndarray:
    known = np.random.default_rng(1).random(scene.disparity.shape) < 0.03
    return np.where(known, scene.disparity, np.nan).astype(np.float32)


def share_wrong(result: st.Result, scene: st.Scene) -> float:
    return float(np.mean(~(abs(result.disparity - scene.disparity) <= 1)[scene.nonocc == 255]))


def test_seeds_guide_a_match_and_measure_no_pixel(scene: st.Scene, seeds: np.ndarray) -> None:
    plain = st.match(scene.left, scene.right, D)
    seeded = st.match(scene.left, scene.right, D, seeds=seeds)
    assert share_wrong(seeded, scene) < 0.8 * share_wrong(plain, scene)
    wrong = [np.mean(~(abs(r.disparity - scene.disparity) <= 1)[(scene.nonocc == 255) & (r.validity == 0)]) for r in (plain, seeded)]
    assert wrong[1] < wrong[0]


def test_seeds_without_trust_change_nothing(scene: st.Scene, seeds: np.ndarray) -> None:
    plain = st.match(scene.left, scene.right, D)
    without = st.match(scene.left, scene.right, D, seeds=seeds, seed_trust=np.zeros_like(seeds))
    np.testing.assert_array_equal(without.disparity, plain.disparity)


def test_a_matcher_takes_seeds_if_its_pipeline_does(scene: st.Scene, seeds: np.ndarray) -> None:
    with st.Matcher("sgm", disparities=D, set={"seeds.stage": "seeds"}) as matcher:
        np.testing.assert_array_equal(
            matcher(scene.left, scene.right, seeds=seeds).disparity,
            st.match(scene.left, scene.right, D, seeds=seeds, align_rows="off").disparity,
        )
        with pytest.raises(st.CallError, match="no memory was passed for the seeds"):
            matcher(scene.left, scene.right)
    with st.Matcher("sgm", disparities=D) as matcher, pytest.raises(st.CallError, match="plan for seeds"):
        matcher(scene.left, scene.right, seeds=seeds)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda s: s[:-1], "the shape of the seeds"),
        (lambda s: np.where(np.isnan(s), s, np.inf), "have the value inf"),
        (lambda s: np.zeros(s.shape, np.int64), "float32"),
    ],
)
def test_seeds_that_do_not_fit_are_rejected(scene: st.Scene, seeds: np.ndarray, change, sentence: str) -> None:
    with pytest.raises(st.CallError, match=sentence):
        st.match(scene.left, scene.right, D, seeds=change(seeds))
