"""The search for settings: its proxies, its space, and the command with what it writes and continues."""

import importlib
import json
import shlex
import shutil
import subprocess
import sys
import xml.etree.ElementTree

import numpy as np
import pytest

import stereopsis as st
from stereopsis.__main__ import main
from stereopsis.tune import proxies, report, search, space

pytest.importorskip("optuna", reason="optuna searches")
D = 16


@pytest.fixture(scope="module")
def scene():
    return st.synth("table", width=120, height=90, disparities=D, seed=5, noise=2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Four scenes in the layout of a dataset, and the same pairs as two folders of images."""
    made = tmp_path_factory.mktemp("tune")
    for view in ("left", "right"):
        (made / view).mkdir()
    for number in range(4):
        scene = st.synth("table", width=120, height=90, disparities=D, seed=number, noise=4)
        one = made / "scenes" / f"table{number}"
        one.mkdir(parents=True)
        for view in ("left", "right"):
            png = st.Picture(getattr(scene, view)).png
            (one / f"{view}.png").write_bytes(png)
            (made / view / f"{number}.png").write_bytes(png)
        st.write_pfm(one / "truth.pfm", scene.disparity)
        (one / "dataset.json").write_text(json.dumps({"left": "left.png", "right": "right.png", "gt": "truth.pfm", "ndisp": D}))
    return made


def tune(*words, code=0):
    assert main(["tune", *map(str, words)]) == code


# Proxies


@pytest.mark.parametrize("name", ["views", "photometric", "reference", "mean"])
def test_proxies_prefer_the_truth(scene, name):
    pair = proxies.Pair(scene.left, scene.right, (0, D), scene.disparity)

    def scored(shift):
        def match(left, right):
            first = left is scene.left
            return (scene.disparity if first else scene.disparity_right[:, ::-1]) + np.float32(shift)

        return proxies.score(name, pair, match(scene.left, scene.right), match)

    assert scored(0) < scored(2) and scored(0) < scored(-2)
    nothing = np.full_like(scene.disparity, np.nan)
    assert proxies.score(name, pair, nothing, lambda left, right: nothing) > scored(0)


def test_a_gain_between_the_cameras_is_no_error(scene):
    pairs = [proxies.Pair(scene.left, (scene.right * gain).astype(np.uint8), (0, D)) for gain in (1, 0.7)]
    plain, darker = (proxies.photometric(pair, scene.disparity, None) for pair in pairs)
    assert darker < 1.15 * plain


# Space


class Lowest:
    """Suggests the lowest or the first value, and notes the names."""

    def __init__(self):
        self.names = []

    def suggest_categorical(self, name, choices):
        self.names.append(name)
        return choices[0]

    def suggest_int(self, name, low, high, *, step=1):
        assert low < high and (high - low) % step == 0
        self.names.append(name)
        return low

    def suggest_float(self, name, low, high):
        assert low < high
        self.names.append(name)
        return low


@pytest.mark.parametrize("method", [method.name for method in st.methods()])
def test_every_method_can_be_searched(method):
    trial = Lowest()
    pipeline = space.sampled(trial, [method])
    assert pipeline.method == method and len(trial.names) > 3
    off = {name.rpartition(".")[0] for name in trial.names if name.endswith(".enabled")}  # the first choice of a flag is False
    assert not [name for name in trial.names if name.rpartition(".")[0] in off and not name.endswith(".enabled")]


def test_defaults_are_suggestions():
    suggestions = space.as_suggested("sgm", st.Pipeline("balanced"))
    assert suggestions["method"] == "sgm" and suggestions["sgm:vote_fill.enabled"] is True


# The command


def test_a_search_with_truth_ends_with_a_pipeline_and_is_continued(folder, tmp_path, capsys):
    call = ["--dataset", folder / "scenes", "-o", tmp_path, "--device", "cpu", "--threads", 1, "--quiet"]
    tune(*call, "--trials", 4)
    first = capsys.readouterr().out
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["trials"]["finished"] == 4 and report["score"] == "bad1.0"
    assert report["pairs"] == {"searched": [f"scenes/table{k}" for k in (0, 1, 3)], "held_out": ["scenes/table2"]}
    assert "held-out pairs" in first and first.count("searched") >= 3
    tuned = st.Pipeline.read(tmp_path / "pipeline.json")
    again = st.evaluate_dataset(folder / "scenes", pipeline=tuned, device="cpu", repeat=0)
    wanted = {one["name"]: one["measures"]["all"]["bad1.0"] for one in again["scenes"]}
    searched = report["scores"]["searched"]["tuned"]
    assert searched == pytest.approx([wanted[f"table{k}"] for k in (0, 1, 3)])
    assert np.mean(searched) <= np.mean(report["scores"]["searched"]["default"])  # the default was tried, too
    xml.etree.ElementTree.fromstring((tmp_path / "accuracy-time.svg").read_text())
    assert f"--pipeline {tmp_path}/pipeline.json" in first

    tune(*call, "--trials", 6)
    assert json.loads((tmp_path / "report.json").read_text())["trials"]["finished"] == 6
    tune(*call, "--trials", 6, "--limit", 9, code=2)
    assert "has the trials of another search" in capsys.readouterr().err


def test_a_search_goes_on_after_it_was_killed(folder, tmp_path):
    """A process that is killed leaves half a line and, with optuna's own lock, a link to a file that does not exist."""
    call = ["--dataset", folder / "scenes", "-o", tmp_path, "--device", "cpu", "--threads", 1, "--quiet"]
    tune(*call, "--trials", 1)
    with (tmp_path / "trials.log").open("a") as log:
        log.write('{"op_code": 4, "wor')
    (tmp_path / "trials.log.lock").symlink_to("no/such/file")
    tune(*call, "--trials", 2)
    assert json.loads((tmp_path / "report.json").read_text())["trials"]["finished"] == 2


@pytest.mark.parametrize("line", ["garbage\n", "[1, 2]\n", '{"other": 3}\n', "\x00\x01\n"])
def test_a_damaged_log_is_named(folder, tmp_path, capsys, line):
    call = ["--dataset", folder / "scenes", "-o", tmp_path, "--trials", 1, "--device", "cpu", "--threads", 1, "--quiet"]
    (tmp_path / "trials.log").write_text(line)
    tune(*call, code=1)
    assert "trials.log is damaged or was written by another program" in capsys.readouterr().err


def test_scenes_of_one_name_are_kept_apart(folder, tmp_path, capsys):
    """`stereopsis synth` names every scene after its kind."""
    shutil.copytree(folder / "scenes", tmp_path / "scenes")
    for about in (tmp_path / "scenes").glob("*/dataset.json"):
        about.write_text(json.dumps({**json.loads(about.read_text()), "name": "table", "dataset": "synth"}))
    tune("--dataset", tmp_path / "scenes", "-o", tmp_path / "tuned", "--trials", 2, "--device", "cpu", "--threads", 1, "--quiet")
    names = {part: [f"synth/table (table{k})" for k in numbers] for part, numbers in (("searched", (0, 1, 3)), ("held_out", (2,)))}
    assert json.loads((tmp_path / "tuned/report.json").read_text())["pairs"] == names
    assert "Mean of the 1 held-out pairs" in capsys.readouterr().out


def test_pairs_without_truth_are_scored_by_a_proxy(folder, tmp_path, capsys):
    pairs = [folder / "left", folder / "right"]
    tune(*pairs, "-o", tmp_path, "--trials", 3, "--pairs", 2, "--disparities", D, "--device", "cpu", "--threads", 1, "--quiet")
    said = capsys.readouterr().out
    assert "too few pairs to hold out a part (2; 3 are needed)" in said and "ranks settings only roughly" in said
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["score"] == "reference" and report["scores"]["held_out"]["tuned"] == []
    assert report["tuned"]["method"] == "sgm"


def program(tmp_path):
    """A program as a method, which returns the disparities of `fast`."""
    code = "import stereopsis as st, sys\nleft, right = map(st.read_image, sys.argv[1:3])\n"
    code += "st.write_pfm(sys.argv[3], st.match(left, right, int(sys.argv[4]), 'fast', device='cpu').disparity)\n"
    (tmp_path / "program.py").write_text(code)
    return f"program:{sys.executable} {tmp_path}/program.py {{left}} {{right}} {{out}} {{disparities}}"


def last_command(said, tmp_path):
    """Runs the command that a search prints last, in a folder of its own."""
    words = shlex.split(said.splitlines()[-1])
    assert words[:2] == ["stereopsis", "match"]
    here = tmp_path / "there"
    here.mkdir()
    done = subprocess.run([sys.executable, "-m", "stereopsis", *words[1:], "--device", "cpu"], cwd=here, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return here


def test_networks_programs_and_pipelines_are_searched(folder, tmp_path, capsys):
    pytest.importorskip("onnxruntime", reason="onnxruntime runs networks")
    pair_network = importlib.import_module("onnx_files").pair_network
    pair_network(tmp_path / "net.onnx", D)
    call = ["--dataset", folder / "scenes", "-o", tmp_path / "tuned", "--device", "cpu", "--threads", 1, "--quiet"]
    names = [f"onnx:{tmp_path}/net.onnx", program(tmp_path)]
    st_pipeline = tmp_path / "mine.json"
    st_pipeline.write_text(st.Pipeline("sgm").set("optimisation.p1", 9).to_json())
    tune(*call, "--methods", f"{names[0]},{st_pipeline}", "--methods", names[1], "--trials", 4)
    assert json.loads((tmp_path / "tuned/report.json").read_text())["trials"]["finished"] == 4
    last_command(capsys.readouterr().out, tmp_path)
    log = (tmp_path / "tuned/trials.log").read_text()
    assert all(json.dumps(name)[1:-1].replace('"', '') in log.replace("\\", "") for name in [*names, str(st_pipeline)])


def test_the_command_of_a_tuned_program_runs_it(folder, tmp_path, capsys):
    tune("--dataset", folder / "scenes", "-o", tmp_path / "tuned", "--methods", program(tmp_path), "--trials", 2, "--device", "cpu", "--quiet")
    assert not (tmp_path / "tuned/pipeline.json").exists()  # a pipeline file must not run programs
    assert (last_command(capsys.readouterr().out, tmp_path) / "disparity.pfm").exists()


@pytest.mark.parametrize("source", [("left", "right"), ("left/1.png", "right/1.png"), ("left/*.png", "right/*.png"), (".",)])
def test_the_command_of_a_search_runs(folder, tmp_path, capsys, source):
    given = [folder / one for one in source]
    tune(*given, "-o", tmp_path / "tuned", "--trials", 1, "--pairs", 1, "--disparities", D, "--device", "cpu", "--quiet")
    here = last_command(capsys.readouterr().out, tmp_path)
    assert list(here.glob("**/*.pfm"))


def test_opencv_is_scored_beside_the_result(folder, tmp_path, capsys):
    pytest.importorskip("cv2", reason="OpenCV's Python module is not installed")
    call = ["--dataset", folder / "scenes", "-o", tmp_path, "--trials", 1, "--device", "cpu", "--quiet"]
    tune(*call, "--methods", "sgm,opencv:3WAY")
    beside = json.loads((tmp_path / "report.json").read_text())["beside"]
    found = st.compare(folder / "scenes", ["opencv:3WAY"], repeat=1)[0]
    assert beside[0]["score"] == pytest.approx(np.mean([one["measures"]["all"]["bad1.0"] for one in found["scenes"]]))
    assert "OpenCV StereoSGBM 3WAY: mean of all pairs" in capsys.readouterr().out
    tune(*call, "--methods", "opencv", code=2)
    assert "has no parameters to search" in capsys.readouterr().err


def test_a_limit_that_the_last_run_exceeds_is_said(folder, tmp_path, capsys, monkeypatch):
    """Trials kept the limit, and the machine was slower when the result was measured."""
    monkeypatch.setattr("stereopsis.tune.search.TOLERANCE", 1e9)
    measured = search.scored
    monkeypatch.setattr(report, "scored", lambda *given: slower(measured(*given)))

    def slower(found):
        return search.Scored(found.scores, [1e4 * ms for ms in found.ms])

    tune("--dataset", folder / "scenes", "-o", tmp_path, "--trials", 1, "--limit", 1000, "--device", "cpu", "--quiet")
    assert "took longer than --limit 1000 on 4 of 4 pairs (its median is" in capsys.readouterr().out
    assert json.loads((tmp_path / "report.json").read_text())["ms"]["pairs_beyond_limit"] == 4


def test_a_limit_that_no_setting_keeps_is_said(folder, tmp_path, capsys):
    tune("--dataset", folder / "scenes", "-o", tmp_path, "--trials", 2, "--limit", 0.001, "--device", "cpu", "--quiet", code=1)
    assert "no setting was found within 0.001 ms per pair in 2 trials" in capsys.readouterr().err


def test_wrong_calls_are_named(folder, tmp_path, capsys):
    for words, sentence in [
        ([], "requires either pairs"),
        (["--dataset", tmp_path / "no"], "is not a folder that exists"),
        (["--dataset", folder / "scenes", "--trials", 0], "--trials 0 is not allowed"),
        (["--dataset", folder / "scenes", "--methods", "sgn"], "there is no method 'sgn'"),
        (["--dataset", folder / "scenes", "--disparities", 3], "--disparities applies to pairs"),
        ([folder / "left", folder / "right", "--methods", "sgm,opencv"], "--methods opencv is scored by ground truth"),
        ([folder / "left", folder / "right", "--methods", "sgm-learned"], "compares with sgm-learned, which is among --methods"),
    ]:
        tune(*words, "-o", tmp_path, code=2)
        assert sentence in capsys.readouterr().err
