"""./dev bench-compare runs two versions by turns, states ratios and spreads, keeps a history, and fails for a slower method."""

import json
import pathlib
import subprocess
import sys

import pytest

SCRIPT = pathlib.Path(__file__).resolve().parents[1] / "bench_compare.py"
PROGRAM = """#!{python}
import json, pathlib, sys
here = pathlib.Path(__file__).resolve().parent
if sys.argv[1] == "methods":
    print(json.dumps([{{"name": name}} for name in {times}]))
elif sys.argv[1] == "devices":
    print(json.dumps({{"devices": [{{"name": "cpu", "description": "a processor"}}]}}))
else:
    calls = here.parent.parent / "calls.txt"
    with open(calls, "a") as file:
        print("{name}", file=file)
    asked = [sys.argv[i + 1] for i, word in enumerate(sys.argv) if word == "--method"]
    results = [dict(method=m, device="cpu", commit="{name}", median_ms={times}[m]) for m in asked]
    pathlib.Path(sys.argv[sys.argv.index("--json") + 1]).write_text(json.dumps({{"hardware": {{"cpu": "X"}}, "results": results}}))
"""


@pytest.fixture
def compare(tmp_path):
    def made(name, times):
        program = tmp_path / name / "bin/stereopsis"
        program.parent.mkdir(parents=True)
        program.write_text(PROGRAM.format(python=sys.executable, name=name, times=times))
        program.chmod(0o755)
        return program.parent.parent

    def run(old, new, *more):
        call = [sys.executable, SCRIPT, made("old", old), made("new", new), "--rounds", "4", "--results", tmp_path / "results",
                "--work", tmp_path / "work", *more]  # fmt: skip
        return subprocess.run(call, capture_output=True, text=True)

    return run


def test_ratios_history_and_picture(compare, tmp_path):
    done = compare({"sgm": 10.0, "zncc": 4.0, "gone": 1.0}, {"sgm": 10.2, "zncc": 2.0, "born": 1.0})
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "calls.txt").read_text().split() == ["old", "new", "new", "old"] * 2
    (entry,) = json.loads((tmp_path / "results/measured/speed.json").read_text())
    assert (entry["old"], entry["new"], entry["devices"]) == ("old", "new", {"cpu": "a processor"})
    assert {name: m["ratio"] for name, m in entry["methods"]["cpu"].items()} == {"sgm": 1.02, "zncc": 0.5}
    picture = (tmp_path / "results/images/speed.svg").read_text()
    assert "zncc" in picture and "0.500" in picture and "born" not in picture


@pytest.mark.parametrize("exempt, code", [([], 1), (["--except", "sgm"], 0)])
def test_a_slower_method_fails_unless_it_is_exempt(compare, exempt, code):
    done = compare({"sgm": 10.0}, {"sgm": 10.5}, *exempt)
    assert done.returncode == code
    assert ("sgm on cpu takes 5.0 % more time" in done.stdout) == bool(code)


def test_what_is_neither_a_commit_nor_a_build_is_refused(tmp_path):
    done = subprocess.run([sys.executable, SCRIPT, tmp_path, "HEAD", "--work", tmp_path], capture_output=True, text=True)
    assert done.returncode == 1 and "neither a commit of this repository nor a folder" in done.stderr
