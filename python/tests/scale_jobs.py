"""Jobs of small pairs, for the tests of stereopsis.scale."""

import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import stereopsis as st
from stereopsis import scale
from stereopsis.scale.work import run_unit

rasterio = None
try:
    import rasterio
except ModuleNotFoundError:
    pass


def write_image(path, array, driver="GTiff", **how):
    """(h, w) or (h, w, 3)."""
    bands = array[None] if array.ndim == 2 else array.transpose(2, 0, 1)
    count, height, width = bands.shape
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with rasterio.open(path, "w", driver=driver, width=width, height=height, count=count, dtype=array.dtype, **how) as made:
            made.write(bands)
    return str(path)


def read_image(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with rasterio.open(path) as file:
            return file.read(1)


def pair_files(folder, scene, **how):
    return write_image(folder / "left.tif", scene.left, **how), write_image(folder / "right.tif", scene.right, **how)


def planned(folder, pair, pipeline, disparities, **settings):
    settings = scale.Settings(pairs=[pair], pipeline=pipeline, disparities=disparities, device="cpu", **settings)
    return scale.plan(folder / "job", settings)


def merged(job):
    """Disparity and validity."""
    path = job.folder / "merged.tif"
    files = scale.merge(job, path)
    return tuple(read_image(file) for file in files)


def assert_same(maps, result):
    """NaN are alike, whatever their bits."""
    np.testing.assert_array_equal(maps[1], result.validity)
    np.testing.assert_array_equal(np.isnan(maps[0]), np.isnan(result.disparity))
    np.testing.assert_array_equal(np.nan_to_num(maps[0]).view(np.uint32), np.nan_to_num(result.disparity).view(np.uint32))


def start(*words, **how):
    """The command, in a session of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "stereopsis", "scale", *map(str, words)], start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **how,
    )  # fmt: skip


def run(*words, expected=0, **how):
    process = start(*words, **how)
    out, err = process.communicate(timeout=120)
    assert process.returncode == expected, f"{process.returncode}: {out}{err}"
    return out + err


def kill(process):
    """Kills a process with all that it has started."""
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def made_at(job):
    """Returns the time when each unit's sidecar was written."""
    return {unit.name: Path(job.store.sidecar(unit.name)).stat().st_mtime_ns for unit in job.units if job.store.about(unit.name)}


def unit_on_lost_device(folder, number, device, threads):
    """Computes a unit, unless the device is `auto`, which is lost. The other device waits for that, or it might compute all units first."""
    lost = Path(folder).with_name("lost")
    if device == "auto":
        lost.touch()
        raise st.DeviceError("the device of a test was lost")
    end = time.monotonic() + 30
    while not lost.exists() and time.monotonic() < end:
        time.sleep(0.01)
    return run_unit(folder, number, device, threads)


def unit_without_device(folder, number, device, threads):
    raise st.DeviceError(f"the device {device} was lost")


def synthetic(width, height, disparities, seed=1):
    return st.synth("table", width=width, height=height, disparities=disparities, noise=2, seed=seed)
