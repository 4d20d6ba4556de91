"""Habits of users of PyTorch, Pillow and OpenCV work, or a sentence says what to do."""

import pathlib
import pickle
import warnings

import numpy as np
import pytest
import stereopsis as st
from dlpack_standin import Lender, OnGpu
from stereopsis import _keywords, _native, _pair


def one_sentence(refused):
    assert "\n" not in str(refused.value) and "; " in str(refused.value)
    return str(refused.value)


class Tensor(Lender):
    """An array with PyTorch's method permute."""

    permute = None


def floats(scene, scale=1 / 255, shift=0.0):
    return [image * np.float32(scale) + np.float32(shift) for image in (scene.left, scene.right)]


@pytest.mark.parametrize(
    "make, said",
    [
        (np.asarray, r"left has float32 values from 0\.\d+ to 1, .* from 0 to 255; multiply both images by 255 \(left \* 255\)"),
        (Lender, r"multiply both images by 255"),
    ],
)
def test_floats_from_0_to_1_warn_once(scene, make, said):
    pair = [make(image) for image in floats(scene)]
    matcher = st.Matcher(disparities=32, device="cpu")
    with pytest.warns(st.PairWarning, match=said) as warned:
        for _ in range(3):
            matcher(*pair)
    assert len([one for one in warned if "float32" in str(one.message)]) == 1 and warned[0].filename == __file__


