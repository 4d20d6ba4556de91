"""Methods from outside the library: functions, programs and networks, in the tools and before the library's refinements."""

import json
import math
import pathlib
import pickle
import stat
import sys
import textwrap
from types import SimpleNamespace

import numpy as np
import pytest

import stereopsis as st
from stereopsis.onnx import Description

TRAINING = pathlib.Path(__file__).parents[2] / "training"
D = 16


@pytest.fixture(scope="module")
def scene():
    return st.synth("table", width=150, height=101, disparities=D, seed=3)


def measured(scene):
    """The true maps, as a method that knows both views."""

    def method(left, right, disparities):
        assert disparities == (0, D)
        return scene.disparity if np.array_equal(left, scene.left) else scene.disparity_right[:, ::-1]

    return method


# Functions


def test_a_function_is_a_method(scene, same_bits):
    holes = scene.disparity.copy()
    holes[3:5] = np.inf
    result = st.match(scene.left, scene.right, D, lambda left, right, disparities: holes)
    same_bits(result.disparity[5:], scene.disparity[5:])
    assert np.isnan(result.disparity[3:5]).all() and (result.validity[3:5] == st.validity.no_candidate).all()
    inferred = np.arange(150) - scene.disparity[5:] < -0.5  # points outside the right image
    assert np.array_equal(result.validity[5:], np.where(inferred, st.validity.filled, 0)) and result.method == "<lambda>"


def test_values_that_cannot_be_are_not_measured(scene):
    for value, reason in [(1000, st.validity.no_candidate), (1e38, st.validity.no_candidate), (-1e30, st.validity.no_candidate), (D - 0.6, 0)]:
        wrong = scene.disparity.copy()
        wrong[40:60, 100:140] = value
        result = st.match(scene.left, scene.right, D, lambda *_, wrong=wrong: wrong)
        assert (result.validity[40:60, 100:140] == reason).all(), value


def test_masks_region_and_geometry_apply(scene):
    rig = st.Rig(focal=100, baseline=0.1, size=(150, 101), unit="m")
    mask = np.full((101, 150), 255, np.uint8)
    mask[:, 80:] = 0
    result = st.match(
        scene.left, scene.right, D, measured(scene), mask_left=mask, region=(10, 20, 100, 30), want=["depth", "right", "confidence"], rig=rig
    )
    inside = np.zeros_like(mask, bool)
    inside[20:50, 10:80] = True
    assert np.array_equal(np.isfinite(result.disparity), inside)
    assert (result.validity[20:50, 80:110] == st.validity.masked).all() and (result.validity[:20] == st.validity.outside).all()
    np.testing.assert_allclose(result.depth[inside], 10 / scene.disparity[inside], rtol=1e-5)
    np.testing.assert_array_equal(result.right[20:50, 10:110], scene.disparity_right[20:50, 10:110])
    assert (result.confidence[inside] > 0).all() and not result.confidence[~inside].any()


def test_refinements_are_those_of_the_library(scene, same_bits):
    """The left-right check compares with the map of the mirrored pair, and gives the bits of the same refinements on these maps."""
    chosen = {"refinements": ("left_right", "speckle", "vote_fill", "median"), "vote_fill.reject": 0}
    result = st.match(scene.left, scene.right, D, measured(scene), set=chosen)
    inferred = np.arange(150) - scene.disparity < -0.5  # points outside the right image
    maps = {"disparity": scene.disparity, "validity": np.where(inferred, np.uint8(st.validity.filled), np.uint8(0)), "right": scene.disparity_right}
    refine = st.Matcher(disparities=D, refine_only=True, set=chosen)
    expected = refine(scene.left, scene.right, maps=maps)
    same_bits(result.disparity, expected.disparity)
    same_bits(result.validity, expected.validity)
    hidden = scene.nonocc == 128
    assert (result.validity[hidden] != 0).mean() > 0.9 > 0.1 > (result.validity[~hidden] != 0).mean()


