"""No result replaces an input or another result, in any command that writes files."""

import importlib
import json
import os
import subprocess
import sys

import pytest

import stereopsis as st
from stereopsis.__main__ import main

D = 16


def network(file):
    try:
        importlib.import_module("onnx_files").pair_network(file, D)
    except ModuleNotFoundError:  # without onnx, the call ends at the file that is no network
        file.write_text("{}")


@pytest.fixture
def scene(tmp_path, monkeypatch):
    """A scene, a pipeline file and a network with its description, in the present folder."""
    made = st.synth("table", width=96, height=64, disparities=D, seed=3)
    folder = tmp_path / "scene"
    folder.mkdir()
    for view in ("left", "right"):
        (folder / f"{view}.png").write_bytes(st.Picture(getattr(made, view)).png)
    st.write_pfm(folder / "truth.pfm", made.disparity)
    st.write_image(folder / "mask.png", made.nonocc)
    (folder / "dataset.json").write_text(json.dumps({"left": "left.png", "right": "right.png", "gt": "truth.pfm", "ndisp": D}))
    (tmp_path / "p.json").write_text(st.Pipeline("sgm").to_json())
    os.link(tmp_path / "p.json", tmp_path / "hard.json")
    (tmp_path / "link.json").symlink_to("p.json")
    (tmp_path / "net.json").write_text("{}")
    network(tmp_path / "net.pfm")
    monkeypatch.chdir(tmp_path)
    return tmp_path


PAIR = ["scene/left.png", "scene/right.png", "--disparities", D]
CALLS = [
    ["match", *PAIR, "--method", "onnx:net.pfm", "-o", "net.pfm"],
    ["match", *PAIR, "--method", "onnx:net.pfm", "-o", "d.pfm", "--report", "net.json"],
    ["match", *PAIR, "--pipeline", "p.json", "-o", "d.pfm", "--report", "link.json"],
    ["evaluate", "scene/truth.pfm", "--truth", "scene/truth.pfm", "--mask", "scene/mask.png", "--error-image", "scene/mask.png"],
    ["evaluate", "--dataset", "scene", "--json", "c.json", "--html", "c.json"],
    ["evaluate", "--dataset", "scene", "--method", "p.json", "--json", "hard.json"],
    ["bench", "--dataset", "scene", "--no-peers", "--repeat", 1, "--html", "scene/left.png"],
    ["bench", "--size", "64x48x16", "--no-peers", "--repeat", 1, "--method", "p.json", "--json", "link.json"],
    ["bench", "--size", "64x48x16", "--no-peers", "--repeat", 1, "--method", "onnx:net.pfm", "--json", "net.json"],
]


def contents(folder):
    return {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.mark.parametrize("call", CALLS, ids=lambda call: " ".join(map(str, call[:1] + call[-2:])))
def test_a_result_is_no_input_and_no_other_result(scene, call):
    before = contents(scene)
    done = subprocess.run([sys.executable, "-m", "stereopsis", *map(str, call)], capture_output=True, text=True)
    assert done.returncode in (1, 2) and contents(scene) == before
    assert " is also " in done.stderr or (scene / "net.pfm").read_bytes() == b"{}", done.stderr


def test_a_search_does_not_replace_its_own_pipeline(scene, capsys):
    pytest.importorskip("optuna", reason="optuna searches")
    (scene / "pipeline.json").write_text(st.Pipeline("sgm").to_json())
    before = contents(scene)
    assert main(["tune", "--dataset", "scene", "-o", ".", "--methods", "pipeline.json", "--trials", "1", "--quiet"]) == 2
    assert "pipeline.json is also --methods, which is an input" in capsys.readouterr().err and contents(scene) == before


def test_a_comparison_does_not_replace_its_pipeline(scene):
    before = contents(scene)
    with pytest.raises(st.CallError, match="--html hard.json is also --method, which is an input"):
        st.compare("scene", ["p.json"], html="hard.json", repeat=1)
    assert contents(scene) == before
