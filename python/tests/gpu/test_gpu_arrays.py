"""Arrays of PyTorch and CuPy on a GPU: taken and given where they are, in the order of streams.

By hand, on a machine with a GPU of NVIDIA's, PyTorch and the installed package: pytest -rs python/tests/gpu
"""

import time

import numpy as np
import pytest
import stereopsis as st

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
if not torch.cuda.is_available():
    pytest.skip("PyTorch finds no GPU", allow_module_level=True)
CUDA = [device.name for device in st.devices() if device.usable and device.name.startswith("cuda")]
if not CUDA:
    pytest.skip(f"no CUDA device: {[d.reason for d in st.devices() if 'cuda' in d.name]}", allow_module_level=True)

W, H, D = 640, 480, 64


def pointer(array):
    return array.__cuda_array_interface__["data"][0]


@pytest.fixture(scope="module")
def scenes():
    return [st.synth("room", width=W, height=H, disparities=D, seed=seed, noise=2) for seed in range(4)]


@pytest.fixture(scope="module")
def expected(scenes):
    return [st.match(s.left, s.right, disparities=D, device="cuda:0", align_rows="off") for s in scenes]


def on_gpu(image):
    return torch.from_numpy(np.ascontiguousarray(image)).cuda()


def same(found, expected):
    found = found.cpu().numpy() if hasattr(found, "cpu") else found.to_numpy()
    return np.array_equal(found.view(np.uint8), np.ascontiguousarray(expected).view(np.uint8))


def test_tensors_in_tensors_out_where_they_are(scenes, expected):
    left, right = on_gpu(scenes[0].left), on_gpu(scenes[0].right)
    with st.Matcher(disparities=D, want=["confidence"]) as m:
        r = m(left, right)
        assert m.explain().device == "cuda:0"
        tensor = torch.from_dlpack(r.disparity)
        assert tensor.data_ptr() == pointer(r.disparity) and tensor.is_cuda and tensor.is_contiguous()
        assert tensor.shape == (H, W) and tensor.dtype == torch.float32
        assert torch.from_dlpack(r.validity).dtype == torch.uint8
        assert same(tensor, expected[0].disparity) and same(r.validity, expected[0].validity)
        assert torch.as_tensor(r.disparity, device="cuda").data_ptr() == tensor.data_ptr()
        assert r.confidence.shape == (H, W) and repr(r.disparity) == "<array (480, 640) of float32 on cuda:0>"
        with pytest.raises(TypeError, match="to_numpy"):
            np.asarray(r.disparity)


def test_results_go_where_the_caller_wants_them(scenes, expected):
    left, right = on_gpu(scenes[1].left), on_gpu(scenes[1].right)
    wide = torch.full((H, W + 40), -1.0, device="cuda")
    m = st.Matcher(disparities=D)
    r = m(left, right, out={"disparity": wide[:, 8 : 8 + W]})
    assert r.disparity.data_ptr() == wide.data_ptr() + 32
    torch.cuda.synchronize()
    assert same(wide[:, 8 : 8 + W].contiguous(), expected[1].disparity)
    assert (wide[:, :8] == -1).all() and (wide[:, 8 + W :] == -1).all()
    again = m(on_gpu(scenes[2].left), on_gpu(scenes[2].right), out=r)
    assert again.disparity is r.disparity and same(wide[:, 8 : 8 + W].contiguous(), expected[2].disparity)
    for out, said in (
        ({"disparity": torch.zeros(H, W)}, "memory of the host"),
        ({"disparity": torch.zeros(H, W, dtype=torch.uint8, device="cuda")}, "float32"),
        ({"disparity": torch.zeros(H, W - 1, device="cuda")}, r"\(480, 640\)"),
        ({"confidence": torch.zeros(H, W, device="cuda")}, "does not compute"),
    ):
        with pytest.raises(st.CallError, match=said):
            m(left, right, out=out)


