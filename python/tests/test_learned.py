"""The learned cost is, to the bit, what the training emulates in integers; files of weights are read or refused."""

import pathlib
import sys

import numpy as np
import pytest

import stereopsis as st

TRAINING = pathlib.Path(__file__).parents[2] / "training"
if not TRAINING.exists():
    pytest.skip("the sources' folder training/ is not beside the tests", allow_module_level=True)
sys.path.insert(0, str(TRAINING))
import emulation  # noqa: E402
import weights  # noqa: E402


@pytest.fixture(scope="module")
def layers():
    random = np.random.default_rng(1)
    shapes = ((1, 6, 6), (6, 9, 9), (9, 30, 10))
    return [
        emulation.IntegerLayer(
            random.integers(-127, 128, (out, into, 3, 3)).astype(np.int8),
            random.integers(-3000, 3000, out).astype(np.int32), shift, -127 if out == 30 else 0)
        for into, out, shift in shapes
    ]


@pytest.fixture(scope="module")
def pair():
    random = np.random.default_rng(2)
    left = random.integers(0, 256, (23, 41)).astype(np.uint8)
    return left, np.roll(left, -3, 1)


def costs_of(pair, name):
    pipeline = st.Pipeline("sgm-learned")
    pipeline.set_params(**{"plus.stage": "none", "cost.scale": 16, "cost.weights": str(name)})
    return st.match(*pair, 16, device="cpu", pipeline=pipeline, want="cost").cost


def test_costs_are_those_of_the_emulation(layers, pair, tmp_path):
    weights.write(tmp_path / "own.weights", layers)
    left, right = (emulation.integer_features(layers, image) for image in pair)
    expected = emulation.integer_costs(left, right, 16)
    assert np.unique(expected).size > 40
    np.testing.assert_array_equal(costs_of(pair, tmp_path / "own.weights"), expected)


@pytest.mark.parametrize("name", ["learned32", "learned16"])
def test_shipped_weights_are_those_of_the_folder(pair, name):
    shipped = weights.read(TRAINING / "weights" / f"{name}.weights")
    left, right = (emulation.integer_features(shipped, image) for image in pair)
    np.testing.assert_array_equal(costs_of(pair, name), emulation.integer_costs(left, right, 16))


def test_damaged_weights_are_refused(layers, pair, tmp_path):
    data = bytearray(weights.to_bytes(layers))
    data[50] ^= 1
    (tmp_path / "damaged.weights").write_bytes(data)
    with pytest.raises(st.Error, match="damaged"):
        costs_of(pair, tmp_path / "damaged.weights")
    with pytest.raises(st.Error, match="cannot be read"):
        costs_of(pair, tmp_path / "absent.weights")


def test_any_two_costs_are_added_and_one_may_be_a_function(pair):
    def flat(call):
        call.made[...] = 40

    def volume(**slots):
        pipeline = st.Pipeline("sgm")
        for slot, stage in slots.items():
            setattr(pipeline, slot, stage)
        pipeline.refinements = []
        return st.match(*pair, 16, device="cpu", pipeline=pipeline, want="cost").cost.astype(int)

    alone = volume(cost="census")
    assert st.Pipeline("sgm-learned").plus == "census_gradient" and st.Pipeline("sgm").plus == "none"
    np.testing.assert_array_equal(volume(cost="census", plus=flat), np.minimum(alone + 40, 255))
    np.testing.assert_array_equal(volume(cost=flat, plus="census"), np.minimum(alone + 40, 255))
    with pytest.raises(st.CallError, match="volume"):
        st.Pipeline("sgm").plus = "volume"