def test_a_confidence_of_the_method_is_kept(scene):
    given = np.linspace(0, 1, scene.disparity.size, dtype=np.float32).reshape(scene.disparity.shape)
    result = st.match(
        scene.left, scene.right, D, lambda *_: {"disparity": scene.disparity, "confidence": given},
        set={"confidence.stage": "none"}, want="confidence",
    )  # fmt: skip
    np.testing.assert_array_equal(result.confidence, np.where(result.validity == 0, given, 0))


def test_images_come_as_rgb_in_8_bit_units(scene):
    came = []

    def method(left, right, disparities):
        came.append(left)
        return np.zeros(left.shape[:2])

    st.match(np.ascontiguousarray(scene.left[..., ::-1]), scene.right, D, method, colour="bgr")
    st.match(scene.left.astype(np.uint16) * 16, scene.right.astype(np.uint16) * 16, D, method, bit_depth=12)
    np.testing.assert_array_equal(came[0], scene.left)
    assert came[1].dtype == np.float32
    np.testing.assert_array_equal(came[1], scene.left)


def test_sequences_and_threads_and_pickles(scene):
    matcher = st.Matcher(st.ProgramMethod("true {left} {right} {out}"), disparities=D)
    assert pickle.loads(pickle.dumps(matcher)).pipeline.method == "program:true"
    counted = []
    stream = st.Matcher(measured(scene), disparities=D).stream([(scene.left, scene.right)] * 3, progress=lambda n, all: counted.append(n))
    assert all(np.isfinite(r.disparity).all() for r in stream) and counted == [1, 2, 3]


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda s: st.match(s.left, s.right, D, lambda *_: 3), "returned a int as disparity; it must return an array"),
        (lambda s: st.match(s.left, s.right, D, lambda *_: np.zeros((3, 4))), r"shape \(3, 4\) for images of \(101, 150\)"),
        (lambda s: st.match(s.left, s.right, D, measured(s), want="cost"), "has no cost; request other outputs"),
        (lambda s: st.match(s.left, s.right, D, measured(s), set={"sgm.p1": 3}), "has no parameter 'sgm.p1'; it has refinements"),
        (lambda s: st.match(s.left, s.right, D, measured(s), device="cuda"), "cannot be moved to the device cuda"),
        (lambda s: st.match(s.left, s.right, D, measured(s), region=(0, 0, 200, 5)), "is not inside the image of 150×101"),
        (lambda s: st.match(s.left, s.right, D, measured(s), probes=[(1, 1)]), "probes do not apply"),
        (lambda s: st.Matcher(measured(s))(s.left, s.right, volume=np.zeros((101, 150, D), np.uint8)), "reads images only"),
        (lambda s: st.Pipeline(measured(s)).to_json(), "is a function, which JSON cannot contain"),
        (lambda s: st.Matcher(7), "must be a name from st.methods"),
    ],
)  # fmt: skip
def test_wrong_calls_are_rejected(scene, call, sentence):
    with pytest.raises(st.CallError, match=sentence):
        call(scene)


# Programs


@pytest.fixture
def program(tmp_path):
    """Writes a program in Python that is called with `left`, `right`, `out` and the search range."""

    def make(body):
        file = tmp_path / "matcher"
        head = f"#!{sys.executable}\nimport sys\nleft, right, out, first, count = sys.argv[1:]\n"
        file.write_text(head + textwrap.dedent(body))
        file.chmod(file.stat().st_mode | stat.S_IXUSR)
        return f"program:{file} {{left.ppm}} {{right.pgm}} {{out}} {{first}} {{disparities}}"

    return make


BODY = """
    assert (first, count) == ("0", "16")
    assert open(left, "rb").read(2) == b"P6" and open(right, "rb").read(2) == b"P5"
    with open(out, "wb") as file:
        file.write(b"Pf\\n150 101\\n-1\\n" + b"\\0\\0\\xa0\\x40" * (150 * 101))
"""