def test_two_hundred_frames_on_a_side_stream(scenes, expected):
    """Work before and after in the same stream, memory that is given back at once, and nobody waits."""
    sources = [(on_gpu(s.left), on_gpu(s.right)) for s in scenes]
    wanted = [on_gpu(e.disparity) for e in expected]
    side = torch.cuda.Stream()
    m = st.Matcher(disparities=D)
    wrong = torch.zeros((), dtype=torch.int64, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        m(*sources[0], stream=side)
        for i in range(200):
            left, right = (image.bitwise_not() for image in sources[i % 4])  # other tensors each time
            left, right = left.bitwise_not_(), right.bitwise_not_()  # made in this very stream
            r = m(left, right, stream=side)
            del left, right
            found = torch.from_dlpack(r.disparity)
            wrong += (found.view(torch.int32) != wanted[i % 4].view(torch.int32)).sum()
            found.fill_(7)  # no result uses this memory any more
            del r, found
    side.synchronize()
    assert wrong.item() == 0


def test_streams_that_differ_are_put_in_order(scenes, expected):
    """Made in one stream, matched in a second, read in a third."""
    a, b, c = (torch.cuda.Stream() for _ in range(3))
    wanted = [on_gpu(e.disparity) for e in expected]
    sources = [(on_gpu(s.left), on_gpu(s.right)) for s in scenes]
    torch.cuda.synchronize()
    m = st.Matcher(disparities=D)
    wrong = torch.zeros((), dtype=torch.int64, device="cuda")
    torch.cuda.synchronize()
    for i in range(100):
        with torch.cuda.stream(a):
            torch.cuda._sleep(200_000)
            left, right = (image.clone() for image in sources[i % 4])
            r = m(left, right, stream=b)  # __dlpack__(stream=b) has b wait for a
            del left, right
        with torch.cuda.stream(c):
            found = torch.from_dlpack(r.disparity)  # stream c then waits for stream b
            torch.cuda._sleep(100_000)
            wrong += (found.view(torch.int32) != wanted[i % 4].view(torch.int32)).sum()
            del r, found
    torch.cuda.synchronize()
    assert wrong.item() == 0


def test_the_default_stream_needs_no_word(scenes, expected):
    m = st.Matcher(disparities=D)
    for i in range(20):
        r = m(on_gpu(scenes[i % 4].left), on_gpu(scenes[i % 4].right))
        assert same(torch.from_dlpack(r.disparity), expected[i % 4].disparity)


def test_every_call_returns_at_once():
    """Each call gets other tensors and does not wait. How long it takes is printed (-s)."""
    w, h, d = 1280, 960, 128
    scene = st.synth("room", width=w, height=h, disparities=d)
    sources = [(on_gpu(scene.left), on_gpu(scene.right)) for _ in range(50)]
    m = st.Matcher(disparities=d)
    side = torch.cuda.Stream()
    for left, right in sources[:10]:
        m(left, right, stream=side)
    torch.cuda.synchronize()
    took = []
    for _ in range(4):
        for left, right in sources:
            start = time.perf_counter()
            r = m(left, right, stream=side)
            took.append(1e6 * (time.perf_counter() - start))
            if len(took) % 10 == 0:
                torch.cuda.synchronize()  # the driver's queue of launches has an end
    print(f"\na call of {h}×{w}×{d}: median {np.median(took):.1f} µs, P95 {np.quantile(took, 0.95):.1f} µs")
    assert same(r.disparity, st.match(scene.left, scene.right, disparities=d, device="cuda:0", align_rows="off").disparity)
    with torch.cuda.stream(side):
        torch.cuda._sleep(2_000_000_000)  # about a second
        m(*sources[0], stream=side)
        assert not side.query(), "the call waited for the stream"
    torch.cuda.synchronize()


def test_ten_thousand_calls_take_no_memory(scenes):
    left, right = on_gpu(scenes[0].left[:64, :64].copy()), on_gpu(scenes[0].right[:64, :64].copy())
    m = st.Matcher(disparities=16)
    m(left, right)
    torch.cuda.synchronize()
    before = torch.cuda.mem_get_info()[0]
    for _ in range(1000):  # more results under way at once than there will be
        m(left, right)
    torch.cuda.synchronize()
    free = torch.cuda.mem_get_info()[0]
    print(f"\na thousand pairs in work: {(before - free) / 2**20:.1f} MiB")
    assert before - free < 32 << 20  # each once took a stream, of 80 KB
    for i in range(10000):
        torch.from_dlpack(m(left, right).disparity)
        if i % 500 == 0:
            torch.cuda.synchronize()
    torch.cuda.synchronize()
    assert free - torch.cuda.mem_get_info()[0] < 8 << 20


def features_cost(left, right, count):
    """Normalised correlation of features that a convolution makes: (h, w, d) float32, 0 is best."""
    torch.manual_seed(1)
    kernel = torch.randn(16, 3, 5, 5, device="cuda")
    f, g = (
        torch.nn.functional.normalize(
            torch.nn.functional.conv2d(image.permute(2, 0, 1)[None].float(), kernel, padding=2), dim=1
        )[0]
        for image in (left, right)
    )
    h, w = f.shape[1:]
    cost = torch.full((h, w, count), 60.0, device="cuda")
    for d in range(count):
        cost[:, d:, d] = 30 * (1 - (f[:, :, d:] * g[:, :, : w - d]).sum(0))
    return cost


def test_a_volume_of_torch_goes_through_sgm_without_a_copy():
    w, h, d = 1280, 960, 128
    scene = st.synth("room", width=w, height=h, disparities=d)
    cost = features_cost(on_gpu(scene.left), on_gpu(scene.right), d).round().to(torch.uint8)
    pipeline = st.Pipeline("sgm").update(
        {"cost.stage": "volume", "cost.largest": 60, "refinements": ["median"], "sgm.gradient": 0, "sgm.p2_min": 0}
    )
    m = st.Matcher(pipeline=pipeline, disparities=d, want=["optimised"])
    r = m(None, None, volume=cost)
    assert torch.from_dlpack(r.optimised).shape == (h, w, d)
    on_cpu = st.Matcher(pipeline=pipeline, disparities=d, device="cpu")(None, None, volume=cost.cpu().numpy())
    assert on_cpu.density > 0.5 and same(r.disparity, on_cpu.disparity)
    lean = st.Matcher(pipeline=pipeline, disparities=d)
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    for i in range(60):
        if i == 10:
            begin.record()
        lean(None, None, volume=cost)
    end.record()
    torch.cuda.synchronize()
    with st.Matcher(pipeline=pipeline, disparities=d, want=["times"]) as timed:
        volume = cost.cpu().numpy()
        times = [timed(None, None, volume=volume).times for _ in range(5)][-1]
    own = sum(ms for stage, ms in times.items() if stage not in ("upload", "download"))
    took = begin.elapsed_time(end) / 50
    print(f"\na volume of torch's, {h}×{w}×{d}: {took:.3f} ms a frame; its stages {own:.3f} ms: {took / own:.2f} times ({times})")


def test_cupy_arrays(scenes, expected):
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    m = st.Matcher(disparities=D)
    with cupy.cuda.Stream(non_blocking=True) as stream:
        for i in range(8):
            r = m(cupy.asarray(scenes[i % 4].left), cupy.asarray(scenes[i % 4].right), stream=stream)
            found = cupy.from_dlpack(r.disparity)
            assert found.data.ptr == pointer(r.disparity)
            assert same(torch.from_dlpack(found), expected[i % 4].disparity)
            assert cupy.asarray(r.validity).data.ptr == pointer(r.validity)


class InterfaceAlone:
    """An array without DLPack, like Numba's."""

    def __init__(self, tensor, stream):
        self.tensor, self.shape = tensor, tuple(tensor.shape)
        self.__cuda_array_interface__ = {**tensor.__cuda_array_interface__, "version": 3, "stream": stream.cuda_stream}


def test_interfaces_and_their_stream(scenes, expected):
    a, b = torch.cuda.Stream(), torch.cuda.Stream()
    sources = [(on_gpu(s.left), on_gpu(s.right)) for s in scenes]
    m = st.Matcher(disparities=D)
    torch.cuda.synchronize()
    for i in range(20):
        with torch.cuda.stream(a):
            torch.cuda._sleep(500_000)
            pair = [InterfaceAlone(image.clone(), a) for image in sources[i % 4]]
        r = m(*pair, stream=b)
        assert same(r.disparity, expected[i % 4].disparity)


def test_what_is_not_allowed(scenes):
    left, right = on_gpu(scenes[0].left), on_gpu(scenes[0].right)
    for call, said in (
        (lambda: st.match(left, right, D, device="cpu"), "the matcher runs on cpu"),
        (lambda: st.match(left, right.cpu(), D), "memory of the host"),
        (lambda: st.match(left[:, ::2], right[:, ::2], D), r"pass left.contiguous\(\)"),
        (lambda: st.match(left.permute(1, 0, 2), right.permute(1, 0, 2), D), r"pass left.contiguous\(\)"),
        (lambda: st.match(left.double(), right.double(), D), "float64"),
        (lambda: st.match(left, right), "give the search range"),
        (lambda: st.match(left, right[:-1], D), "right view has 640×479"),
        (lambda: st.match(left.float().requires_grad_(), right.float(), D), "gradient"),
        (lambda: st.match(left, right, D, colour="bgra"), "BGRA is"),
        (lambda: st.match(scenes[0].left, scenes[0].right, D, stream=5), "stream="),
    ):
        with pytest.raises(st.Error, match=said):
            call()
    assert st.match(left, right, D).disparity.to_numpy().shape == (H, W)


def test_other_orders_of_colours_are_read_where_they_are(scenes):
    left, right = on_gpu(scenes[0].left), on_gpu(scenes[0].right)
    expected = st.match(scenes[0].left, scenes[0].right, D, method="esaw", device="cuda:0", align_rows="off").disparity
    for colour, order in (("bgr", [2, 1, 0]), ("rgba", [0, 1, 2, 0]), ("bgra", [2, 1, 0, 1])):
        pair = [image[..., order].contiguous() for image in (left, right)]
        assert same(st.match(*pair, D, method="esaw", colour=colour).disparity, expected)


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="there is one GPU")
def test_arrays_of_another_gpu(scenes, expected):
    left, right = on_gpu(scenes[0].left).to("cuda:1"), on_gpu(scenes[0].right).to("cuda:1")
    r = st.match(left, right, D)  # auto is where they are
    assert r.disparity.device == "cuda:1" and same(r.disparity, expected[0].disparity)
    with pytest.raises(st.CallError, match="cuda:1"):
        st.match(left, right, D, device="cuda:0")