def test_floats_in_8_bit_units_do_not_warn(scene):
    black = [np.zeros((120, 160), np.float32)] * 2
    gaps = floats(scene, 1)
    gaps[0][:20] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for pair in (floats(scene, 1), gaps, (scene.left // 200, scene.right // 200)):
            st.match(*pair, disparities=32, device="cpu")
        st.match(*floats(scene), disparities=32, device="cpu", warn_of_pair=False)
        st.match(*black, disparities=32, device="cpu", warn_of_pair=False)


def pair_of(left, right):
    return _native.Pair({"left": left, "right": right}, 0, "rgb", None)


def test_of_an_array_on_a_gpu_one_row_is_read(scene):
    class Readable(OnGpu):
        rows = []

        def __getitem__(self, row):
            self.rows.append(row)
            return self.array[row]

        max = None

    left, right = (Readable(image) for image in floats(scene))
    pair = pair_of(left, right)
    with pytest.warns(st.PairWarning, match="multiply both images by 255"):
        _pair.warn_of_scale(pair, left)
    assert Readable.rows == [60]
    normalised = [Readable(image) for image in floats(scene, 1 / 57, -2.1)]  # such images of the host are errors
    with pytest.warns(st.PairWarning, match=r"values from -\d.* undo the normalisation of both images"):
        _pair.warn_of_scale(pair_of(*normalised), normalised[0])
    Readable.rows.pop()
    eight = [Readable(image) for image in (scene.left, scene.right)]
    _pair.warn_of_scale(pair_of(*eight), eight[0])
    assert Readable.rows == [60]


@pytest.mark.parametrize(
    "spoil, said",
    [
        (lambda i: i.transpose(2, 0, 1), "its channels are first, so pass numpy.ascontiguousarray(left.transpose(1, 2, 0))"),
        (lambda i: Tensor(np.ascontiguousarray(i.transpose(2, 0, 1))), "pass left.permute(1, 2, 0).contiguous()"),
        (lambda i: i.transpose(2, 0, 1)[:1], "pass left[0]"),
        (lambda i: i[None], "pass left[0]"),
        (lambda i: i.transpose(2, 0, 1)[None], "pass numpy.ascontiguousarray(left[0].transpose(1, 2, 0))"),
        (lambda i: np.stack([i] * 5), "this is a batch of 5 images; match its pairs one by one, as in matcher.stream(zip(lefts, rights))"),
        (lambda i: np.stack([i[..., 0]] * 5), "this seems to be a batch of 5 grey images; match its pairs one by one"),
        (lambda i: np.stack([i] * 5).transpose(0, 3, 1, 2), "channels first, so pass numpy.ascontiguousarray(left.transpose(0, 2, 3, 1)); match"),
        (lambda i: OnGpu(np.stack([i] * 5)), "this is a batch of 5 images; call the matcher for each pair"),
        (lambda i: np.dstack([i, i[..., 0]]), "pass color='rgba'"),
        (lambda i: i[..., :2], "pass its first channel, numpy.ascontiguousarray(left[..., 0])"),
        (lambda i: i > 128, "has the type bool; it must be uint8, uint16 or float32, so pass a mask as mask_left or mask_right, or convert"),
        (lambda i: Lender(i > 128), "has the type bool"),
        (lambda i: i.astype(np.float16), "has the type float16; it must be uint8, uint16 or float32"),
        (lambda i: i.astype(np.float64), "convert it with .astype('float32'), or .float() of a tensor"),
        (lambda i: Tensor(i[:, ::2]), "pass left.contiguous()"),
        (lambda i: "left.png", "read it with st.read_image('left.png')"),
        (lambda i: pathlib.Path("left.png"), "read it with st.read_image('left.png')"),
    ],
)
def test_other_layouts_say_what_to_do(scene, spoil, said):
    given = [spoil(image) for image in (scene.left, scene.right)]
    with pytest.raises(st.CallError) as refused:
        st.match(*given, disparities=32)
    assert said in one_sentence(refused)


def test_the_advice_works(scene, same_bits):
    expected = st.match(scene.left, scene.right, 32, device="cpu").disparity
    left, right = (image.transpose(2, 0, 1) for image in (scene.left, scene.right))
    found = st.match(np.ascontiguousarray(left.transpose(1, 2, 0)), np.ascontiguousarray(right.transpose(1, 2, 0)), 32, device="cpu")
    same_bits(found.disparity, expected)
    batch = np.stack([scene.left] * 3), np.stack([scene.right] * 3)
    for result in st.Matcher(disparities=32, device="cpu").stream(zip(*batch)):
        same_bits(result.disparity, expected)


def test_bfloats_are_named(scene):
    class Bfloat(OnGpu):
        codes = {"f": 4}

    left = Bfloat(scene.left.astype(np.float16), kind=1)
    with pytest.raises(st.CallError, match="left has the type bfloat16; it must be"):
        st.match(left, left, 32)


@pytest.mark.parametrize("call", [
    lambda file, image: st.check(file, image),
    lambda file, image: st.evaluate(file, file),
    lambda file, image: st.match(image, image, 16, mask_left=file),
    lambda file, image: st.write_disparity("d.pfm", file),
    lambda file, image: st.write_image("d.png", file),
])  # fmt: skip
@pytest.mark.parametrize("file", ["a.png", pathlib.Path("a.png")])
def test_names_of_files_are_no_images(scene, call, file):
    with pytest.raises(st.CallError, match="is the name of a file.*st.read_") as refused:
        call(file, scene.left)
    one_sentence(refused)


@pytest.mark.parametrize("mode", ["RGB", "L", "P", "1", "RGBA", "CMYK", "I;16"])
def test_images_of_pillow(scene, mode, same_bits):
    pil = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    pair = [pil.fromarray(image) for image in (scene.left, scene.right)]
    if mode == "I;16":
        given = [pil.fromarray(np.asarray(image.convert("L")).astype(np.uint16) * 257) for image in pair]
        expected = [np.asarray(image) for image in given]
    else:
        given = [image.convert(mode) for image in pair]
        expected = [np.asarray(image.convert("L" if mode in ("L", "1") else "RGB")) for image in given]
    found, wanted = (st.match(*images, disparities=32, device="cpu", warn_of_pair=False) for images in (given, expected))
    same_bits(found.disparity, wanted.disparity)


@pytest.mark.parametrize(
    "call, said",
    [
        (lambda s: st.match(s.left, s.right, num_disparities=32), r"match\(\) has no argument 'num_disparities'; did you mean 'disparities'\?"),
        (lambda s: st.match(s.left, s.right, mask_lft=None), "did you mean 'mask_left'"),
        (lambda s: st.Matcher(max_disparities=32), r"Matcher\(\) has no argument 'max_disparities'; did you mean 'disparities'"),
        (lambda s: st.Matcher(disparities=32)(s.left, s.right, output={}), "did you mean 'out'"),
        (lambda s: st.Matcher(disparities=32).stream([], inflight=3), "did you mean 'in_flight'"),
        (lambda s: st.match_volume(s.left, refinement=[]), "did you mean 'refinements'"),
        (lambda s: st.check(s.left, s.right, bitdepth=8), "did you mean 'bit_depth'"),
        (lambda s: st.read_image("a.png", depth=16), r"read_image\(\) has no argument 'depth'; did you mean 'bit_depth'"),
        (lambda s: st.synth(zzz=3), "a scene has no option 'zzz'; it has focal_length, gain"),
        (lambda s: st.cv2.StereoSGBM_create(num_disparities=32), "did you mean 'numDisparities'"),
        (lambda s: st.cv2.from_sgbm(blocksize=5), r"from_sgbm\(\) has no argument 'blocksize'; did you mean 'blockSize'"),
        (lambda s: st.match(s.left, s.right, 32).color(colormap="x"), r"color\(\) has no argument 'colormap'; "),
        (lambda s: st.match(s.left, s.right, 32).save(dept="d.pfm"), r"save\(\) has no argument 'dept'; did you mean 'depth'"),
        (lambda s: st.read_disparity("d.png", scal=256), r"read_disparity\(\) has no argument 'scal'; did you mean 'scale'"),
        (lambda s: st.read_calibration("a.yml", camera="grey"), "did you mean 'cameras'"),
        (lambda s: st.write_point_cloud("a.ply", s.left, colour=s.left), "did you mean 'color'"),
        (lambda s: st.Rig(focal=500, base_line=0.1), r"Rig\(\) has no argument 'base_line'; did you mean 'baseline'"),
        (lambda s: st.Rig(focal=500, baseline=0.1, center=3), r"Rig\(\) has no argument 'center'; it has focal, baseline, cx_left"),
        (lambda s: st.Camera(fx=1, fy=1, cx=1, cy=1, distortions=[]), r"Camera\(\) has no argument 'distortions'; did you mean 'distortion'"),
        (lambda s: st.Calibration(sizes=(1, 1)), r"Calibration\(\) has no argument 'sizes'; did you mean 'size'"),
        (lambda s: st.PosedCamera(None, rotate=0), r"PosedCamera\(\) has no argument 'rotate'; did you mean 'rotation'"),
        (lambda s: st.Rectification(calibrations=0), r"Rectification\(\) has no argument 'calibrations'; did you mean 'calibration'"),
        (lambda s: st.PairSource("a", "b", stamps=True), r"PairSource\(\) has no argument 'stamps'; "),
    ],
)
def test_unknown_arguments_name_the_nearest(scene, call, said):
    with pytest.raises(st.CallError, match=said) as refused:
        call(scene)
    one_sentence(refused)


def test_arguments_that_cannot_be_have_a_sentence(scene):
    for pairs in (np.zeros((), np.uint8), 3, None):
        with pytest.raises(st.CallError, match="must be an iterable of pairs"):
            st.Matcher(disparities=32).stream(pairs)
    with pytest.raises(st.CallError, match="a rig for images of -3×4 pixels has no images"):
        st.match(scene.left, scene.right, 32, rig=st.Rig(focal=500, baseline=0.1, size=(-3, 4)), want="depth", warn_of_pair=False)


def test_functions_stay_what_they_are():
    assert pickle.loads(pickle.dumps(st.match)) is st.match
    assert "disparities" in _keywords.names_of(st.Matcher.__init__.__wrapped__)
    for wrong in (lambda: st.match(), lambda: st.match(1, 2, 3, 4, 5, 6, 7, 8)):  # Python's own sentence
        with pytest.raises(TypeError, match=r"match\(\) (missing|takes)"):
            wrong()
    with pytest.raises(TypeError):
        st.match(1, 2, num_disparities=3)
    rig = st.Rig(focal=500, baseline="12cm", size=(640, 480))
    assert (rig.baseline, rig.size) == (120, (640, 480)) and pickle.loads(pickle.dumps(rig)).focal == 500
    for wrong in (lambda: st.Rig(500, 0.1), lambda: st.Rig(focal="x", baseline=1), lambda: st.Rig()):  # nanobind lists the types
        with pytest.raises(TypeError, match="baseline: float | str"):
            wrong()


def test_outputs_that_were_not_requested_say_so(scene):
    result = st.match(scene.left, scene.right, 32, device="cpu", want=["right"])
    for name, said in (
        ("depth", r"the result has no depth, which was not requested; pass want=\['depth'\], and rig= or calibration=,"),
        ("confidence", r"pass want=\['confidence'\]"),
        ("rectified", r"pass want=\['rectified'\] and calibration="),
        ("volume", r"pass want=\['volume'\]"),
        ("probed", r"pass probes="),
    ):
        with pytest.raises(st.OutputError, match=said) as refused:
            getattr(result, name)
        one_sentence(refused)
        assert name not in result and not hasattr(result, name) and getattr(result, name, 3) == 3
    assert "right" in result and "disparity" in result and "ms" not in result
    copy = pickle.loads(pickle.dumps(result))
    assert "depth" not in copy and (copy.right == result.right).sum() > 1000
    with pytest.raises(AttributeError, match="no attribute 'disparities'"):
        result.disparities  # noqa: B018
    assert not isinstance(pytest.raises(AttributeError, lambda: result.disparities).value, st.OutputError)


@pytest.mark.parametrize("options", [
    dict(want=["depth"]),
    dict(want=["rectified"]),
    dict(pipeline=st.Pipeline("sgm").set("cost.stage", "volume")),
    dict(stripe=st.BoundaryStripe(0, 60, follow="down"), want=["confidence"]),
])  # fmt: skip
def test_no_words_of_cpp(scene, options):
    with pytest.raises(st.CallError) as refused:
        st.match(scene.left, scene.right, 32, device="cpu", **options)
    said = one_sentence(refused)
    assert not any(word in said for word in ("::", "Problem", "StereoPair", "std", "geometry.", "volumes."))


@pytest.mark.parametrize("call", [
    lambda scene: st.color_map(3),
    lambda scene: st.read_pfm(1.5),
    lambda scene: st.read_image(None),
    lambda scene: st.write_point_cloud("cloud.ply", np.zeros((4, 5, 3), np.float32), organised="yes"),
    lambda scene: st.evaluate(None, scene.disparity),
    lambda scene: st.evaluate(scene.disparity, None),
    lambda scene: st.check(None, scene.right),
    lambda scene: st.write_disparity("d.pfm", None),
    lambda scene: st.match(scene.left, scene.right, 32, fill_depth=scene.left),
    lambda scene: st.match_volume(np.zeros((4, 5, 6), np.uint8), largest=scene.left),
    lambda scene: st.match_volume(np.zeros((4, 5, 6), np.uint8), first="one"),
    lambda scene: st.synth("table", "wide", 40, 12),
    lambda scene: st.synth("table", 40, 30, 12, noise="much"),
    lambda scene: st.match(scene.left, scene.right, 32, want=scene.left),
    lambda scene: st.match(scene.left, scene.right, 32, device="cpu\n"),
    lambda scene: st.match(scene.left, scene.right, disparities="x" * 10000),
    lambda scene: st.Pipeline("sgm").set("optimisation.p1", "1\n2"),
    lambda scene: st.match(scene.left, scene.right, 32, device="cpu").color("disparity", "low"),
    lambda scene: st.match(scene.left, scene.right, 32, device="cpu").color(scene.left),
])  # fmt: skip
def test_wrong_types_and_long_values_get_one_sentence(scene, call):
    with pytest.raises(st.CallError) as refused:
        call(scene)
    assert "incompatible function arguments" not in one_sentence(refused)


def test_names_of_files_that_are_too_long_are_errors_of_files():
    for read in (st.read_image, st.read_calibration, st.Rig.read):
        with pytest.raises(st.FileError, match="File name too long"):
            read("a" * 1000)