def test_a_program_is_a_method(scene, program):
    result = st.match(scene.left, scene.right, D, program(BODY))
    assert (result.disparity == 5).all() and result.method == "program:matcher"


def test_what_a_program_does_wrong_is_named(scene, program):
    for body, sentence in [
        ("sys.exit('no licence')", "program:matcher ended with exit code 1: no licence"),
        ("import os; os.abort()", "program:matcher was killed by the signal SIGABRT: no message"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGRTMIN + 1)", "program:matcher was killed by the signal 3"),
        ("sys.exit('\\x1b[31mno\\x1b[0m licence\\x1b]0;title\\x07 \\x00\\x9b2J')", r"exit code 1: no licence \\x00\\x9b2J$"),
        ("pass", "did not write its {out}"),
        ("open(out, 'w').write('x')", "wrote a disparity map that cannot be read"),
        (BODY.replace("150 101", "101 150"), r"shape \(150, 101\) for images of \(101, 150\)"),
    ]:
        with pytest.raises(st.Error, match=sentence):
            st.match(scene.left, scene.right, D, program(body))
    with pytest.raises(st.UnsupportedError, match="'/no/such' cannot be run"):
        st.match(scene.left, scene.right, D, "program:/no/such {left} {right} {out}")
    for command, sentence in [("elas {left} {out}", r"has no \{right\}"), ("elas {left.jpg} {right} {out}", "is not a known format")]:
        with pytest.raises(st.CallError, match=sentence):
            st.ProgramMethod(command)


def test_a_pipeline_file_runs_no_program(program, tmp_path):
    text = st.Pipeline(program(BODY)).to_json()
    with pytest.raises(st.FormatError, match="must not run programs"):
        st.Pipeline.from_json(text)
    (tmp_path / "p.json").write_text(text)
    with pytest.raises(st.FormatError, match="must not run programs"):
        st.Pipeline.read(tmp_path / "p.json")


# Networks

onnx = pytest.importorskip("onnx", reason="onnx makes the networks of the tests")
pytest.importorskip("onnxruntime", reason="onnxruntime runs the networks")
from onnx_files import Graph, expected, features_network, learned_network, pair_network, stacked_network, volume_network  # noqa: E402


@pytest.fixture
def network(tmp_path):
    file = tmp_path / "net.onnx"
    pair_network(file, D)
    return file


def test_a_network_is_a_method(scene, network, same_bits):
    """Inputs, layout and padding are found: 150×101 is no multiple of 32."""
    matcher = st.OnnxMatcher(network)
    assert repr(matcher) == f"<onnx:net.onnx on {matcher.provider}: left, right (NCHW, rgb, float32, any size) → disparity>"
    assert st.match(scene.left, scene.right, D, matcher).method == "onnx:net.onnx"
    same_bits(st.match(scene.left, scene.right, D, f"onnx:{network}").disparity, expected(scene.left, scene.right, D))


def test_variants_of_networks_are_detected(scene, tmp_path, same_bits):
    wanted, file = expected(scene.left, scene.right, D), tmp_path / "net.onnx"
    pair_network(file, D, shape=(1, "h", "w", 3), dtype=onnx.TensorProto.UINT8)
    assert "(NHWC, rgb, uint8, any size)" in repr(st.OnnxMatcher(file))
    same_bits(st.OnnxMatcher(file)(scene.left, scene.right, (0, D)), wanted)
    pair_network(file, D, shape=(1, 3, 128, 192))
    same_bits(st.OnnxMatcher(file)(scene.left, scene.right, (0, D)), wanted)
    with pytest.raises(st.CallError, match="at most 192×128 pixels, and the pair has 200×101; export the network with dynamic axes"):
        st.OnnxMatcher(file)(np.zeros((101, 200, 3), np.uint8), np.zeros((101, 200, 3), np.uint8), (0, D))
    stacked_network(file, D)
    same_bits(st.OnnxMatcher(file, factor=-1.0)(scene.left, scene.right, (0, D)), wanted)


