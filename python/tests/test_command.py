"""The same bits as the command."""

import numpy as np
import pytest
import stereopsis as st

SCENES = {"table": dict(seed=1, noise=2), "clutter": dict(seed=3, gain=1.1)}
METHODS = [info.name for info in st.methods()]


@pytest.fixture(scope="module", params=SCENES)
def files(request, command, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    options = [word for name, value in SCENES[request.param].items() for word in (f"--{name}", value)]
    command(
        "synth", "-o", folder, "--scene", request.param, "--width", 150, "--height", 100, "--disparities", 24, *options
    )
    return folder


def test_a_generated_scene_is_the_commands(files, same_bits):
    options = SCENES[files.name.rstrip("0123456789")]
    scene = st.synth(files.name.rstrip("0123456789"), width=150, height=100, disparities=24, **options)
    same_bits(scene.left, st.read_image(files / "left.png"))
    same_bits(scene.disparity, st.read_disparity(files / "disp_left.pfm"))


def test_a_random_scene_is_the_commands(command, tmp_path, same_bits):
    options = dict(like="road", seed=5, width=124, height=38, disparities=32)
    words = [word for name, value in options.items() for word in (f"--{name}", value)]
    command("synth", "-o", tmp_path / "scenes", "--random", *words)
    scene = st.synth(**options)
    same_bits(scene.left, st.read_image(tmp_path / "scenes/000000/left.png"))
    same_bits(scene.disparity, st.read_disparity(tmp_path / "scenes/000000/disp_left.pfm"))


class Both:
    """A pair for the command and for the package; what the command writes is NAME.npy."""

    def __init__(self, files, command, folder):
        self.files, self.command, self.folder = files, command, folder
        self.pair = [files / "left.png", files / "right.png"]

    def file(self, name):
        return self.folder / f"{name}.npy"

    def saved(self, name):
        return np.load(self.file(name))

    def match(self, *options, **same):
        """Matches by the command, with -o disparity.npy and these options, then by the package with the same ones."""
        self.command("match", *self.pair, "-o", self.file("disparity"), "--device", "cpu", "--align-rows", "off", *options)
        return st.match(*map(st.read_image, self.pair), device="cpu", **same)


@pytest.fixture
def both(files, command, tmp_path):
    return Both(files, command, tmp_path)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_gives_the_commands_bits(both, method, same_bits):
    options = ["--method", method, "--disparities", 24, "--validity", both.file("validity")]
    result = both.match(*options, method=method, disparities=24)
    same_bits(result.disparity, both.saved("disparity"))
    same_bits(result.validity, both.saved("validity"))


def test_volumes_are_the_commands(both, same_bits):
    states = ["cost", "optimised"]
    options = [word for state in states for word in ("--save-volume", f"{state}={both.file(state)}")]
    result = both.match("--disparities", 24, *options, disparities=24, want=states)
    assert result.cost.shape == (100, 150, 24)
    same_bits(result.cost, both.saved("cost"))
    same_bits(result.optimised, both.saved("optimised"))


def test_the_range_that_nobody_gives_is_the_commands(both, same_bits):
    same_bits(both.match().disparity, both.saved("disparity"))


def test_depth_is_the_commands(both, tmp_path, same_bits):
    rig = st.Rig(focal=200, baseline=0.1, cx_left=75, cx_right=73, cy=50, unit="m", size=(150, 100))
    rig.write(tmp_path / "rig.yml")
    options = ["--disparities", 24, "--depth", both.file("depth"), "--calib", tmp_path / "rig.yml"]
    result = both.match(*options, disparities=24, rig=st.Rig.read(tmp_path / "rig.yml"), want=["depth", "points"])
    same_bits(result.depth, both.saved("depth"))
    assert result.points.shape == (100, 150, 3)
    same_bits(result.points[..., 2], result.depth)


def test_a_pipeline_goes_from_the_command_to_python_and_back(command, tmp_path):
    text = command("methods", "zncc", "--json")
    pipeline = st.Pipeline.from_json(text)
    assert pipeline == st.Pipeline("zncc")
    assert pipeline.to_json().strip() == text.strip()
    (tmp_path / "p.json").write_text(text)
    assert st.Pipeline.read(tmp_path / "p.json") == pipeline
