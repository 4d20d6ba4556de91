"""Programs of OpenCV: the matchers of st.cv2, the WLS filter, and scripts that run with another import line."""

import pathlib
import re
import subprocess
import sys
import warnings

import numpy as np
import pytest
import stereopsis as st

ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture
def cv2():
    return pytest.importorskip("cv2", reason="OpenCV's Python module is not installed")


@pytest.fixture
def ximgproc(cv2):
    if not hasattr(cv2, "ximgproc"):
        pytest.skip("OpenCV was built without its contributed modules; install opencv-contrib-python-headless")
    return st.cv2.ximgproc


@pytest.fixture(scope="module")
def pair(scene):
    return [np.ascontiguousarray(image[..., ::-1]) for image in (scene.left, scene.right)]


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
    for refused in (dict(mode=4), dict(numDisparities=5000)):
        with pytest.raises(st.CallError, match=next(iter(refused))):
            st.cv2.StereoSGBM_create(**refused)


@pytest.mark.parametrize("kind", ["StereoSGBM", "StereoBM"])
def test_the_interface_is_that_of_the_installed_opencv(cv2, kind):
    theirs = getattr(cv2, f"{kind}_create")(numDisparities=16)
    for ours in (getattr(st.cv2, f"{kind}_create")(numDisparities=16, device="cpu"), getattr(st.cv2, kind).create(16, device="cpu")):
        if kind == "StereoSGBM":
            ours.setMinDisparity(0), ours.setNumDisparities(16)  # the first argument differs
        getters = [name for name in dir(theirs) if name.startswith("get") and name != "getDefaultName"]
        assert len(getters) >= 11
        for getter in getters:
            value = getattr(theirs, getter)()
            assert getattr(ours, getter)() == value, getter
            getattr(ours, getter.replace("get", "set"))(value)
    for constant in (name for name in dir(cv2) if name.startswith("STEREO_SGBM_")):
        assert getattr(st.cv2, constant) == getattr(cv2, constant), constant


def test_parameters_of_opencv_are_converted(scene, same_bits):
    lines = []
    usual = dict(minDisparity=0, numDisparities=32, blockSize=5, P1=8 * 3 * 25, P2=32 * 3 * 25, uniquenessRatio=5)
    ours = st.cv2.from_sgbm(**usual, device="cpu", report=lines.append)
    assert any("optimisation.p1 = 20, optimisation.p2 = 100" in line for line in lines), lines
    assert any(line.startswith("blockSize=5: left out") for line in lines) and any("uniquenessRatio=5: kept" in line for line in lines)
    assert (ours.getP1(), ours.getP2(), ours.getBlockSize(), ours.getNumDisparities()) == (600, 2400, 5, 32)
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
    penalised = st.cv2.StereoSGBM_create(**usual, channels=3, device="cpu")  # the same conversion, without warnings
    same_bits(penalised.compute(scene.left, scene.right), expected.compute(scene.left, scene.right))
    penalised.setP1(6000)
    assert (penalised.compute(scene.left, scene.right) != expected.compute(scene.left, scene.right)).any()


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


def test_parameters_without_effect_warn_once(pair, same_bits):
    expected = st.cv2.StereoSGBM_create(0, 32, device="cpu").compute(*pair)
    ours = st.cv2.StereoSGBM_create(0, 32, blockSize=5, P1=8 * 3 * 25, P2=32 * 3 * 25, preFilterCap=63, device="cpu")
    said = r"^blockSize=5, P1=600, P2=2400, preFilterCap=63: no effect, .*; leave them out, or pass channels=3"
    with pytest.warns(UserWarning, match=said) as warned:
        for _ in range(3):
            same_bits(ours.compute(*pair), expected)
    assert len(warned) == 1 and warned[0].filename == __file__
    assert (ours.getBlockSize(), ours.getP1(), ours.getP2(), ours.getPreFilterCap()) == (5, 600, 2400, 63)
    set_later = st.cv2.StereoBM_create(32, device="cpu")
    set_later.setROI1((1, 2, 3, 4))
    set_later.setTextureThreshold(0)
    with pytest.warns(UserWarning, match=r"^TextureThreshold=0, ROI1=\(1, 2, 3, 4\): no effect".replace("T", "t", 1)):
        set_later.compute(*pair)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        st.cv2.StereoSGBM_create(0, 32, 3, 0, 0, 1, 0, 10, 100, 2, device="cpu").compute(*pair)
        st.cv2.from_sgbm(numDisparities=32, blockSize=5, P1=600, P2=2400, preFilterCap=63, device="cpu").compute(*pair)
        st.cv2.StereoSGBM_create(0, 32, 5, P1=600, channels=3, device="cpu").compute(*pair)


def test_other_layouts_are_copied_as_opencv_copies_them(pair, scene, same_bits):
    ours = st.cv2.StereoSGBM_create(0, 32, device="cpu")
    expected = ours.compute(*pair)
    same_bits(ours.compute(scene.left[..., ::-1], scene.right[..., ::-1]), expected)
    wide = [np.repeat(np.repeat(image, 2, axis=0), 2, axis=1) for image in pair]
    same_bits(ours.compute(*(image[::2, ::2] for image in wide)), expected)
    same_bits(ours.compute(*(np.pad(image, ((0, 0), (3, 8), (0, 0)))[:, 3:-8] for image in pair)), expected)
    with pytest.raises(st.CallError, match="no pixels"):
        ours.compute(pair[0][:0], pair[1][:0])


