"""Arrays in and out: what is taken as it is, and what is refused."""

import ctypes
import pickle

import numpy as np
import pytest
import stereopsis as st


def grey(image):
    return np.ascontiguousarray(image[..., 1])


@pytest.fixture(scope="module")
def pair(scene):
    return grey(scene.left), grey(scene.right)


def match(left, right, **options):
    return st.match(left, right, disparities=32, device="cpu", **options)


def test_types_agree_where_they_hold_the_same(pair, same_bits):
    expected = match(*pair).disparity
    same_bits(match(*(image.astype(np.float32) for image in pair)).disparity, expected)
    same_bits(match(*(image.astype(np.uint16) for image in pair), bit_depth=8).disparity, expected)
    same_bits(match(*(image[..., None] for image in pair)).disparity, expected)


def test_views_are_taken_as_they_are(pair, same_bits):
    expected = match(*pair).disparity
    wide = [np.pad(image, ((0, 0), (5, 9))) for image in pair]
    same_bits(match(*(image[:, 5:-9] for image in wide)).disparity, expected)
    rows = [np.repeat(image, 2, axis=0) for image in pair]
    same_bits(match(*(image[::2] for image in rows)).disparity, expected)
    for image in pair:
        image.flags.writeable = False
    same_bits(match(*pair).disparity, expected)
    same_bits(match(memoryview(pair[0]), pair[1]).disparity, expected)


def test_arrays_of_ctypes_are_taken(pair, same_bits):
    """Their buffers have no strides."""
    pixels = [(ctypes.c_ubyte * 160 * 120).from_buffer_copy(image) for image in pair]
    same_bits(match(*pixels).disparity, match(*pair).disparity)
    with pytest.raises(st.CallError, match="shape"):
        match(np.datetime64("2026-11-29"), pair[1])


def test_bgr_is_rgb_in_another_order(scene, same_bits):
    expected = st.match(scene.left, scene.right, disparities=32, method="costfilter", device="cpu").disparity
    bgr = [np.ascontiguousarray(image[..., ::-1]) for image in (scene.left, scene.right)]
    same_bits(st.match(*bgr, disparities=32, method="costfilter", device="cpu", color="bgr").disparity, expected)
    for colour, order in (("rgba", [0, 1, 2, 0]), ("bgra", [2, 1, 0, 1])):
        four = [np.ascontiguousarray(image[..., order]) for image in (scene.left, scene.right)]
        same_bits(st.match(*four, disparities=32, method="costfilter", device="cpu", colour=colour).disparity, expected)


def test_nv12_is_its_luma_to_methods_on_grey(scene, pair, same_bits):
    nv12 = [np.concatenate([image, np.full((60, 160), 128, np.uint8)]) for image in pair]
    mask = np.full((120, 160), 255, np.uint8)
    mask[40:60, 50:90] = 0
    how = dict(disparities=32, method="banz-sgm", device="cpu")
    expected = st.match(*pair, mask_left=mask, region=(20, 31, 90, 50), **how)
    same_bits(st.match(*nv12, mask_left=mask, region=(20, 31, 90, 50), colour="nv12", **how).disparity, expected.disparity)
    steps = [step.stage for step in st.Matcher("esaw", disparities=32, device="cpu", colour="nv12").explain(*nv12).steps]
    assert steps[0] == "nv12"
    assert st.Matcher("banz-sgm", disparities=32, device="cpu", colour="nv12").explain(*nv12).steps[0].stage != "nv12"
    assert st.match(*nv12, colour="nv12", method="banz-sgm", device="cpu").disparity.shape == (120, 160)  # the range is estimated


def test_mosaics(scene, same_bits):
    mosaics = []
    for image in (scene.left, scene.right):
        mosaic = image[..., 1].copy()
        mosaic[::2, ::2], mosaic[1::2, 1::2] = image[::2, ::2, 0], image[1::2, 1::2, 2]
        mosaics.append(mosaic)
    matched = {
        name: st.match(*given, disparities=32, method="esaw", device="cpu", colour=name).disparity
        for name, given in (
            ("bayer_rggb", mosaics),
            ("bayer_grbg", [mosaic[:, 1:] for mosaic in mosaics]),
            ("bayer_gbrg", [mosaic[1:] for mosaic in mosaics]),
            ("bayer_bggr", [mosaic[1:, 1:] for mosaic in mosaics]),
        )
    }
    truth = scene.disparity
    assert np.nanmean(np.abs(matched["bayer_rggb"] - truth) < 1.5) > 0.6
    inside = np.s_[50:70, 100:120]  # away from the edges, which are mirrored elsewhere
    for name, (y, x) in (("bayer_grbg", (0, 1)), ("bayer_gbrg", (1, 0)), ("bayer_bggr", (1, 1))):
        assert np.mean(matched[name][inside] == np.roll(matched["bayer_rggb"], (-y, -x), (0, 1))[inside]) > 0.9


