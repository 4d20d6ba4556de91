"""Matching on a GPU as far as it can be checked without one: order, memory, and who keeps what."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

SCRIPT = pathlib.Path(__file__).parent / "on_fake_gpu.py"
DRIVER = os.environ.get("STEREOPSIS_FAKE_CUDA", "")


@pytest.mark.parametrize("check", re.findall(r"^def check_(\w+)", SCRIPT.read_text(), re.MULTILINE))
def test_on_a_driver_for_tests(check):
    if not pathlib.Path(DRIVER, "libcuda.so.1").exists():
        pytest.skip("STEREOPSIS_FAKE_CUDA names no folder with the driver for tests; ./dev python does where nvcc is")
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "check_" + check],
        env={**os.environ, "LD_LIBRARY_PATH": DRIVER},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
