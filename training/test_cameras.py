"""The conditions of cameras.py keep the truth exact, and do what they say."""

import json

import cameras
import numpy as np
import pytest

SIZE = (120, 200)


def smooth(x):
    """A texture of vertical stripes, so that a row that moves does not change it."""
    return 128 + 60 * np.sin(0.35 * x) + 40 * np.sin(0.11 * x + 1)


def stripes(slope=0.03):
    """A slanted plane with the texture of the right image."""
    y, x = np.indices(SIZE, np.float32)
    truth = 9 + slope * x
    colours = lambda grey: cameras.rounded(np.repeat(grey[..., None], 3, 2))
    mask = np.where(x - truth >= -0.5, cameras.VISIBLE, cameras.OCCLUDED).astype(np.uint8)
    return cameras.Pair(colours(smooth(x - truth)), colours(smooth(x)), truth, mask)


def noisy(seed=1):
    random = np.random.default_rng(seed)
    right = cameras.rounded(128 + 40 * random.standard_normal((*SIZE, 3)))
    left = np.roll(right, 7, 1)
    mask = np.full(SIZE, cameras.VISIBLE, np.uint8)
    mask[:, :7] = cameras.OCCLUDED
    return cameras.Pair(left, right, np.full(SIZE, 7, np.float32), mask)


def changed(pair, seed=3, **conditions):
    return cameras.apply(pair, conditions, np.random.default_rng(seed))


@pytest.mark.parametrize("name", cameras.CONDITIONS)
def test_the_same_seed_gives_the_same_pair_and_another_one_differs(name):
    pairs = [changed(noisy(), seed, **{name: cameras.CONDITIONS[name].high}) for seed in (1, 1, 2)]
    same = [all(np.array_equal(getattr(p, part), getattr(pairs[0], part)) for part in ("left", "right", "truth")) for p in pairs]
    assert same[:2] == [True, True]
    assert not np.array_equal(pairs[0].right, noisy().right) or not np.array_equal(pairs[0].left, noisy().left)
    assert not same[2] or name in ("white", "black")
    assert all(p.left.dtype == p.right.dtype == np.uint8 and p.left.shape == (*SIZE, 3) for p in pairs)


@pytest.mark.parametrize("name, strength", [("roll", 2), ("zoom", 4), ("shutter", 1), ("misaligned", 1), ("rows", 0.15)])
def test_the_truth_follows_what_moves(name, strength):
    pair = changed(stripes(), **{name: strength})
    moved = np.abs(pair.truth - stripes().truth).max()
    assert moved > 0.2 if name in ("roll", "zoom", "shutter") else moved == 0
    y, x = np.indices(SIZE)
    seen = (pair.mask == cameras.VISIBLE) & (x > 14) & (x < SIZE[1] - 3) & (y > 3) & (y < SIZE[0] - 4)

    def error(offset):
        at = x - pair.truth - offset
        rows = [np.interp(at[i], np.arange(SIZE[1]), pair.right[i, :, 0]) for i in range(SIZE[0])]
        return np.abs(np.array(rows) - pair.left[..., 0])[seen].mean()

    assert error(0) < 1.5
    assert min(error(0.25), error(-0.25)) > 2 * error(0)


@pytest.mark.parametrize("name", ["border_black", "border_replicated", "border_mixed", "round"])
def test_pixels_without_a_scene_have_no_truth(name):
    strength = 0.8 if name == "round" else 0.1
    pair = changed(noisy(), **{name: strength})
    removed = pair.mask == cameras.NO_SCENE
    assert 0.02 < removed.mean() < 0.6
    np.testing.assert_array_equal(~np.isfinite(pair.truth), removed)
    seen = pair.mask == cameras.VISIBLE
    y, x = np.nonzero(seen)
    kept = [(pair.left[y, x] == noisy().left[y, x]).mean(), (pair.right[y, x - 7] == noisy().right[y, x - 7]).mean()]
    assert min(kept) > 0.97 if name == "round" else min(kept) == 1  # the light of a disc falls towards its rim
    if name == "border_black":
        assert pair.left[removed].max() == 0
    if name == "border_replicated":
        assert pair.left[removed].std() > 10


