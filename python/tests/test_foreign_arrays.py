"""Arrays of other frameworks: DLPack and __cuda_array_interface__. Tests that need a GPU are in gpu/."""

import gc
import types

import numpy as np
import pytest
import stereopsis as st
from dlpack_standin import Exchanging, Interface, Lender, OnGpu
from stereopsis import _native

HAS_CUDA = any(device.usable and device.name.startswith("cuda") for device in st.devices())


@pytest.fixture
def pair(scene):
    return np.ascontiguousarray(scene.left[..., 1]), np.ascontiguousarray(scene.right[..., 1])


def lent(left, right, *, mask_left=None, mask_right=None, volume=None, stream=None, colour="rgb"):
    inputs = {"left": left, "right": right, "mask_left": mask_left, "mask_right": mask_right, "volume": volume}
    return _native.Pair(inputs, 0, colour, stream)


@pytest.mark.parametrize("versioned", [False, True])
def test_dlpack_on_the_host_is_taken_where_it_is(scene, pair, same_bits, versioned):
    expected = st.match(*pair, disparities=32, device="cpu")
    found = st.match(*(Lender(image, versioned) for image in pair), disparities=32, device="cpu")
    same_bits(found.disparity, expected.disparity)
    wide = [Lender(np.pad(image, ((0, 0), (3, 8)))[:, 3:-8], versioned) for image in pair]
    same_bits(st.match(*wide, disparities=32, device="cpu").disparity, expected.disparity)
    mask = np.ones((120, 160), bool)
    mask[10:30] = False
    masked = st.match(*pair, disparities=32, device="cpu", mask_left=Lender(mask, versioned))
    assert np.isnan(masked.disparity[10:30]).all()


def test_a_tensor_of_the_host_is_refused_as_an_array_is(pair):
    for make in (Lender, lambda a: a):
        with pytest.raises(st.CallError, match="left has a layout that is not supported"):
            st.match(make(pair[0][:, ::2]), make(pair[1][:, ::2]), 32)
        with pytest.raises(st.CallError, match="left has the type float64"):
            st.match(make(pair[0].astype(float)), make(pair[1]), 32)


@pytest.mark.parametrize(
    "stream, number",
    [
        (None, 1),
        (0, 1),
        (2, 2),
        (1234567, 1234567),
        (types.SimpleNamespace(cuda_stream=77), 77),
        (types.SimpleNamespace(ptr=78), 78),
        (types.SimpleNamespace(handle=types.SimpleNamespace(value=79)), 79),
        (types.SimpleNamespace(handle=types.SimpleNamespace(value=None)), 1),
        (types.SimpleNamespace(__cuda_stream__=lambda: (0, 80)), 80),
    ],
)
def test_the_producer_is_told_the_stream(pair, stream, number):
    left, right = map(OnGpu, pair)
    taken = lent(left, right, stream=stream)
    assert left.asked == right.asked == [number]
    assert taken.stream == number
    assert taken.kind == ((120, 160, 1, "uint8"), None, "cuda:0")


def test_functions_of_the_type_replace_the_protocol(pair):
    left, right = map(Exchanging, pair)
    taken = lent(left, right, stream=77)
    assert left.asked == right.asked == []  # __dlpack__ was not called
    assert taken.stream == 77
    assert taken.kind == ((120, 160, 1, "uint8"), None, "cuda:0")
    assert left.given_back == right.given_back == 0
    del taken
    gc.collect()
    assert left.given_back == right.given_back == 1


def test_the_protocol_is_used_for_what_the_functions_do_not_take(pair, monkeypatch):
    floats = [Exchanging(image.astype(np.float32)) for image in pair]
    taken = lent(*floats, stream=77)
    assert [image.asked for image in floats] == [[77], [77]] and taken.kind[0] == (120, 160, 1, "float32")
    assert [image.given_back for image in floats] == [1, 1]  # by the functions; __dlpack__ lent them again
    monkeypatch.setattr(Exchanging, "fails", True)
    left, right = map(Exchanging, pair)
    lent(left, right)
    assert left.asked == right.asked == [1]


def test_what_was_lent_is_given_back(pair):
    left, right = map(OnGpu, pair)
    taken = lent(left, right)
    assert left.given_back == right.given_back == 0
    del taken
    gc.collect()
    assert left.given_back == right.given_back == 1
    with pytest.raises(st.CallError):
        lent(OnGpu(pair[0]), right := OnGpu(pair[1], device=1))
    gc.collect()
    assert right.given_back == 1


def test_pitched_and_unstrided_tensors(scene):
    whole = scene.left
    assert lent(OnGpu(whole, in_order=False), OnGpu(whole)).kind[0] == (120, 160, 3, "uint8")
    assert lent(OnGpu(whole[10:50, 20:100]), OnGpu(whole[10:50, 20:100])).kind[0] == (40, 80, 3, "uint8")
    volume = np.zeros((6, 5, 4), np.uint16)
    assert lent(None, None, volume=OnGpu(volume)).kind == (None, (6, 5, 4, "uint16"), "cuda:0")


@pytest.mark.parametrize("make", [OnGpu, Interface])
@pytest.mark.parametrize("view", [lambda a: a[:, ::2], lambda a: a[::-1], lambda a: a[:, ::-1], lambda a: a.T])
def test_what_does_not_lie_in_rows_is_refused(pair, make, view):
    with pytest.raises(st.CallError, match="left has a layout that is not supported: .* pass a contiguous copy of left"):
        lent(make(view(pair[0])), make(view(pair[1])))


