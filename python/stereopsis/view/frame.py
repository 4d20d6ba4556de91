"""A pair from a source of the viewer."""

from dataclasses import dataclass
from typing import Any

from .. import _native

Array = Any


@dataclass(frozen=True)
class Frame:
    """A pair as its source returned it, with its properties."""

    left: Array
    right: Array
    name: str
    truth: Array | None = None
    files: tuple[str, str] | None = None  # names that `match` accepts; None if the pair does not come from files
    bit_depth: int = 0  # significant bits of 16-bit images; 0: all
    apart: float | None = None  # seconds between the time stamps of the two images; None if unknown
    rig: _native.Rig | None = None  # the rig, if the source knows its cameras and the pair is rectified
    calibration: _native.Calibration | None = None  # the calibration, if the source knows its cameras and the pair is raw
    masks: tuple[Array | None, Array | None] = (None, None)  # 0 where the file says that a pixel is no data
    seeds: Array | None = None  # disparities that are known beforehand, NaN where unknown
    seed_file: str | None = None
