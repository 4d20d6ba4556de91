"""The package as such: stubs, docstrings and files."""

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


def test_the_package_has_types():
    stubs = (PACKAGE / "_native.pyi").read_text()
    assert f"version: str = '{st.__version__}'" in stubs and "class Matcher:" in stubs
    assert (PACKAGE / "py.typed").exists()


def test_types_are_right(tmp_path):
    pytest.importorskip("mypy", reason="mypy checks the types")
    user = tmp_path / "user.py"
    user.write_text(
        "import stereopsis as st\n"
        "scene = st.synth('table', width=64, height=48, disparities=16)\n"
        "m = st.Matcher('sgm', disparities=(0, 16), want=['depth'], rig=st.Rig(focal=1, baseline=2))\n"
        "for r in m.stream([(scene.left, scene.right)]):\n"
        "    print(r.disparity.mean(), r.depth.max() if 'depth' in r else None, m.explain().steps[0].stage)\n"
        "limits = [(p.minimum, p.maximum, p.choices) for p in st.parameters('sgm')]\n"
        "d = st.cv2.StereoSGBM_create(numDisparities=16).compute(scene.left, scene.right)\n"
        "st.write_pfm('d.pfm', st.match(scene.left, scene.right, 16).disparity)\n"
    )
    # nanobind writes containers and paths without their arguments. With the same settings, the second call reads the cache.
    settings = tmp_path / "mypy.ini"
    settings.write_text("[mypy]\nstrict = True\n[mypy-stereopsis.*]\ndisallow_any_generics = False\n")
    for what in (["-p", "stereopsis"], [user]):
        done = subprocess.run(
            [sys.executable, "-m", "mypy", "--config-file", settings, "--cache-dir", tmp_path / "cache", *what],
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


def test_importing_it_brings_numpy_alone():
    code = (
        "import sys, numpy; before = set(sys.modules); import stereopsis;"
        "print([m for m in sys.modules if m not in before and m.split('.')[0] not in sys.stdlib_module_names"
        " and not m.startswith(('stereopsis', 'numpy'))])"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
    )