def test_an_output_of_a_quarter_is_enlarged(scene, tmp_path):
    pair_network(tmp_path / "net.onnx", 4, quarter=True)
    found = st.OnnxMatcher(tmp_path / "net.onnx")(scene.left[:96, :128], scene.right[:96, :128], (0, D))
    assert found.shape == (96, 128) and found.max() == 12  # disparities of the small images are a quarter, too
    small = [image[:96, :128].reshape(24, 4, 32, 4, 3).mean((1, 3)) for image in (scene.left, scene.right)]
    middle = found.reshape(24, 4, 32, 4)[1:-1, :, 1:-1].mean((1, 3))
    blurred = 4 * expected_of_means(*small)
    assert np.corrcoef(middle.ravel(), blurred[1:-1, 1:-1].ravel())[0, 1] > 0.8


def expected_of_means(left, right):
    columns = np.arange(left.shape[1])
    costs = [np.abs(left - right[:, np.maximum(columns - d, 0)]).sum(2) for d in range(4)]
    return np.argmin(np.stack(costs, 2), 2)


def test_the_file_beside_a_network_describes_it(scene, network, tmp_path, same_bits):
    (tmp_path / "net.json").write_text(
        json.dumps({"about": "a test", "white": 1, "mean": [0.5, 0.25, 0], "std": 0.5, "colour": "bgr", "multiple": 8, "factor": 2})
    )
    matcher = st.OnnxMatcher(network)
    assert matcher.description == Description(white=1, mean=(0.5, 0.25, 0), std=(0.5,), color="bgr", multiple=8, factor=2)
    tensor = matcher._inputs[0].tensor(scene.left, matcher.description, 3, matcher._padding(101, 150))
    assert tensor.shape == (1, 3, 104, 152) and tensor.dtype == np.float32
    np.testing.assert_allclose(tensor[0, 0, :101, :150], (scene.left[..., 2] / 255 - 0.5) / 0.5, atol=1e-6)
    np.testing.assert_array_equal(tensor[0, :, 101:, :150], tensor[0, :, 100:101, :150].repeat(3, 1))
    (tmp_path / "net.json").write_text(json.dumps({"factor": 2}))
    same_bits(st.OnnxMatcher(network)(scene.left, scene.right, (0, D)), 2 * expected(scene.left, scene.right, D))


def test_wrong_descriptions_and_files_are_named(network, tmp_path):
    for wrong, sentence in [
        ({"whites": 1}, "has no key 'whites'; the keys are color, factor"),
        ({"color": "cmyk"}, "color='cmyk' is not allowed; it must be 'rgb' or 'bgr' or 'grey'"),
        ({"multiple": 0}, "multiple=0 is not allowed; it must be an integer from 1 to 4096"),
        ({"std": [1, 0, 1]}, "std=.* is not allowed; it must be other than 0"),
        ({"std": 1e-60}, "std=.* is not allowed; it must be other than 0"),
        ({"std": math.nan}, "std=.* is not allowed; it must be a number or a list of 3 numbers, finite"),
        ({"mean": [0, math.inf, 0]}, "mean=.* is not allowed; it must be a number or a list of 3 numbers, finite"),
        ({"white": math.inf}, "white=inf is not allowed; it must be a finite number above 0"),
        ({"white": 1e60}, r"white=1e\+60 is not allowed"),
        ({"factor": math.nan}, "factor=nan is not allowed; it must be a finite number other than 0"),
        ({"left": "leftt"}, "has no input 'leftt'; its inputs are left, right"),
        ({"output": "depth"}, "has no output 'depth'; its outputs are disparity"),
    ]:
        (tmp_path / "net.json").write_text(json.dumps(wrong))
        with pytest.raises(st.CallError, match=sentence):
            st.OnnxMatcher(network)
    (tmp_path / "net.json").write_text("{")
    with pytest.raises(st.FormatError, match="net.json' is not valid JSON"):
        st.OnnxMatcher(network)
    (tmp_path / "net.json").unlink()
    with pytest.raises(st.FileError, match="does not exist; give the ONNX file"):
        st.Pipeline("onnx:/no/such.onnx")
    (tmp_path / "bad.onnx").write_bytes(b"nothing")
    with pytest.raises(st.FormatError, match="cannot be loaded as a network"):
        st.OnnxMatcher(tmp_path / "bad.onnx")
    with pytest.raises(st.CallError, match="must be 'auto' or 'cpu' or 'cuda'"):
        st.OnnxMatcher(network, provider="gpu")
    with pytest.raises(st.UnsupportedError, match="has no provider openvino; it has .*cpu"):
        st.OnnxMatcher(network, provider="openvino")
    with pytest.raises(st.CallError, match="device='opencl' is not allowed for a network"):
        st.match(*[np.zeros((8, 8, 3), np.uint8)] * 2, 4, f"onnx:{network}", device="opencl")


