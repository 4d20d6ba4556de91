"""The search for settings: its proxies, its space, and the command with what it writes and continues."""

import json
import shutil
import xml.etree.ElementTree

import numpy as np
import pytest

import stereopsis as st
from stereopsis.__main__ import main
from stereopsis.tune import proxies, space

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
    suggestions = space.as_suggested(st.Pipeline("balanced"))
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
        ([folder / "left", folder / "right", "--methods", "sgm-learned"], "compares with sgm-learned, which is among --methods"),
    ]:
        tune(*words, "-o", tmp_path, code=2)
        assert sentence in capsys.readouterr().err
