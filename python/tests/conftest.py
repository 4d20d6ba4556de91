import os
import pathlib
import subprocess

import numpy as np
import pytest
import stereopsis as st

ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture(scope="session", autouse=True)
def _cache(tmp_path_factory):
    """Keeps the times that a budget measures out of the user's folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def scene():
    return st.synth("table", width=160, height=120, disparities=32, noise=2)


@pytest.fixture(scope="session")
def command():
    """The command of the build that the module came from: a function of its arguments."""
    program = os.environ.get("STEREOPSIS_COMMAND")
    if not program:
        pytest.skip("STEREOPSIS_COMMAND names no command to compare with; ./dev python sets it")

    def run(*arguments):
        done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
        if "requires OpenCV" in done.stderr:
            pytest.skip(done.stderr.strip())
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture
def same_bits():
    def check(a, b):
        assert a.shape == b.shape and a.dtype == b.dtype
        assert np.array_equal(
            a.view(np.uint8) if a.flags.c_contiguous else np.ascontiguousarray(a).view(np.uint8),
            np.ascontiguousarray(b).view(np.uint8),
        )

    return check
