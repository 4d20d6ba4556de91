"""The page about wrong results names options, and the command has each of them."""

import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = os.environ.get("STEREOPSIS_COMMAND", str(ROOT / "build/release/bin/stereopsis"))
PAGE = (ROOT / "docs/how-to/wrong-results.md").read_text()


def answer(*call):
    return subprocess.run([COMMAND, *call], capture_output=True, text=True, check=True).stdout


def test_every_option_of_the_page_exists():
    known = set(re.findall(r"--[a-z][\w-]*", "".join(answer("help", name) for name in ("match", "check", "evaluate", "calibrate"))))
    named = set(re.findall(r"(?<![\w-])--[a-z][\w-]*", PAGE))
    assert named and not named - known


def test_every_parameter_of_the_page_exists():
    named = re.findall(r"--method (\S+) --set (\w+\.\w+)=|--set (\w+\.\w+)=", PAGE)
    assert named
    for method, of_method, of_default in named:
        prefix, name = (of_method or of_default).split(".")
        if name == "stage":  # the command looks for the images once it knows the stage
            call = [COMMAND, "match", "none.png", "none.png", "-o", "none.pfm", "--set", f"{prefix}.stage=none"]
            assert "none.png" in subprocess.run(call, capture_output=True, text=True).stderr
            continue
        listed = answer("methods", method or "sgm")
        assert re.search(rf"\b\w+\.{name}\b", listed), (prefix, name)


def test_repeated_patterns_have_options():
    section = re.search(r"^## Repeated patterns$(.*?)^## ", PAGE, re.MULTILINE | re.DOTALL)
    assert section and {"--near", "--far", "--disparities", "--mask-left"} <= set(re.findall(r"--[\w-]+", section[1]))


def test_contributing_builds_the_tests_that_it_runs():
    lines = (ROOT / "CONTRIBUTING.md").read_text().splitlines()
    run = [line for line in lines if "ctest" in line and "-R stages." in line]
    assert run and all("stages_test" in line.split("ctest")[0] for line in run)