def test_networks_that_cannot_be_fed_are_named(tmp_path, scene, capfd):
    g = Graph()
    g.write(tmp_path / "none.onnx", [], g.constant(np.zeros((1, 1, 4, 4), np.float32)), (1, 1, 4, 4))
    for load in (st.OnnxMatcher, st.OnnxCost):
        with pytest.raises(st.UnsupportedError, match="none.onnx' has (no|0) inputs"):
            load(tmp_path / "none.onnx")
    file = tmp_path / "net.onnx"
    pair_network(file, 2, shape=(1, 3, 100_000, 100_000))
    with pytest.raises(st.UnsupportedError, match="'left' has the shape 1×3×100000×100000, and at most 268435456 pixels"):
        st.OnnxMatcher(file)
    pair_network(file, 2)
    with pytest.raises(st.UnsupportedError, match="the shape 1×3×any×any, which is any number of channels in the layout NHWC"):
        st.OnnxMatcher(file, layout="NHWC")
    pair_network(file, 2, shape=(1, "h", "w", 3))
    with pytest.raises(st.UnsupportedError, match="the shape 1×any×any×3, which is any number of channels in the layout NCHW"):
        st.OnnxMatcher(file, layout="NCHW")
    pair_network(file, 2, shape=(1, 3, "h", 64))
    with pytest.raises(st.CallError, match="at most 64×any pixels, and the pair has 150×101"):
        st.match(scene.left, scene.right, 4, f"onnx:{file}")
    pair_network(file, 2, shape=(2, 3, "h", "w"))
    with pytest.raises(st.Error, match="the network cannot be run on images of"):
        st.match(scene.left, scene.right, 4, f"onnx:{file}")
    for name in ("offset", "scale"):
        with pytest.raises(st.CallError, match=f"{name}=nan is not allowed; it must be a finite number"):
            st.OnnxCost(file, **{name: math.nan})
    assert capfd.readouterr() == ("", "")  # onnxruntime logs in colours


