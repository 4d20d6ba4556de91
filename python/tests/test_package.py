"""The package as such: stubs, docstrings, files, and what looks like OpenCV."""

import doctest
import importlib.metadata
import inspect
import pathlib
import subprocess
import sys

import numpy as np
import pytest
import stereopsis as st

PACKAGE = pathlib.Path(st.__file__).parent
ROOT = pathlib.Path(__file__).parents[2]
MODULES = ["stereopsis", "stereopsis.cv2", "stereopsis._matching", "stereopsis._pair_source", "stereopsis._pipeline", "stereopsis._scenes", "stereopsis._program", "stereopsis._around"]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_are_true(name):
    failed, tried = doctest.testmod(sys.modules[name])
    assert tried > 0 and failed == 0


def test_examples_of_the_page_are_true():
    failed, tried = doctest.testfile(str(ROOT / "docs" / "python.md"), module_relative=False)
    assert tried > 0 and failed == 0


def test_everything_public_says_what_it_is():
    for name in st.__all__:
        if not name.startswith("__"):
            assert inspect.getdoc(getattr(st, name)), name
    assert importlib.metadata.version("stereopsis") == st.__version__


def test_stubs_are_those_of_the_module(tmp_path):
    pytest.importorskip("nanobind", reason="nanobind makes the stubs")
    subprocess.run(
        [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "stereopsis._native", "-o", tmp_path / "_native.pyi"],
        check=True,
    )
    assert (tmp_path / "_native.pyi").read_text() == (PACKAGE / "_native.pyi").read_text(), (
        "make them anew: python -m nanobind.stubgen -m stereopsis._native -o python/stereopsis/_native.pyi"
    )
    assert (PACKAGE / "py.typed").exists()