def test_masks_and_regions(scene):
    mask = np.ones((120, 160), bool)
    mask[40:60, 50:90] = False
    result = match(scene.left, scene.right, mask_left=mask, mask_right=np.full((120, 160), 255, np.uint8))
    assert np.isnan(result.disparity[40:60, 50:90]).all()
    assert (result.validity[40:60, 50:90] & st.validity.masked).all()
    result = match(scene.left, scene.right, region=(20, 10, 60, 50))
    inside = np.zeros((120, 160), bool)
    inside[10:60, 20:80] = True
    assert (result.validity[~inside] == st.validity.outside).all()
    assert not (result.validity[inside] & st.validity.outside).any()


def test_everything_that_is_wanted_comes(scene):
    rig = st.Rig(focal=300, baseline=120, unit="mm")
    wanted = ["right", "confidence", "depth", "points", "uncertainty", "cost", "optimised", "times"]
    result = match(scene.left, scene.right, rig=rig, want=wanted)
    for name in wanted[:3] + ["uncertainty"]:
        array = getattr(result, name)
        assert array.shape == (120, 160) and array.dtype == np.float32
    assert result.cost.shape == result.optimised.shape == (120, 160, 32)
    assert "aggregated" not in result and "rectified" not in result
    assert result.times and all(ms >= 0 for ms in result.times.values())
    valid = ~np.isnan(result.depth)
    np.testing.assert_allclose(result.depth[valid], 300 * 120 / result.disparity[valid], rtol=1e-5)
    assert 0 <= np.nanmin(result.confidence) <= np.nanmax(result.confidence) <= 1
    assert 0.5 < result.density <= 1


def test_a_volume_of_ones_own_is_the_stages_own(scene, same_bits):
    penalties = {
        "sgm.p1": 5,
        "sgm.p2": 40,
        "sgm.p2_min": 0,
        "sgm.gradient": 0,
        "sgm.paths": 8,
        "select.subpixel": "parabola",
    }
    plain = {"cost.stage": "census", "refinements": ["median"], **penalties}
    expected = st.match(
        scene.left, scene.right, disparities=(-3, 20), device="cpu", set=plain, want=["cost", "optimised"]
    )
    found = st.match_volume(expected.cost, first=-3, device="cpu", want="optimised", set=penalties)
    same_bits(found.disparity, expected.disparity)
    same_bits(found.optimised, expected.optimised)
    with pytest.raises(st.CallError, match=r"cost volume must be \(height, width, disparities\)"):
        st.match_volume(expected.cost[:, :, 0])
    st.match_volume(np.full((8, 9, 4), 200, np.float32), set={"volume.largest": 200}, device="cpu")


def test_results_outlive_the_matcher_and_each_other(scene, same_bits):
    with st.Matcher("sgm", disparities=32, device="cpu") as matcher:
        results = [matcher(scene.left, scene.right) for _ in range(5)]
    kept = results[0].disparity
    before = kept.copy()
    for result in results[1:]:
        result.disparity.fill(7)
    del results, result, matcher
    [match(scene.left, scene.right) for _ in range(3)]
    same_bits(kept, before)
    assert kept.base is not None and kept.strides[0] % 64 == 0  # over the image's own memory


def test_results_and_pipelines_and_rigs_pickle(scene, same_bits):
    result = match(scene.left, scene.right, want="confidence")
    again = pickle.loads(pickle.dumps(result))
    same_bits(again.disparity, result.disparity)
    same_bits(again.confidence, result.confidence)
    pipeline = st.Pipeline("zncc").set("zncc.window", 7)
    assert pickle.loads(pickle.dumps(pipeline)) == pipeline
    rig = pickle.loads(
        pickle.dumps(st.Rig(focal=300, baseline=0.1, cx_left=4, cx_right=5, cy=6, unit="m", size=(7, 8)))
    )
    assert (rig.focal, rig.baseline, rig.cx_left, rig.cx_right, rig.cy, rig.unit, rig.size) == (
        300,
        0.1,
        4,
        5,
        6,
        "m",
        (7, 8),
    )



def test_float_costs_that_would_be_cut_are_refused(same_bits):
    costs = np.random.default_rng(3).integers(0, 250, (30, 40, 12)).astype(np.float32)
    costs[:, :3, 5] = np.nan
    costs[2, 2, 2] = np.inf
    with pytest.raises(st.CallError, match="costs up to 249, and costs above 1 would be clamped to 1; set cost.largest=249"):
        st.match_volume(costs)
    with pytest.raises(st.CallError, match="costs down to -1, and costs below 0 would be clamped to 0"):
        st.match_volume(costs / np.float32(255) - 1, optimise="sgm")
    expected = st.match_volume(costs / np.float32(255)).disparity
    same_bits(st.match_volume(costs, largest=255).disparity, expected)
    same_bits(st.match_volume(costs, set={"cost.largest": 255}).disparity, expected)


