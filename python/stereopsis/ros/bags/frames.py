"""The pairs of a bag as files, for whoever reads folders."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..._errors import CallError
from ..images import Array
from .recording import Recording, say


def write_frames(recording: Recording, folder: Path) -> int:
    """FOLDER/left/000000.pgm, FOLDER/right/000000.pgm, … (.ppm in colour, .npy of floats), and the cameras as FOLDER/rig.yml.

    Raw pairs stay as they are; rig.yml is then for --raw. Returns how many pairs there are.
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
    """The ending is that of what holds it without loss."""
    if image.dtype == np.float32:
        np.save(stem.with_suffix(".npy"), image)
        return
    letter, ending = ("P5", ".pgm") if image.ndim == 2 else ("P6", ".ppm")
    height, width = image.shape[:2]
    header = f"{letter} {width} {height} {np.iinfo(image.dtype).max}\n".encode()
    stem.with_suffix(ending).write_bytes(header + image.astype(image.dtype.newbyteorder(">")).tobytes())
