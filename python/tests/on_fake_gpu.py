"""Checks on the CUDA driver that is made for tests (tests/support/fake_cuda.cpp): its memory is the host's, its kernels do nothing,
and its calls are counted. A program: the name of a check. test_fake_gpu.py runs each in a process of its own."""

import ctypes
import gc
import pickle
import sys
import weakref

import dlpack_standin
import numpy as np
import stereopsis as st
from dlpack_standin import Exchanging, Interface, Managed

driver = ctypes.CDLL("libcuda.so.1")
driver.fake_cuda_allocated.argtypes = [ctypes.c_uint64, ctypes.c_size_t]
driver.fake_cuda_freed.argtypes = [ctypes.c_uint64]
capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
capsule_pointer.restype, capsule_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
rename = ctypes.pythonapi.PyCapsule_SetName
rename.argtypes = [ctypes.py_object, ctypes.c_char_p]

H, W, D = 48, 72, 16
DEFAULT, SIDE, OTHER = 1, 7000, 8000  # numbers of streams


def calls(name, stream=None):
    return driver.fake_cuda_calls((name if stream is None else f"{name}@{stream}").encode())


def fail(name, status):
    driver.fake_cuda_fail(name.encode(), status)


class OnGpu(dlpack_standin.OnGpu):
    """The driver knows its memory as the device's, as long as it lives."""

    def __init__(self, array, device=0, **how):
        super().__init__(array, device, **how)
        first, end = np.lib.array_utils.byte_bounds(array)
        driver.fake_cuda_allocated(first, end - first)
        weakref.finalize(self, driver.fake_cuda_freed, first)


def images(device=0):
    return [OnGpu(np.full((H, W), value, np.uint8), device) for value in (1, 2)]


def matcher(**options):
    return st.Matcher("banz-sgm", disparities=D, **options)


def pointer(array):
    return array.__cuda_array_interface__["data"][0]


class Taken:
    """Takes an array by DLPack, as a framework does."""

    def __init__(self, array, **how):
        capsule = array.__dlpack__(**how)
        self.managed = ctypes.cast(capsule_pointer(capsule, b"dltensor"), ctypes.POINTER(Managed))
        self.name = b"used_dltensor"
        rename(capsule, self.name)
        self.tensor = self.managed.contents.tensor

    def give_back(self):
        self.managed.contents.deleter(self.managed)


def check_results_are_lent_where_they_are():
    r = matcher(want=["right"])(*images())
    for array, code, bits in ((r.disparity, 2, 32), (r.validity, 1, 8), (r.right, 2, 32)):
        assert array.shape == (H, W) and array.device == "cuda:0" and array.stream == 1
        assert array.__dlpack_device__() == (2, 0)
        taken = Taken(array)
        t = taken.tensor
        assert t.data == pointer(array) and (t.device_type, t.device_id) == (2, 0)
        assert (t.code, t.bits, t.lanes, t.ndim, t.byte_offset) == (code, bits, 1, 2, 0)
        assert t.shape[:2] == [H, W] and t.strides[:2] == [W, 1]
        taken.give_back()
        interface = array.__cuda_array_interface__
        assert interface["typestr"] == {2: "<f4", 1: "|u1"}[code] and interface["strides"] is None
        assert interface["version"] == 3 and interface["stream"] == 1 and interface["shape"] == (H, W)
        copy = array.to_numpy()
        assert copy.shape == (H, W) and copy.dtype == {2: np.float32, 1: np.uint8}[code]
        for refused in (dict(dl_device=(1, 0)), dict(dl_device=(2, 1)), dict(copy=True)):
            try:
                array.__dlpack__(**refused)
                raise AssertionError(refused)
            except BufferError:
                pass
        try:
            np.asarray(array)
            raise AssertionError("it was copied in silence")
        except TypeError as error:
            assert "to_numpy" in str(error)


def check_nobody_waits_and_nothing_is_made():
    m = matcher()
    for _ in range(6):
        m(*images(), stream=SIDE)
    made = ("cuMemAlloc", "cuMemHostAlloc", "cuStreamCreate", "cuEventCreate", "cuModuleGetFunction")
    waits = ("cuStreamSynchronize", "cuEventSynchronize")
    before = {name: calls(name) for name in made + waits}
    fail("cuEventQuery", 600)  # no pair is ever done
    for _ in range(20):
        m(*images(), stream=SIDE)
    fail("", 0)
    after = {name: calls(name) for name in made + waits}
    assert all(after[name] == before[name] for name in waits), (before, after)
    for name in ("cuMemAlloc", "cuStreamCreate"):  # a stream takes 80 KB of the device's memory
        assert after[name] == before[name], name
    for _ in range(3):
        m(*images(), stream=SIDE)
    settled = {name: calls(name) for name in made}
    for _ in range(50):
        m(*images(), stream=SIDE)
    assert {name: calls(name) for name in made} == settled


