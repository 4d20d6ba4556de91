"""Other matchers run with fitting parameters, and the scripts score disparities as the command does."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = os.environ.get("STEREOPSIS_COMMAND", str(ROOT / "build/release/bin/stereopsis"))
sys.path.insert(0, str(ROOT / "docs"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scenes")
    subprocess.run([COMMAND, "synth", "-o", folder / "set/scene", "--width", "240", "--height", "160", "--disparities", "32", "--quiet"], check=True)
    return folder


@pytest.mark.parametrize("channels", [1, 3])
def test_penalties_fit_the_number_of_channels(channels):
    peers = pytest.importorskip("peers", reason="cv2 is not installed")
    for dataset in ("kitti2012", "middlebury_v2"):
        for mode in peers.MODES:
            arguments = peers.arguments_of(mode, peers.chosen(mode, dataset), channels)
            matcher = peers.make_matcher(mode, arguments, 64, channels)
            factor = channels * matcher.getBlockSize() ** 2
            assert (matcher.getP1(), matcher.getP2()) == (8 * factor, 32 * factor)


def test_a_colour_image_with_the_penalties_for_grey_is_refused(folder):
    peers = pytest.importorskip("peers", reason="cv2 is not installed")
    from harness import scenes
    left, _ = peers.images_of(scenes(folder)[0].files, "colour")
    assert peers.channels_of(left) == 3
    arguments = peers.arguments_of("3WAY", peers.chosen("3WAY", "synth"), 1)
    with pytest.raises(ValueError, match="images with 3 channels"):
        peers.make_matcher("3WAY", arguments, 64, peers.channels_of(left))


def test_the_command_uses_the_table(folder):
    file = folder / "bench.json"
    subprocess.run([COMMAND, "bench", "--dataset", folder, "--device", "cpu", "--repeat", "1", "--json", file], check=True, stdout=subprocess.DEVNULL)
    found = [r["parameters"] for r in json.loads(file.read_text())["results"] if r["method"].startswith("OpenCV StereoSGBM")]
    if not found:
        pytest.skip("the command was built without OpenCV")
    for parameters in found:
        factor = (3 if parameters["images"] == "colour" else 1) * parameters["blockSize"] ** 2
        assert (parameters["P1"], parameters["P2"]) == (8 * factor, 32 * factor)


def test_the_scripts_score_as_the_command_does(folder):
    from harness import bench, match, scenes
    scene, = scenes(folder)
    disparity, _, _ = match(COMMAND, scene, "sgm", "--device", "cpu")
    found = bench(COMMAND, "--no-peers", "--device", "cpu", "--repeat", 1, "--dataset", folder)["results"][0]["scenes"][0]["measures"]
    for region, measures in scene.measures(disparity).items():
        for name, value in measures.items():
            assert value == pytest.approx(found[region][name], abs=1e-3), (region, name)


def test_bench_times_the_confidence():
    from harness import bench
    options = ("--no-peers", "--device", "cpu", "--repeat", 1, "--size", "64x64x16")
    for flag in ([], ["--confidence"]):
        result = bench(COMMAND, *options, *flag)["results"][0]
        assert result["confidence"] == bool(flag)
        assert any("confidence" in stage["name"] for stage in result["stages"]) == bool(flag)
