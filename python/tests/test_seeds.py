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


class Frame:
    """A frame of a still scene, with noise of its own."""

    def __init__(self, scene: st.Scene, number: int, **more: object) -> None:
        noise = np.random.default_rng(number).normal(0, 6, (2, *scene.left.shape))
        self.left, self.right = (np.clip(image + n, 0, 255).astype(np.uint8) for image, n in zip((scene.left, scene.right), noise, strict=True))
        self.__dict__.update(more)


def flicker(results: list[st.Result]) -> float:
    first, second = (np.array(r.disparity)[:, D:] for r in results[-2:])
    return float(np.mean(abs(first - second) > 1))


@pytest.mark.parametrize("way", ["over", "one"])
def test_the_frame_before_reduces_flicker(scene: st.Scene, way: str) -> None:
    def results(seed_previous: bool) -> list[st.Result]:
        frames = [Frame(scene, k) for k in range(3)]
        run = st.Run(frames, disparities=D, device="cpu", seed_previous=seed_previous, copy=True)
        return [done.result for done in run] if way == "over" else [run.one(frame).result for frame in frames]

    assert flicker(results(True)) < 0.6 * flicker(results(False))


def test_seeds_outside_the_range_are_said(scene: st.Scene, seeds: np.ndarray) -> None:
    far = np.where(np.isfinite(seeds), seeds + 1000, seeds)
    with pytest.warns(st.PairWarning, match=f"{np.isfinite(seeds).sum()} of {np.isfinite(seeds).sum()} seeds are outside the search range, 0 to {D - 1}"):
        alone = st.match(scene.left, scene.right, D, device="cpu", seeds=far)
    np.testing.assert_array_equal(alone.disparity, st.match(scene.left, scene.right, D, device="cpu").disparity)


def test_seeds_that_come_with_a_pair_are_used(scene: st.Scene, seeds: np.ndarray) -> None:
    (done,) = st.Run([Frame(scene, 0, seeds=seeds)], disparities=D, device="cpu", set={"seeds.stage": "seeds"}, align_rows="off")
    frame = Frame(scene, 0)
    alone = st.match(frame.left, frame.right, D, device="cpu", seeds=seeds, align_rows="off")
    np.testing.assert_array_equal(done.result.disparity, alone.disparity)
    one = st.Run([], disparities=D, device="cpu", set={"seeds.stage": "seeds"}, align_rows="off").one(Frame(scene, 0, seeds=seeds))
    np.testing.assert_array_equal(one.result.disparity, alone.disparity)
    with pytest.raises(st.CallError, match="leave one of them out"):
        list(st.Run([Frame(scene, 0, seeds=seeds)], disparities=D, device="cpu", seed_previous=True))


def test_the_frame_before_moves_with_the_camera_or_by_the_flow(scene: st.Scene) -> None:
    rig = st.Rig(focal=300, baseline="0.1 m", cx_left=120, cy=80)
    to_the_right = np.eye(4)
    to_the_right[0, 3] = -0.1
    moved = st.moved_disparities(scene.disparity, rig=rig, motion=to_the_right)
    by_flow = st.moved_disparities(scene.disparity, flow=np.stack([-scene.disparity, 0 * scene.disparity], -1))
    np.testing.assert_allclose(moved, by_flow, atol=1e-3)
    pairs = [Frame(scene, k, motion=to_the_right) for k in range(2)]
    with pytest.raises(st.CallError, match="has no rig"):
        list(st.Run(pairs, disparities=D, device="cpu", seed_previous=True))
    assert len(list(st.Run(pairs, disparities=D, device="cpu", seed_previous=True, rig=rig))) == 2


def test_points_of_a_sensor_are_seeds(scene: st.Scene, tmp_path) -> None:
    rig = st.Rig(focal=300, baseline="0.1 m", cx_left=120, cy=80)
    rows, columns = np.mgrid[0:160:5, 0:240:5]
    z = 300 * 0.1 / scene.disparity[rows, columns]
    points = np.stack([(columns - 120) / 300 * z, (rows - 80) / 300 * z, z, np.ones_like(z)], -1).reshape(-1, 4).astype(np.float32)
    points.tofile(tmp_path / "points.bin")
    read = st.read_points(tmp_path / "points.bin")
    np.testing.assert_array_equal(read, points[:, :3])
    seeds = st.seeds_of_points(read, rig, (240, 160))
    known = np.isfinite(seeds)
    assert known.mean() > 0.03
    np.testing.assert_allclose(seeds[known], scene.disparity[known], atol=1e-3)
    depth = np.full(scene.disparity.shape, np.nan, np.float32)
    depth[rows, columns], depth[0, 1], depth[0, 2] = z, 0, -1
    np.testing.assert_allclose(st.disparity_of_depth(depth, rig), seeds, atol=1e-3)
    with pytest.raises(st.CallError, match="both must be above 0"):
        st.disparity_of_depth(depth, st.Rig(focal=0, baseline="0.1 m", cx_left=120, cy=80))
    (tmp_path / "pose.txt").write_text("1 0 0 0\n0 1 0 0\n0 0 1 0\n")
    np.testing.assert_array_equal(st.seeds_of_points(read, rig, (240, 160), st.read_pose(tmp_path / "pose.txt")), seeds)
    with pytest.raises(st.CallError, match="no rotation"):
        st.seeds_of_points(read, rig, (240, 160), 2 * np.eye(4))