class TwoGpus:
    """An onnxruntime and a CuPy on a machine with two GPUs, which note where they run."""

    def __init__(self):
        self.sessions, self.inputs, self.outputs, self.current = [], [], [], 0
        self.cuda = SimpleNamespace(get_current_stream=lambda: SimpleNamespace(synchronize=lambda: None), Device=self.device)
        self.cuda.UnownedMemory = lambda address, size, owner, number: number
        self.cuda.MemoryPointer = lambda number, offset: number

    def ndarray(self, shape, dtype, number):
        return SimpleNamespace(shape=shape, dtype=np.dtype(dtype), device=SimpleNamespace(id=number), data=SimpleNamespace(ptr=64))

    def device(self, number):
        return SimpleNamespace(id=number)

    SessionOptions = SimpleNamespace

    def get_available_providers(self):
        return ["CUDAExecutionProvider", "CPUExecutionProvider"]

    def set_default_logger_severity(self, _):
        pass

    def InferenceSession(self, file, options, providers, provider_options):
        self.sessions.append(provider_options[0].get("device_id", 0))
        place, number = "cuda", self.sessions[-1]

        def bind_input(name, where, device, *_):
            assert where == place
            self.inputs.append((number, device))

        def bind_output(name, where, device=0):
            assert where == place
            self.outputs.append((number, device))

        value = SimpleNamespace(shape=lambda: (1, 1, 4, 4), data_type=lambda: "tensor(float)", data_ptr=lambda: 64)
        return SimpleNamespace(
            get_providers=lambda: providers,
            get_inputs=lambda: [SimpleNamespace(name=n, type="tensor(float)", shape=(1, 3, "h", "w")) for n in ("left", "right")],
            get_outputs=lambda: [SimpleNamespace(name="disparity", type="tensor(float)", shape=(1, 1, "h", "w"))],
            io_binding=lambda: SimpleNamespace(bind_input=bind_input, bind_output=bind_output, get_outputs=lambda: [value]),
            run_with_iobinding=lambda binding: None,
        )


def test_a_network_runs_on_the_gpu_that_is_named(tmp_path, monkeypatch):
    from stereopsis import onnx as networks

    machine = TwoGpus()
    monkeypatch.setitem(sys.modules, "onnxruntime", machine)
    monkeypatch.setattr(networks, "_cupy", lambda: machine)
    (tmp_path / "net.onnx").write_bytes(b"")
    matcher = st.OnnxMatcher(tmp_path / "net.onnx")

    def ran_on(network, number):
        image = machine.ndarray((1, 3, 4, 4), "float32", number)
        found = network._session.run({"left": image, "right": image}, "disparity")
        return machine.inputs[-1], machine.outputs[-1], found.device.id

    assert ran_on(matcher, 0) == ((0, 0), (0, 0), 0)
    assert ran_on(matcher, 1) == ((1, 1), (1, 1), 1)  # no GPU was named: that of the images
    assert ran_on(matcher, 1) == ((1, 1), (1, 1), 1) and machine.sessions == [0, 1]
    moved = matcher.on("cuda:1", 0)
    assert moved.provider == "cuda:1" and moved.on("auto", 0) is moved and machine.sessions == [0, 1, 1]
    assert ran_on(moved, 1) == ((1, 1), (1, 1), 1)
    with pytest.raises(st.CallError, match="the images are on cuda:0, and the network runs on cuda:1; use the same GPU for both"):
        ran_on(moved, 0)
    assert st.Matcher(matcher, device="cuda:1")._moved.provider == "cuda:1"
    for device in ("cuda:", "cuda:x", "cpu:1", "cuda:-1"):
        with pytest.raises(st.CallError, match="is not allowed for a network"):
            matcher.on(device, 0)
    with pytest.raises(st.CallError, match="a number is allowed only for a GPU"):
        st.OnnxMatcher(tmp_path / "net.onnx", provider="cpu:1")


def test_a_network_in_a_pipeline_file(scene, network, tmp_path, same_bits):
    pipeline = st.Pipeline(f"onnx:{network}").set("refinements", ["left_right", "median"]).set("left_right.threshold", 2)
    (tmp_path / "p.json").write_text(pipeline.to_json())
    for again in (st.Pipeline.read(tmp_path / "p.json"), pickle.loads(pickle.dumps(pipeline)), pipeline.copy()):
        assert again == pipeline and again.get("left_right.threshold") == 2
        same_bits(st.match(scene.left, scene.right, D, pipeline=again).disparity, st.match(scene.left, scene.right, D, pipeline=pipeline).disparity)
    assert again != st.Pipeline(f"onnx:{network}")


def test_threads_are_those_of_the_matcher(network):
    moved = st.Matcher(f"onnx:{network}", threads=1, device="cpu")._moved
    assert (moved._threads, moved.provider) == (1, "cpu")


