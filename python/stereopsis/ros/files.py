"""Reads rigs and calibrations from messages with the library's file readers."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from .. import _native
from .._errors import CallError, FormatError
from .._native import Calibration, Rig

T = TypeVar("T")


def rig_of(left: str, right: str) -> Rig:
    """Returns the rig of two cameras from the texts of their camera_info files."""
    return _read_both(left, right, Rig.read)


def calibration_of(left: str, right: str) -> Calibration:
    """Returns the calibration of two cameras whose images are raw."""
    return _read_both(left, right, _native.read_calibration)


def decoded(contents: bytes) -> Any:
    """Returns the image of a JPEG or PNG file, given the file's contents."""
    with tempfile.NamedTemporaryFile(prefix="stereopsis-") as file:
        file.write(contents)
        file.flush()
        return _without_name(file.name, lambda: _native.read_masked_image(file.name)[0])


def mask_of(file: str) -> Any:
    """Returns the mask in an image file; None if no file is given."""
    if not file:
        return None
    mask = _native.read_masked_image(file)[0]
    if mask.ndim != 2 or mask.dtype != np.uint8:
        raise CallError(f"{file} has colours or more than 8 bits; a mask must be grey, with 255 for pixels that are used, and 0 for others")
    return mask


def _read_both(left: str, right: str, read: Callable[[Path, Path], T]) -> T:
    with tempfile.TemporaryDirectory(prefix="stereopsis-") as folder:
        files = Path(folder) / "left", Path(folder) / "right"
        for file, text in zip(files, (left, right), strict=True):
            file.write_text(text)
        return _without_name(f"{folder}/", lambda: read(*files))


def _without_name(name: str, read: Callable[[], T]) -> T:
    """Removes the name of the temporary file from an error message."""
    try:
        return read()
    except FormatError as error:
        raise FormatError(str(error).replace(name, "").lstrip(": ")) from None