@pytest.mark.parametrize(
    "call, said",
    [
        (lambda l, r: lent(OnGpu(l, 0), OnGpu(r, 1)), "left is in cuda:0 and right in cuda:1; copy all to one device"),
        (lambda l, r: lent(OnGpu(l), r), "left is in cuda:0 and right in the memory of the host"),
        (lambda l, r: lent(l, Interface(r)), "left is in the memory of the host and right in cuda"),
        (lambda l, r: lent(OnGpu(l), OnGpu(r), mask_left=OnGpu(l, 2)), "mask_left in cuda:2"),
        (lambda l, r: lent(OnGpu(l, kind=10), OnGpu(r, kind=10)), "type 10; it must be in host memory or on CUDA"),
        (lambda l, r: lent(OnGpu(l.astype(np.int8)), OnGpu(r)), "left has the type int8"),
        (lambda l, r: lent(Interface(l.astype(">u2")), OnGpu(r)), "left has the type >u2"),
        (lambda l, r: lent(Interface(l, stream=0), Interface(r)), "stream 0"),
        (lambda l, r: lent(Interface(l, mask=r), Interface(r)), "is a masked array"),
        (lambda l, r: lent(Interface(l, shape="none"), Interface(r)), "invalid __cuda_array_interface__"),
        (lambda l, r: lent(l, r, stream=5), "stream= applies to arrays on a GPU"),
        (lambda l, r: lent(OnGpu(l), OnGpu(r), stream="s"), "stream='s' is not a stream"),
        (lambda l, r: lent(OnGpu(l), OnGpu(r), stream=-3), "stream=-3 is not a stream"),
        (lambda l, r: lent(OnGpu(np.stack([l] * 3, 2)), OnGpu(np.stack([r] * 3, 2)), colour="bgra"), "BGRA must be (height, width, 4)"),
        (lambda l, r: st.Matcher(disparities=32, device="cpu")(OnGpu(l), OnGpu(r)), "the matcher runs on cpu"),
        (lambda l, r: st.Matcher()(OnGpu(l), OnGpu(r)), "give the search range"),
        (lambda l, r: next(st.Matcher(disparities=32).stream([(OnGpu(l), OnGpu(r))])), "requires arrays of the host"),
        (lambda l, r: st.check(OnGpu(l), OnGpu(r)), "copy them to the host"),
    ],
)
def test_refusals_are_a_sentence(pair, call, said):
    with pytest.raises(ValueError) as refused:
        call(*pair)
    assert said in str(refused.value)


class Unspeakable(Exception):
    def __str__(self):
        raise KeyError


def test_a_producer_that_fails_is_told(pair):
    class Failing(OnGpu):
        def __dlpack__(self, *, stream=None):
            raise BufferError("tensors that need a gradient are not lent")

    with pytest.raises(st.CallError, match="left, a Failing, does not support DLPack: tensors that need a gradient"):
        lent(Failing(pair[0]), OnGpu(pair[1]))


@pytest.mark.parametrize(
    "raised, said",
    [(ValueError("\udcff"), r"\\udcff"), (BufferError(b"\xff"), r"b'\\xff'"), (Unspeakable(), "Unspeakable without a text")],
    ids=["surrogate", "bytes", "unspeakable"],
)
def test_a_producer_may_raise_any_text(pair, raised, said):
    class Failing(OnGpu):
        def __dlpack__(self, *, stream=None):
            raise raised

    with pytest.raises(st.CallError, match=f"left, a Failing, does not support DLPack: .*{said}"):
        lent(Failing(pair[0]), OnGpu(pair[1]))


@pytest.mark.parametrize("device", ["gpu", (2,), ("cuda", 0), None, (2, 1 << 40), "\udcff"])
def test_a_wrong_dlpack_device_is_told(pair, device):
    class Wrong(OnGpu):
        def __dlpack_device__(self):
            return device

    with pytest.raises(st.CallError, match="left, a Wrong, does not support DLPack: __dlpack_device__ returned"):
        lent(Wrong(pair[0]), OnGpu(pair[1]))


@pytest.mark.parametrize("name", [5, "\udcff", None])
def test_a_wrong_name_in_out_is_told(pair, name):
    with pytest.raises(st.CallError, match="out="):
        st.Matcher(disparities=32, device="cpu")(*pair, out={name: np.zeros((120, 160), np.float32)})


def test_interfaces_are_of_the_same_kinds(pair):
    assert lent(*map(Interface, pair)).kind == ((120, 160, 1, "uint8"), None, "cuda")
    assert lent(Interface(pair[0]), OnGpu(pair[1], 1)).kind[2] == "cuda:1"
    floats = [image.astype(np.float32) for image in pair]
    assert lent(*map(Interface, floats)).kind[0] == (120, 160, 1, "float32")


@pytest.mark.skipif(HAS_CUDA, reason="a GPU is there; gpu/ tests what it does")
def test_without_a_gpu_the_device_is_named(pair):
    with pytest.raises(st.UnsupportedError, match="cuda"):
        st.Matcher(disparities=32)(*map(OnGpu, pair))
