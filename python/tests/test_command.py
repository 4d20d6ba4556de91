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


@pytest.mark.parametrize("method", METHODS)
def test_every_method_gives_the_commands_bits(files, command, method, tmp_path, same_bits):
    left, right = st.read_image(files / "left.png"), st.read_image(files / "right.png")
    command(
        "match",
        files / "left.png",
        files / "right.png",
        "-o",
        tmp_path / "d.npy",
        "--validity",
        tmp_path / "v.npy",
        "--method",
        method,
        "--disparities",
        24,
        "--device",
        "cpu",
    )
    result = st.match(left, right, disparities=24, method=method, device="cpu")
    same_bits(result.disparity, np.load(tmp_path / "d.npy"))
    same_bits(result.validity, np.load(tmp_path / "v.npy"))


def test_volumes_are_the_commands(files, command, tmp_path, same_bits):
    saved = [word for state in ("cost", "optimised") for word in ("--save-volume", f"{state}={tmp_path / state}.npy")]
    command(
        "match",
        files / "left.png",
        files / "right.png",
        "-o",
        tmp_path / "d.npy",
        "--disparities",
        24,
        "--device",
        "cpu",
        *saved,
    )
    result = st.match(
        st.read_image(files / "left.png"),
        st.read_image(files / "right.png"),
        disparities=24,
        device="cpu",
        want=["cost", "optimised"],
    )
    assert result.cost.shape == (100, 150, 24)
    same_bits(result.cost, np.load(tmp_path / "cost.npy"))
    same_bits(result.optimised, np.load(tmp_path / "optimised.npy"))


def test_the_range_that_nobody_gives_is_the_commands(files, command, tmp_path, same_bits):
    command("match", files / "left.png", files / "right.png", "-o", tmp_path / "d.npy", "--device", "cpu")
    result = st.match(st.read_image(files / "left.png"), st.read_image(files / "right.png"), device="cpu")
    same_bits(result.disparity, np.load(tmp_path / "d.npy"))


def test_depth_is_the_commands(files, command, tmp_path, same_bits):
    rig = st.Rig(focal=200, baseline=0.1, cx_left=75, cx_right=73, cy=50, unit="m", size=(150, 100))
    rig.write(tmp_path / "rig.yml")
    command(
        "match",
        files / "left.png",
        files / "right.png",
        "-o",
        tmp_path / "d.npy",
        "--depth",
        tmp_path / "z.npy",
        "--calib",
        tmp_path / "rig.yml",
        "--disparities",
        24,
        "--device",
        "cpu",
    )
    result = st.match(
        st.read_image(files / "left.png"),
        st.read_image(files / "right.png"),
        disparities=24,
        device="cpu",
        rig=st.Rig.read(tmp_path / "rig.yml"),
        want=["depth", "points"],
    )
    same_bits(result.depth, np.load(tmp_path / "z.npy"))
    assert result.points.shape == (100, 150, 3)
    same_bits(result.points[..., 2], result.depth)


def test_a_pipeline_goes_from_the_command_to_python_and_back(command, tmp_path):
    text = command("methods", "zncc", "--json")
    pipeline = st.Pipeline.from_json(text)
    assert pipeline == st.Pipeline("zncc")
    assert pipeline.to_json().strip() == text.strip()
    (tmp_path / "p.json").write_text(text)
    assert st.Pipeline.read(tmp_path / "p.json") == pipeline