def check_the_stream_is_joined():
    m = matcher()
    m(*images(), stream=SIDE)
    before = calls("cuEventRecord", SIDE), calls("cuStreamWaitEvent", SIDE)
    r = m(*(pair := images()), stream=SIDE)
    assert [image.asked for image in pair] == [[SIDE], [SIDE]]
    assert calls("cuEventRecord", SIDE) > before[0], "the match does not come after what the stream was given"
    assert calls("cuStreamWaitEvent", SIDE) > before[1], "the stream goes on before the match is done"
    assert r.disparity.stream == SIDE and r.disparity.__cuda_array_interface__["stream"] == SIDE

    recorded = calls("cuEventRecord", DEFAULT)
    del r  # its consumer named no stream
    assert calls("cuEventRecord", DEFAULT) == recorded + 1, "the next pair does not wait for a reader by the interface"
    r = m(*images(), stream=SIDE)

    own, other = calls("cuStreamWaitEvent", SIDE), calls("cuStreamWaitEvent", OTHER)
    same, foreign = Taken(r.disparity, stream=SIDE), Taken(r.disparity, stream=OTHER)
    unordered = Taken(r.disparity, stream=-1)
    assert calls("cuStreamWaitEvent", SIDE) == own
    assert calls("cuStreamWaitEvent", OTHER) == other + 1, "who takes it in another stream does not wait for it"
    recorded = calls("cuEventRecord", OTHER)
    for taken in (same, unordered, foreign):
        taken.give_back()
    assert calls("cuEventRecord", OTHER) == recorded + 1, "nobody notes what the other stream did with it"


def check_the_stream_that_fills_exchanged_arrays_is_waited_for():
    m = matcher()
    pair = [Exchanging(np.full((H, W), value, np.uint8)) for value in (1, 2)]
    first = [np.lib.array_utils.byte_bounds(image.array) for image in pair]
    for start, end in first:
        driver.fake_cuda_allocated(start, end - start)
    m(*pair, stream=SIDE)  # the default stream fills the arrays
    Exchanging.work_stream = OTHER
    recorded, waited = calls("cuEventRecord", OTHER), calls("cuStreamWaitEvent", SIDE)
    m(*pair, stream=SIDE)
    assert calls("cuEventRecord", OTHER) > recorded and calls("cuStreamWaitEvent", SIDE) > waited
    ordered, waited = calls("cuStreamWaitEvent", SIDE) - waited, calls("cuStreamWaitEvent", SIDE)
    Exchanging.work_stream = SIDE
    recorded = calls("cuEventRecord", OTHER)
    m(*pair, stream=SIDE)
    assert calls("cuEventRecord", OTHER) == recorded
    assert calls("cuStreamWaitEvent", SIDE) - waited == ordered - 2, "arrays of the stream itself need no wait"
    assert all(image.asked == [] for image in pair)


def check_what_is_lent_is_kept_until_the_pair_is_done():
    m = matcher()
    fail("cuEventQuery", 600)
    first = images()
    m(*first, stream=SIDE)
    m(*images(), stream=SIDE)
    gc.collect()
    assert [image.given_back for image in first] == [0, 0], "the stream may still read it"
    fail("", 0)
    m(*images(), stream=SIDE)
    assert [image.given_back for image in first] == [1, 1]
    last = images()
    m(*last)
    m.close()
    gc.collect()
    assert [image.given_back for image in last] == [1, 1]


def check_memory_of_results_comes_again():
    m = matcher()
    kept = [m(*images(), stream=SIDE) for _ in range(5)]
    assert len({pointer(r.disparity) for r in kept} | {pointer(r.validity) for r in kept}) == 10
    mine = {pointer(r.disparity) for r in kept}
    taken = Taken(kept[0].disparity, stream=SIDE)
    del kept
    gc.collect()
    assert pointer(m(*images(), stream=OTHER).disparity) not in mine, "another stream may still use it"
    for _ in range(8):
        where = pointer(m(*images(), stream=SIDE).disparity)
        assert where in mine and where != taken.tensor.data
    taken.give_back()
    m.close()


def check_results_go_where_the_caller_wants_them():
    m = matcher()
    wide = np.full((H, W + 9), 5, np.float32)
    target = OnGpu(wide[:, 4 : 4 + W])
    r = m(*images(), out={"disparity": target})
    assert r.disparity is target and target.asked == [1]
    assert (wide[:, :4] == 5).all() and (wide[:, 4 + W :] == 5).all()
    assert m(*images(), out=r).disparity is target
    read_only = Interface(wide[:, :W], data=(wide.ctypes.data, True))
    for out, said in (
        ({"disparity": wide}, "out['disparity'] is in the memory of the host"),
        ({"disparity": OnGpu(wide)}, "must be (48, 72) and float32"),
        ({"disparity": OnGpu(np.zeros((H, W), np.uint8))}, "must be (48, 72) and float32"),
        ({"disparity": OnGpu(np.zeros((H, W), np.float32), 1)}, "cuda:1"),
        ({"disparity": read_only}, "is read-only"),
        ({"right": OnGpu(np.zeros((H, W), np.float32))}, "does not compute"),
    ):
        expect(lambda: m(*images(), out=out), said)
    twice = OnGpu(np.zeros((H, W), np.float32))
    expect(lambda: matcher(want=["right"])(*images(), out={"disparity": twice, "right": twice}), "share memory")