def test_from_sgbm_is_quiet(capfd):
    st.cv2.from_sgbm(numDisparities=32, blockSize=5, P1=600)
    assert capfd.readouterr() == ("", "")
    st.cv2.from_sgbm(numDisparities=32, blockSize=5, P1=600, report=print)
    assert "blockSize=5: left out" in capfd.readouterr().out


def test_block_matchers(pair, scene, same_bits):
    grey = [np.ascontiguousarray(image[..., 1]) for image in pair]
    ours = st.cv2.StereoBM_create(numDisparities=32, device="cpu")
    found = ours.compute(*grey)
    assert found.dtype == np.int16 and found.min() == -16 and ours.getUniquenessRatio() == 15
    unchecked = st.cv2.StereoSGBM_create(0, 32, uniquenessRatio=15, disp12MaxDiff=1_000_000, device="cpu")
    same_bits(found, unchecked.compute(*grey))
    ours.setDisp12MaxDiff(1)
    same_bits(ours.compute(*grey), st.cv2.StereoSGBM_create(0, 32, uniquenessRatio=15, disp12MaxDiff=1, device="cpu").compute(*grey))
    assert st.cv2.StereoBM_create().getNumDisparities() == 64


def test_right_matchers_give_opencvs_right_map(pair, scene):
    ours = st.cv2.StereoSGBM_create(2, 30, device="cpu")
    right = st.cv2.create_right_matcher(ours)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = right.compute(pair[1], pair[0])
    assert (right.getMinDisparity(), right.getNumDisparities()) == (-31, 30)  # as cv2.ximgproc.createRightMatcher has them
    valid = found != (-31 - 1) * 16
    assert valid.mean() > 0.8 and found[valid].max() <= -2 * 16 + 8
    assert np.median(np.abs(-found[valid] / 16 - scene.disparity_right[valid])) < 0.5
    with pytest.raises(st.CallError, match="pass a matcher of st.cv2"):
        st.cv2.create_right_matcher(5)


def wls_of(filter_, left_map, right_map, image):
    filter_.setLambda(8000)
    filter_.setSigmaColor(1.5)
    return filter_.filter(left_map, image, disparity_map_right=right_map)


def wrong(scene, filtered):
    return (np.abs(filtered / 16 - scene.disparity) > 1).mean()


@pytest.mark.parametrize("create", ["StereoSGBM_create", "StereoBM_create"])
def test_the_wls_filter_works(cv2, ximgproc, pair, scene, create):
    left = getattr(st.cv2, create)(numDisparities=32, device="cpu")
    right = ximgproc.createRightMatcher(left)
    assert type(right) is type(left)
    filtered = wls_of(ximgproc.createDisparityWLSFilter(left), left.compute(*pair), right.compute(*pair[::-1]), pair[0])
    assert (left.getUniquenessRatio(), left.getSpeckleWindowSize(), left.getDisp12MaxDiff()) == (0, 0, 1_000_000)
    theirs = getattr(cv2, create)(numDisparities=32)
    images = pair if create == "StereoSGBM_create" else [cv2.cvtColor(image, cv2.COLOR_BGR2GRAY) for image in pair]
    made = cv2.ximgproc.createDisparityWLSFilter(theirs)
    of_right = cv2.ximgproc.createRightMatcher(theirs)
    assert (right.getMinDisparity(), right.getNumDisparities()) == (of_right.getMinDisparity(), of_right.getNumDisparities())
    expected = wls_of(made, theirs.compute(*images), of_right.compute(*images[::-1]), images[0])
    assert wrong(scene, filtered) < min(0.35, 1.1 * wrong(scene, expected))


def test_the_generic_wls_filter_works(cv2, ximgproc, pair, scene):
    """The way without the names of stereopsis.cv2.ximgproc, with and without a confidence."""
    left = st.cv2.StereoSGBM_create(0, 32, device="cpu")
    maps = left.compute(*pair), st.cv2.create_right_matcher(left).compute(*pair[::-1])
    for confident in (False, True):
        filtered = cv2.ximgproc.createDisparityWLSFilterGeneric(confident).filter(
            maps[0], pair[0], disparity_map_right=maps[1] if confident else None, ROI=(0, 0, 160, 120)
        )
        assert filtered.shape == (120, 160) and wrong(scene, filtered) < 0.4


def scripts_of_the_page():
    text = (ROOT / "docs/from-opencv.md").read_text()
    return [script for script in re.findall(r"```python\n(.*?)```", text, re.S) if "import cv2" in script]


@pytest.mark.parametrize("script", scripts_of_the_page())
def test_scripts_run_with_another_import_line(cv2, ximgproc, pair, tmp_path, script):
    for name, image in zip(("left.png", "right.png"), pair, strict=True):
        cv2.imwrite(str(tmp_path / name), image)
    assert script.count("from stereopsis import cv2\n") == 1
    (tmp_path / "a.py").write_text(script)
    done = subprocess.run([sys.executable, "a.py"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    before = script.replace("from stereopsis import cv2\n", "import cv2\n")  # OpenCV's own matchers run it, too
    (tmp_path / "b.py").write_text(before)
    done = subprocess.run([sys.executable, "b.py"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_without_opencv_its_names_say_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(AttributeError, match="has no 'imread', and OpenCV's module is not installed; run: "):
        st.cv2.imread  # noqa: B018
    assert st.cv2.StereoSGBM_create(0, 16).getNumDisparities() == 16
