"""Writes the pairs of a bag as image files, for programs that read folders."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ... import _native
from ..._errors import CallError
from ..images import Array
from .recording import Recording, say


def write_frames(recording: Recording, folder: Path) -> int:
    """Writes FOLDER/left/000000.pgm, FOLDER/right/000000.pgm, … (.ppm for colour, .npy for floats), and the cameras to
    FOLDER/rig.yml.

    Raw pairs are not rectified; pass rig.yml with `--calib rig.yml --raw` to rectify them. Returns the number of pairs.
    """
    if folder.exists() and any(folder.iterdir()):
        raise CallError(f"'{folder}' is not empty; give another folder")
    for side in ("left", "right"):
        (folder / side).mkdir(parents=True, exist_ok=True)
    count, cameras = 0, None
    for pair in recording:
        for side, image in (("left", pair.left), ("right", pair.right)):
            write_picture(folder / side / f"{count:06d}", image)
        cameras = cameras or pair.cameras
        count += 1
    if cameras is not None:
        (cameras.rig if cameras.calibration is None else cameras.calibration).write(folder / "rig.yml")
    say(f"{count} pairs{'' if cameras is None else ', and the cameras in rig.yml'}")
    return count


def write_picture(stem: Path, image: Array) -> None:
    """Writes an image in a format that stores it without loss, whose suffix is appended to the name."""
    suffix = ".npy" if image.dtype == np.float32 else ".pgm" if image.ndim == 2 else ".ppm"
    _native.write_image(stem.with_suffix(suffix), np.ascontiguousarray(image, image.dtype.newbyteorder("=")))