def test_exported_features_of_learned_have_its_bits(scene, tmp_path, same_bits):
    if not TRAINING.exists():
        pytest.skip("the sources' folder training/ is not beside the tests")
    sys.path.insert(0, str(TRAINING))
    import weights

    learned_network(tmp_path / "features.onnx", weights.read(TRAINING / "weights" / "learned16.weights"))
    cost = st.OnnxCost(tmp_path / "features.onnx", offset=64 * 1024, scale=2.0**-10, largest=127)
    shipped = st.Pipeline("sgm-learned").update({"cost.weights": "learned16", "cost.scale": 16})
    own = st.Pipeline("sgm-learned").set_stage("cost", cost, largest=cost.largest)
    for image in ("rgb", "grey"):
        pair = [one if image == "rgb" else np.ascontiguousarray(one[..., 1]) for one in (scene.left, scene.right)]
        results = [st.match(*pair, (-2, D), pipeline=one, device="cpu", want=["cost", "confidence"]) for one in (shipped, own)]
        for name in ("cost", "disparity", "validity", "confidence"):
            same_bits(*(getattr(one, name) for one in results))


def test_a_networks_volume_is_a_cost(scene, tmp_path, same_bits):
    volume_network(tmp_path / "volume.onnx", D)
    cost = st.OnnxCost(tmp_path / "volume.onnx", offset=0, scale=1 / 3, largest=255)
    pipeline = st.Pipeline("sgm").set_stage("cost", cost, largest=255).update({"optimisation.stage": "none", "refinements": "none"})
    result = st.match(scene.left, scene.right, D, pipeline=pipeline, device="cpu", want="cost")
    right = scene.right[:, np.maximum(np.arange(150) - 5, 0)].astype(int)
    np.testing.assert_array_equal(result.cost[..., 5], np.floor(abs(scene.left - right).sum(2) / 3 + 0.5))
    with pytest.raises(st.CallError, match="costs of the disparities 0 to 15, and the range is 0 to 19"):
        st.match(scene.left, scene.right, 20, pipeline=pipeline, device="cpu")


@pytest.mark.filterwarnings("ignore:Specified provider")
def test_automatic_provider_is_one_that_starts(network, monkeypatch, capfd):
    """An onnxruntime with CUDA on a machine without it: the CPU runs the network, unless CUDA was asked for."""
    import onnxruntime

    if any(d.name.startswith("cuda") and d.usable for d in st.devices()):
        pytest.skip("this machine has a GPU; the test needs one without")
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: ["CUDAExecutionProvider", "CPUExecutionProvider"])
    assert st.OnnxMatcher(network).provider == "cpu" and capfd.readouterr() == ("", "")
    with pytest.raises(st.UnsupportedError, match="the provider cuda of onnxruntime does not start on this machine"):
        st.OnnxMatcher(network, provider="cuda")
    assert capfd.readouterr().out == ""


def test_arrays_on_a_gpu_are_taken_without_a_copy(monkeypatch):
    """Arrays of the library and tensors of PyTorch on a GPU have `__array__`, too, which raises an error."""
    from dlpack_standin import OnGpu
    from stereopsis import onnx as networks

    class Tensor(OnGpu):
        def __array__(self, *_, **__):
            raise TypeError("it is on cuda:0")

    class Cupy:
        from_dlpack = staticmethod(lambda array: ("from_dlpack", array))

    monkeypatch.setattr(networks, "_cupy", lambda: Cupy)
    tensor = Tensor(np.zeros((3, 4), np.uint8))
    assert networks._as_array(tensor) == ("from_dlpack", tensor)
    assert isinstance(networks._as_array(Tensor(np.zeros((3, 4), np.uint8), kind=1).array), np.ndarray)