@pytest.mark.parametrize("name", ["pattern", "columns", "watermark", "stamp", "dust"])
def test_both_eyes_have_the_same_at_the_same_place(name):
    grey = np.full((*SIZE, 3), 128, np.uint8)
    pair = cameras.Pair(grey, grey.copy(), np.full(SIZE, 7, np.float32), np.full(SIZE, cameras.VISIBLE, np.uint8))
    changed(pair, **{name: cameras.CONDITIONS[name].high})
    np.testing.assert_array_equal(pair.left, pair.right)
    assert pair.left.std() > 1
    np.testing.assert_array_equal(pair.truth, 7)


def test_files_lose_more_with_a_lower_quality():
    def loss(**condition):
        return np.abs(changed(stripes(), **condition).left.astype(float) - stripes().left).mean()

    assert loss(jpeg=30) > 2 * loss(jpeg=95)
    assert 0.3 < loss(video=3) < 15


def test_rectification_moves_the_blocks_of_the_eyes_apart():
    y, x = np.indices(SIZE)
    ramp = cameras.rounded(np.repeat((60 + 0.4 * x + 0.3 * y)[..., None], 3, 2))

    def apart(seed, name):
        pair = cameras.Pair(ramp, ramp.copy(), np.zeros(SIZE, np.float32), np.full(SIZE, cameras.VISIBLE, np.uint8))
        changed(pair, seed, **{name: 30})
        steps = [np.abs(np.diff(view[..., 1].astype(int), axis=1)).mean(0) for view in (pair.left, pair.right)]
        return len({int(np.argmax([s[i::8].mean() for i in range(8)])) for s in steps}) == 2

    assert sum(apart(seed, "rectified_jpeg") for seed in range(6)) >= 3  # by chance, one in eight is the same
    assert not any(apart(seed, "jpeg") for seed in range(6))


def test_exposure_clips_about_the_share():
    assert 0.3 < (changed(noisy(), white=0.4).left.max(2) == 255).mean() < 0.5
    assert 0.3 < (changed(noisy(), black=0.4).left.max(2) == 0).mean() < 0.5


def test_draws_have_the_shares():
    random = np.random.default_rng(1)
    draws = [cameras.drawn(random) for _ in range(3000)]
    of = lambda name: np.mean([name in draw for draw in draws])
    assert 0.08 < of("misaligned") < 0.12
    assert 0.15 < of("jpeg") < 0.21
    assert all(len(group & draw.keys()) <= 1 for draw in draws for group in cameras.FORBIDDEN_TOGETHER)
    assert all(cameras.CONDITIONS[n].low <= s <= cameras.CONDITIONS[n].high for draw in draws for n, s in draw.items())


def test_stacked_scenes_get_conditions_and_a_marked_backdrop(tmp_path):
    height, width = SIZE
    pair = noisy()
    pair.truth[:, 100:] = 1  # (21 - 1) / 20, where this scene ends
    names = {"left": pair.left, "right": pair.right, "disp_left": pair.truth, "mask_nonocc": pair.mask}
    for name, array in names.items():
        np.save(tmp_path / f"{name}.npy", np.concatenate([array, array]))
    about = {"width": width, "height": height, "scenes": [{"ndisp": 21}, {"ndisp": 21}]}
    (tmp_path / "scenes.json").write_text(json.dumps(about))
    cameras.finish(tmp_path, seed=(5,), share=0)
    mask = np.load(tmp_path / "mask_nonocc.npy")
    assert set(np.unique(mask[:, 100:])) == {cameras.VISIBLE - 1}
    np.testing.assert_array_equal(mask[:height, :100], pair.mask[:, :100])
    cameras.finish(tmp_path, seed=(5,), share=1, without=cameras.NOT_IN_STRIPS)
    written = json.loads((tmp_path / "scenes.json").read_text())["scenes"]
    assert written[0]["conditions"] != written[1]["conditions"]
    assert np.load(tmp_path / "left.npy").shape == (2 * height, width, 3)
