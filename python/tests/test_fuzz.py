"""Any array gives a result of its size or one clear exception."""

import numpy as np
import pytest
import stereopsis as st
from dlpack_standin import Lender

hypothesis = pytest.importorskip("hypothesis", reason="hypothesis draws the arrays")
from hypothesis import strategies as draw  # noqa: E402

TYPES = ["u1", "?", "i1", "<u2", ">u2", "i2", "f2", "<f4", ">f4", "f8", "c8", "u4", "O", "S3", "M8[s]"]
SETTINGS = hypothesis.settings(max_examples=400, deadline=None, derandomize=True, database=None)


@draw.composite
def arrays(draws, common):
    """Draws an array, often of a common shape and type, sometimes as a view with any steps into larger memory."""
    shape = tuple(draws(draw.lists(draw.integers(0, 9), min_size=1, max_size=4)))
    shape = draws(draw.sampled_from([common, common, common, shape]))
    dtype = np.dtype(draws(draw.sampled_from(["u1", "<u2", "<f4", *TYPES])))
    steps = [draws(draw.sampled_from([1, 1, 1, 1, 2, 3, -1, -2])) for _ in shape]
    more = [draws(draw.integers(0, 3)) for _ in shape]
    whole = np.zeros([n * abs(s) + m for n, s, m in zip(shape, steps, more)], dtype)
    if dtype.kind in "uif":
        whole[...] = np.random.default_rng(draws(draw.integers(0, 99))).integers(0, 120, whole.shape)
    view = whole[tuple(slice(None, None, s) for s in steps)][tuple(slice(0, n) for n in shape)]
    if draws(draw.booleans()):
        view.flags.writeable = False
    order = draws(draw.sampled_from([None, None, None, "broadcast", "transpose"]))
    if order == "transpose":
        view = view.T
    if order == "broadcast" and view.ndim:
        view = np.broadcast_to(view[..., :1], view.shape)
    return Lender(view) if dtype.kind in "uif" and draws(draw.integers(0, 4)) == 0 else view


@draw.composite
def calls(draws):
    h, w = draws(draw.integers(1, 20)), draws(draw.integers(1, 20))
    common = draws(draw.sampled_from([(h, w), (h, w, 3), (h, w, 1)]))
    images = arrays(common)
    kind = draws(draw.sampled_from(["images", "images", "mask", "volume"]))
    left = draws(images)
    right = left if draws(draw.booleans()) else draws(images)
    count = draws(draw.integers(1, 9))
    more = {}
    if kind == "mask":
        more["mask_left"] = draws(arrays((h, w)))
    if kind == "volume":
        more["volume"] = draws(arrays((h, w, count)))
    return left, right, count, more


@SETTINGS
@hypothesis.given(calls())
def test_any_arrays(call):
    left, right, count, more = call
    pipeline = st.Pipeline("banz-sgm")
    if "volume" in more:
        pipeline.update({"cost.stage": "volume", "aggregation.stage": "none"})
    try:
        result = st.Matcher(pipeline=pipeline, disparities=count, device="cpu", threads=1)(left, right, **more)
    except st.Error as error:
        assert isinstance(error, (ValueError, MemoryError, RuntimeError)) and len(str(error)) > 20
        return
    shape = np.shape(getattr(left, "array", left))
    assert result.disparity.shape == shape[:2] and result.disparity.dtype == np.float32
    valid = ~np.isnan(result.disparity)
    assert ((result.disparity[valid] >= 0) & (result.disparity[valid] <= count - 1)).all()


OPTIONS = [
    *("disparities", "region", "want", "probes", "bit_depth", "threads", "memory_limit", "device", "colour", "frame"),
    *("implementation", "disparity_error", "fill_depth", "rig", "calibration", "method", "sgm.p1"),
]
WHATEVER = draw.recursive(
    draw.one_of(
        draw.none(), draw.booleans(), draw.integers(-9, 9), draw.integers(-(10**30), 10**30), draw.floats(), draw.text(max_size=9)
    ),
    lambda inner: draw.lists(inner, max_size=4) | draw.tuples(inner, inner) | draw.dictionaries(draw.text(max_size=3), inner, max_size=2),
    max_leaves=5,
)


@SETTINGS
@hypothesis.given(WHATEVER, draw.sampled_from(OPTIONS))
def test_any_option(value, name):
    image = np.arange(42, dtype=np.uint8).reshape(6, 7)
    options = {"disparities": 4, "device": "cpu", **({"set": {name: value}} if "." in name else {name: value})}
    try:
        result = st.match(image, image, **options)
    except st.Error as error:
        assert isinstance(error, (ValueError, MemoryError, RuntimeError)) and len(str(error)) > 20
        return
    assert result.disparity.shape == (6, 7)