def check_other_devices_are_refused():
    expect(lambda: matcher(device="cuda:0")(*images(1)), "left is in memory of cuda:1, but the matcher runs on cuda:0")
    expect(lambda: matcher()(*images(1)), "cuda:1")  # device 1 is too old
    interfaces = [Interface(np.zeros((H, W), np.uint8)) for _ in range(2)]
    expect(lambda: matcher()(*interfaces), "left is in memory of cuda, but")  # this driver knows no address
    expect(lambda: matcher(device="opencl")(*images()), "the matcher runs on opencl")
    expect(lambda: matcher(region=(0, 0, 9, 9))(*images()), "cannot be matched in a region")
    expect(lambda: matcher()(images()[0], OnGpu(np.zeros((H, W - 1), np.uint8))), "pixels")


def check_volumes():
    volume = np.zeros((H, W, D), np.uint8)
    r = st.match_volume(OnGpu(volume), want=["optimised"], stream=SIDE)
    assert r.optimised.shape == (H, W, D) and r.optimised.dtype in ("uint8", "uint16")
    assert Taken(r.optimised).tensor.strides[:3] == [W * D, D, 1]


def check_results_outlive_the_matcher():
    with matcher() as m:
        r = m(*images())
        before = calls("cuMemFree")
    assert r.disparity.to_numpy().shape == (H, W)
    expect(lambda: m(*images()), "the matcher is closed")
    del r
    gc.collect()
    assert calls("cuMemFree") > before


def check_results_pickle_as_copies():
    r = matcher(want="right")(*images())
    again = pickle.loads(pickle.dumps(r))
    for name in ("disparity", "validity", "right"):
        copy = getattr(again, name)
        assert isinstance(copy, np.ndarray) and copy.shape == (H, W) and str(copy.dtype) == getattr(r, name).dtype
    assert "confidence" not in again and again.times == r.times
    foreign = matcher()(*images(), out={"disparity": OnGpu(np.zeros((H, W), np.float32))})
    expect(lambda: pickle.dumps(foreign), "copy it to the host first")
    expect(lambda: matcher(probes=[(1, 1)])(*images()), "probes are not available for arrays on a GPU")


def check_a_stage_of_ones_own_is_in_the_stream():
    seen = []

    def cost(call):
        assert call.stream is not None and call.made.shape == (H, W, D) and call.made.device == "cuda:0"
        same, other = Taken(call.made, stream=call.stream), Taken(call.reference, stream=OTHER)
        assert same.tensor.data == pointer(call.made) and same.tensor.ndim == 3
        before = calls("cuStreamWaitEvent", call.stream)
        same.give_back(), other.give_back()
        expect(call.reference.to_numpy, "torch.from_dlpack")
        seen.append((call.stream, before, calls("cuEventRecord", OTHER)))

    m = st.Matcher(pipeline=st.Pipeline("zncc").set_stage("cost", cost), disparities=D)
    m(*images(), stream=SIDE)
    assert len(seen) >= 1 and seen[-1][2] >= 1
    assert calls("cuStreamWaitEvent", seen[-1][0]) > seen[-1][1], "what follows does not wait for the other stream"
    waits = calls("cuStreamSynchronize"), calls("cuEventSynchronize")
    for _ in range(5):
        m(*images(), stream=SIDE)
    assert (calls("cuStreamSynchronize"), calls("cuEventSynchronize")) == waits

    kept = []
    m.close()
    m = st.Matcher(pipeline=st.Pipeline("zncc").set_stage("cost", lambda call: kept.append(call.made)), disparities=D)
    expect(lambda: m(*images()), "keep a copy")
    m.close()  # the array's memory is freed
    expect(kept[0].__dlpack__, "keep a copy")
    expect(lambda: kept[0].__cuda_array_interface__, "keep a copy")


def check_memory_is_flat():
    import os

    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")

    m, pair = matcher(), images()

    def run(times):
        for i in range(times):
            r = m(*pair, stream=SIDE)
            Taken(r.disparity, stream=OTHER if i % 3 else SIDE).give_back()
            for image in pair:
                image.asked.clear()
        gc.collect()

    run(500)
    before = resident()
    run(10000)
    assert resident() - before < 4 << 20, resident() - before


def check_a_lost_gpu_leaves_its_pairs_to_the_others():
    scene = st.synth("table", width=W, height=H, disparities=D)
    m = matcher(device="cuda:0,cpu")
    m.explain(scene.left, scene.right)
    fail("cuLaunchKernel", 719)
    results = list(m.stream([(scene.left, scene.right)] * 12))
    right = matcher(device="cpu")(scene.left, scene.right).disparity
    assert len(results) == 12
    assert all(np.array_equal(result.disparity, right, equal_nan=True) for result in results)
    assert set(m.lost) <= {"cuda:0"}
    expect(lambda: m(*images()), "can only be matched on that GPU")


def expect(call, said):
    try:
        call()
    except st.Error as error:
        assert said in str(error), error
    else:
        raise AssertionError(f"it was not refused: {said}")


CHECKS = [name for name in globals() if name.startswith("check_")]

if __name__ == "__main__":
    globals()[sys.argv[1]]()