@pytest.mark.parametrize(
    "spoil, said",
    [
        (lambda image: image.astype(np.float64), "has the type float64; it must be uint8, uint16 or float32"),
        (lambda image: image.astype(np.int16), "has the type int16"),
        (lambda image: image.astype(np.complex64), "has the type complex64"),
        (lambda image: image.astype(">u2"), "has the type >u2"),
        (lambda image: image.tolist(), "is a list, not an array"),
        (lambda image: image.tobytes(), "has the shape (19200,)"),
        (lambda image: None, "one image of the pair is None"),
        (lambda image: image[0], "has the shape (160,); an image must be (height, width)"),
        (lambda image: image[None, None], "has the shape (1, 1, 120, 160)"),
        (lambda image: np.zeros((120, 160, 4), np.uint8), "has the shape (120, 160, 4)"),
        (lambda image: image[:0], "no pixels"),
        (lambda image: image[:, :0], "no pixels"),
        (lambda image: np.array(3, np.uint8), "has the shape ()"),
        (lambda image: image.T.copy().T, "pass numpy.ascontiguousarray(left)"),
        (lambda image: image[:, ::-1], "pass numpy.ascontiguousarray(left)"),
        (lambda image: image[::-1], "pass numpy.ascontiguousarray(left)"),
        (lambda image: np.broadcast_to(image[0], image.shape), "pass numpy.ascontiguousarray(left)"),
        (lambda image: np.stack([image] * 3, axis=-1)[..., ::-1], "color='bgr'"),
        (lambda image: np.stack([image] * 4, axis=-1)[..., :3], "pass numpy.ascontiguousarray(left)"),
        (lambda image: image[:, 1:], "159×120"),
        (lambda image: image.astype(np.uint16), "both must have the same type"),
    ],
)
def test_what_is_no_such_image_is_refused(pair, spoil, said):
    with pytest.raises(st.CallError) as refused:
        match(spoil(pair[0]), pair[1])
    assert said in str(refused.value) and "\n" not in str(refused.value)


def test_the_range_of_raw_pairs_is_that_of_rectified_ones(scene):
    left, right = (st.Camera(fx=200, fy=200, cx=cx, cy=60) for cx in (80, 50))
    rig = st.Rig(focal=200, baseline=0.1, cx_left=80, cx_right=80, cy=60, size=(160, 120))
    cameras = st.Calibration(size=(160, 120), left=left, right=right, rotation=list(np.eye(3).ravel()), translation=[-0.1, 0, 0], rig=rig)
    rectified = st.Rectification(cameras)(scene.left, scene.right)[:2]
    m = st.Matcher(calibration=cameras, device="cpu")
    with pytest.warns(st.PairWarning, match="negative range"):  # the cameras converge
        m(scene.left, scene.right)
    assert m.disparities == st.check(*rectified).disparities != st.check(scene.left, scene.right).disparities
    with pytest.raises(st.CallError, match="give the search range"):
        st.Matcher(calibration=cameras, device="cpu", colour="bgr")(scene.left, scene.right)


def test_masks_of_all_kinds_mean_the_same(scene):
    usable = np.ones((120, 160), bool)
    usable[40:60, 50:90] = False
    expected = match(scene.left, scene.right, mask_left=usable, mask_right=~usable)
    for other in (0, 128):
        left, right = (np.where(m, 255, other).astype(np.uint8) for m in (usable, ~usable))
        got = match(scene.left, scene.right, mask_left=left, mask_right=right)
        np.testing.assert_array_equal(got.disparity, expected.disparity)
    for wrong, sentence in ((1, "multiply the mask by 255"), (7, "the mask is 7 at 0,0")):
        with pytest.raises(st.CallError, match=f"mask_left: .*{sentence}"):
            match(scene.left, scene.right, mask_left=np.full((120, 160), wrong, np.uint8))


def test_arrays_with_a_mask_of_their_own_are_refused(pair):
    masked = np.ma.masked_array(pair[0], mask=np.ones_like(pair[0], bool))
    with pytest.raises(st.CallError, match="left is a masked array"):
        st.match(masked, pair[1], 24)


def test_one_array_is_not_for_two_results(pair):
    m = st.Matcher("sgm", disparities=24, device="cpu", want=["confidence"])
    one = np.empty(pair[0].shape[:2], np.float32)
    with pytest.raises(st.CallError, match="share memory"):
        m(*pair, out={"disparity": one, "confidence": one})


def test_the_right_image_and_masks_are_checked_too(pair):
    left, right = pair
    with pytest.raises(st.CallError, match="^right has the type float64"):
        match(left, right.astype(float))
    with pytest.raises(st.CallError, match="^mask_left has .* float32; a mask must be"):
        match(left, right, mask_left=np.ones((120, 160), np.float32))
    with pytest.raises(st.CallError, match="160×119 pixels"):
        match(left, right, mask_right=np.full((119, 160), 255, np.uint8))
    for colour, said in (
        ("bgr", r"left has the shape \(120, 160\); an image in the format BGR must be \(height, width, 3\)"),
        ("rgba", r"RGBA must be \(height, width, 4\)"),
    ):
        with pytest.raises(st.CallError, match=said):
            match(left, right, colour=colour)
    with pytest.raises(st.CallError, match="cannot have the format NV12"):
        match(left[:-1], right[:-1], colour="nv12")