@pytest.fixture
def cupy():
    """CuPy, where the library and onnxruntime can use a GPU."""
    import onnxruntime

    if not any(d.name.startswith("cuda") and d.usable for d in st.devices()):
        pytest.skip("needs a GPU")
    if "CUDAExecutionProvider" not in onnxruntime.get_available_providers():
        pytest.skip("needs a GPU, and an onnxruntime with the provider CUDA")
    return pytest.importorskip("cupy", reason="cupy holds images on a GPU")


@pytest.mark.parametrize("dtype", [onnx.TensorProto.FLOAT, onnx.TensorProto.UINT8])
def test_images_on_a_gpu_stay_there(scene, network, cupy, same_bits, dtype):
    pair_network(network, D, dtype=dtype)
    matcher = st.Matcher(st.OnnxMatcher(network, provider="cuda"), disparities=D)
    result = matcher(cupy.asarray(scene.left), cupy.asarray(scene.right))
    assert isinstance(result.disparity, cupy.ndarray)
    same_bits(cupy.asnumpy(result.disparity), expected(scene.left, scene.right, D))
    same_bits(st.match(scene.left, scene.right, D, f"onnx:{network}", device="cuda").disparity, cupy.asnumpy(result.disparity))


def test_tensors_on_a_gpu_stay_there(scene, network, cupy, same_bits):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    left, right = (torch.from_numpy(np.ascontiguousarray(one)).cuda() for one in (scene.left, scene.right))
    found = st.OnnxMatcher(network, provider="cuda")(left, right, (0, D))
    same_bits(torch.from_dlpack(found).cpu().numpy(), expected(scene.left, scene.right, D))


@pytest.mark.parametrize("kind", ["features", "volume"])
def test_a_networks_cost_on_a_gpu_has_the_bits_of_the_cpu(scene, tmp_path, cupy, same_bits, kind):
    """Images, features and costs remain on the GPU; the integers of both networks are exact in floats."""
    if kind == "features":
        features_network(tmp_path / "net.onnx")
        how = {"offset": 255 * 255 * 9.0, "scale": 2.0**-12, "largest": 127}
    else:
        volume_network(tmp_path / "net.onnx", D)
        how = {"offset": 0, "scale": 1 / 4, "largest": 127}
    results = []
    for device in ("cpu", "cuda"):
        cost = st.OnnxCost(tmp_path / "net.onnx", provider=device, **how)
        pipeline = st.Pipeline("sgm").set_stage("cost", cost, largest=cost.largest)
        results.append(st.match(scene.left, scene.right, D, pipeline=pipeline, device=device, want=["cost", "confidence"]))
    for name in ("cost", "disparity", "validity", "confidence"):
        same_bits(*(getattr(one, name) for one in results))


# Both together


def test_around_searches_near_another_method(scene, same_bits):
    def rough(left, right, disparities):
        return scene.disparity + np.where(np.indices(scene.disparity.shape).sum(0) % 2, 1.4, -1.4)

    def bad(result, threshold):
        return st.evaluate(result.disparity, scene.disparity, scene.nonocc == 255)[threshold]

    plain = st.match(scene.left, scene.right, D, device="cpu")
    same_bits(st.match(scene.left, scene.right, D, st.Around(rough, D)).disparity, plain.disparity)
    near = st.match(scene.left, scene.right, D, st.Around(rough, 2))
    assert near.method == "sgm around rough"
    assert bad(near, "bad2.0") < bad(plain, "bad2.0") and bad(near, "bad1.0") < bad(st.match(scene.left, scene.right, D, rough), "bad1.0")
    alone = st.Around(rough, 1, set={"optimisation.stage": "none", "refinements": "none"})
    found = st.match(scene.left, scene.right, D, alone).disparity
    assert np.nanmax(abs(found - np.rint(rough(None, None, None)))) <= 1.5  # a candidate, and half a pixel between two candidates
    with pytest.raises(st.CallError, match="must be a method of the library without an aggregation"):
        st.Around(rough, 2, pipeline="costfilter")