def test_types_are_right(tmp_path):
    pytest.importorskip("mypy", reason="mypy checks the types")
    user = tmp_path / "user.py"
    user.write_text(
        "import stereopsis as st\n"
        "scene = st.synth('table', width=64, height=48, disparities=16)\n"
        "m = st.Matcher('sgm', disparities=(0, 16), want=['depth'], rig=st.Rig(focal=1, baseline=2))\n"
        "for r in m.stream([(scene.left, scene.right)]):\n"
        "    print(r.disparity.mean(), None if r.depth is None else r.depth.max(), m.explain().steps[0].stage)\n"
        "limits = [(p.minimum, p.maximum, p.choices) for p in st.parameters('sgm')]\n"
        "d = st.cv2.StereoSGBM_create(numDisparities=16).compute(scene.left, scene.right)\n"
        "st.write_pfm('d.pfm', st.match(scene.left, scene.right, 16).disparity)\n"
    )
    # nanobind writes containers and paths without their arguments.
    for what in (["--allow-any-generics", "-p", "stereopsis"], [user]):
        done = subprocess.run(
            [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache", *what],
            capture_output=True,
            text=True,
            cwd=tmp_path,
        )
        assert done.returncode == 0, done.stdout


def test_files_go_and_come(tmp_path, same_bits):
    disparity = np.arange(12, dtype=np.float32).reshape(3, 4)
    disparity[1, 2] = np.nan
    st.write_pfm(tmp_path / "d.pfm", disparity)
    same_bits(np.isnan(st.read_pfm(tmp_path / "d.pfm")), np.isnan(disparity))
    np.testing.assert_array_equal(st.read_disparity(tmp_path / "d.pfm"), disparity)
    st.write_disparity(str(tmp_path / "d.png"), disparity)
    np.testing.assert_array_equal(st.read_disparity(str(tmp_path / "d.png"))[1:], disparity[1:])
    with pytest.raises(st.CallError, match="does not end in .pfm"):
        st.write_pfm(tmp_path / "d.png", disparity)
    with pytest.raises(st.CallError, match="disparity has the type float64"):
        st.write_pfm(tmp_path / "d.pfm", disparity.astype(float))


def test_an_images_bit_depth_is_not_lost(tmp_path):
    (tmp_path / "a.pgm").write_bytes(b"P5 2 1 4095\n" + (4095).to_bytes(2, "big") + (7).to_bytes(2, "big"))
    with pytest.raises(st.CallError, match="has 12 bits; read it with bit_depth=12"):
        st.read_image(tmp_path / "a.pgm")
    assert st.read_image(tmp_path / "a.pgm", bit_depth=12).tolist() == [[4095, 7]]
    (tmp_path / "b.pgm").write_bytes(b"P5\n2 1\n65535\n\x0f\xff\x00\x07")  # 16 bits, as PNG and TIFF files declare for any contents
    assert st.read_image(tmp_path / "b.pgm", bit_depth=12).tolist() == [[4095, 7]]


def test_check_tells_a_pair_that_is_swapped():
    scene = st.synth("table", width=320, height=240, disparities=32)
    assert st.check(scene.right, scene.left).swapped
    first, end = st.check(scene.left, scene.right).disparities
    assert first <= np.quantile(scene.disparity, 0.05) and np.quantile(scene.disparity, 0.95) < end


def test_what_looks_like_opencv(scene, same_bits):
    bgr = [np.ascontiguousarray(image[..., ::-1]) for image in (scene.left, scene.right)]
    found = st.cv2.StereoSGBM_create(minDisparity=2, numDisparities=30, device="cpu").compute(*bgr)
    assert found.shape == (120, 160) and found.dtype == np.int16
    invalid = found == (2 - 1) * 16
    assert 0 < invalid.mean() < 0.5 and found[~invalid].min() >= 2 * 16 - 8
    assert np.median(np.abs(found[~invalid] / 16 - scene.disparity[~invalid])) < 0.5
    sgbm = st.cv2.StereoSGBM_create(minDisparity=2, numDisparities=30, device="cpu", want="confidence")
    with pytest.raises(st.CallError, match=r"call compute\(\) first"):
        sgbm.result  # noqa: B018
    same_bits(sgbm.compute(*bgr), found)
    same_bits(np.isnan(sgbm.result.disparity), invalid)
    assert (sgbm.result.validity[invalid] != 0).all() and sgbm.result.confidence[~invalid].mean() > 0.8
    for wrong in ((bgr[0], bgr[1][:-1]), (*bgr, np.zeros((2, 2), np.int16))):
        sgbm.compute(*bgr)
        with pytest.raises(st.CallError):
            sgbm.compute(*wrong)
        with pytest.raises(st.CallError, match="no result"):
            sgbm.result  # noqa: B018
    converted = st.cv2.from_sgbm(minDisparity=2, numDisparities=30, device="cpu", want=["confidence"], report=None)
    converted.compute(*bgr)
    assert converted.result.confidence.shape == (120, 160)
    into = np.zeros((120, 160), np.int16)
    assert st.cv2.StereoSGBM_create(minDisparity=2, numDisparities=30, device="cpu").compute(*bgr, into) is into
    same_bits(into, found)
    for refused in (dict(P1=8), dict(blockSize=5), dict(preFilterCap=63), dict(mode=4), dict(numDisparities=5000)):
        with pytest.raises(st.CallError, match=next(iter(refused))):
            st.cv2.StereoSGBM_create(**refused)


def test_the_interface_is_that_of_the_installed_opencv():
    cv2 = pytest.importorskip("cv2", reason="OpenCV's Python module is not installed")
    theirs, ours = cv2.StereoSGBM_create(numDisparities=16), st.cv2.StereoSGBM_create(numDisparities=16, device="cpu")
    getters = [name for name in dir(theirs) if name.startswith("get") and name != "getDefaultName"]
    assert len(getters) >= 11
    for getter in getters:
        assert getattr(ours, getter)() == getattr(theirs, getter)(), getter
        assert hasattr(ours, getter.replace("get", "set")), getter
    for constant in (name for name in dir(cv2) if name.startswith("STEREO_SGBM_")):
        assert getattr(st.cv2, constant) == getattr(cv2, constant), constant


def test_parameters_of_opencv_are_converted(scene, same_bits):
    with pytest.raises(st.CallError, match=r"P1=216 .* set=\{'optimisation.p1': 20\}.*from_sgbm"):
        st.cv2.StereoSGBM_create(P1=8 * 3 * 9)
    lines = []
    usual = dict(minDisparity=0, numDisparities=32, blockSize=5, P1=8 * 3 * 25, P2=32 * 3 * 25, uniquenessRatio=5)
    ours = st.cv2.from_sgbm(**usual, device="cpu", report=lines.append)
    assert any("optimisation.p1 = 20, optimisation.p2 = 100" in line for line in lines), lines
    assert any(line.startswith("blockSize=5: left out") for line in lines) and any("uniquenessRatio=5: kept" in line for line in lines)
    assert (ours.getP1(), ours.getP2(), ours.getBlockSize(), ours.getNumDisparities()) == (600, 2400, 5, 32)
    ours.setP1(600)  # the value that was converted
    expected = st.cv2.StereoSGBM_create(numDisparities=32, uniquenessRatio=5, device="cpu")
    same_bits(ours.compute(scene.left, scene.right), expected.compute(scene.left, scene.right))

    class Theirs:  # has the getters of cv2.StereoSGBM
        def __getattr__(self, name):
            return lambda: {"getNumDisparities": 32, "getUniquenessRatio": 5, "getBlockSize": 3}.get(name, 0)

    read = st.cv2.from_sgbm(Theirs(), device="cpu", report=None)
    with pytest.raises(st.CallError, match="matcher is a dict; pass a cv2.StereoSGBM"):
        st.cv2.from_sgbm({})
    same_bits(read.compute(scene.left, scene.right), expected.compute(scene.left, scene.right))

    def reported(**parameters):
        lines = []
        st.cv2.from_sgbm(numDisparities=16, **parameters, device="cpu", report=lines.append)
        return dict(line.split(": ", 1) for line in lines)

    said = reported(P1=4000, P2=10, mode=1)  # a P2 below P1 is raised to it
    assert said["P1=4000, P2=10"] == (
        "optimisation.p1 = 370, optimisation.p2 = 370, optimisation.p2_min = 370; P2 would be 1, and is raised to P1 = 370"
    )
    assert said["mode=1"] == "8 paths" and said["numDisparities=16"] == "kept" and said["uniquenessRatio=0"] == "kept"
    assert said["disp12MaxDiff=0"] == "the left-right check allows a difference of 1 pixel, as in OpenCV"
    assert said["speckleWindowSize=0"] == "no regions are removed"
    assert said["speckleRange=0"] == "unused, because speckleWindowSize removes no regions"
    said = reported(blockSize=1, P1=1, P2=10**6, disp12MaxDiff=16, uniquenessRatio=-1)
    assert said["P1=1, P2=1000000"].endswith("P2 would be 1.04167e+06, and is limited to 4095")
    assert said["disp12MaxDiff=16"] == "no left-right check, because no difference exceeds it"
    assert said["uniquenessRatio=-1"] == "10 percent, as in OpenCV"
    with pytest.raises(st.CallError, match="blocksize is no parameter"):
        st.cv2.from_sgbm(blocksize=5)


def test_methods_are_compared(command, tmp_path):
    command("synth", "-o", tmp_path / "scene", "--width", 96, "--height", 64, "--disparities", 16)
    found = st.compare(tmp_path, ["sgm", "banz-sgm:optimisation.paths=4"], html=tmp_path / "page.html", device="cpu", repeat=1)
    assert [one["method"] for one in found] == ["sgm", "banz-sgm:optimisation.paths=4"]
    assert 0 <= found[0]["scenes"][0]["measures"]["nonocc"]["bad1.0"] <= 100
    assert (tmp_path / "page.html").read_text().count("data:image/png") == 3
    with pytest.raises(st.CallError, match="did you mean"):
        st.compare(tmp_path, ["sgmm"])
    command("synth", "-o", tmp_path / "broken", "--width", 96, "--height", 64, "--disparities", 16)
    (tmp_path / "broken/right.png").write_text("no image")
    with pytest.warns(UserWarning, match="table is left out: .*broken.right.png"):
        found = st.compare(tmp_path, ["sgm"], device="cpu", repeat=1)
    assert len(found[0]["scenes"]) == 1
    with pytest.raises(st.CallError, match="is not a folder"):
        st.compare(tmp_path / "nowhere")


def test_numbers_that_opencv_takes_are_what_they_are_there(scene, same_bits):
    def compute(**numbers):
        return st.cv2.StereoSGBM_create(numDisparities=32, device="cpu", **numbers).compute(scene.left, scene.right)

    same_bits(compute(mode=st.cv2.STEREO_SGBM_MODE_SGBM_3WAY), compute(mode=st.cv2.STEREO_SGBM_MODE_SGBM))
    same_bits(compute(uniquenessRatio=-1), compute(uniquenessRatio=10))
    same_bits(compute(disp12MaxDiff=-1), compute(disp12MaxDiff=1))
    unchecked = compute(disp12MaxDiff=1_000_000)
    same_bits(unchecked, compute(set={"left_right.enabled": False}))
    assert (unchecked == -16).sum() < (compute(disp12MaxDiff=1) == -16).sum()
    same_bits(compute(speckleWindowSize=50, speckleRange=2), compute(set={"speckle.enabled": True, "speckle.size": 51, "speckle.difference": 2}))


def test_importing_it_brings_numpy_alone():
    code = (
        "import sys, numpy; before = set(sys.modules); import stereopsis;"
        "print([m for m in sys.modules if m not in before and m.split('.')[0] not in sys.stdlib_module_names"
        " and not m.startswith(('stereopsis', 'numpy'))])"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
    )
