"""Warns about pairs that seem wrong, if few of their pixels are measured."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from . import _native, validity
from ._errors import CallError, PairWarning
from ._result import Result

LITTLE = 0.5  # share of the measurable pixels; the pair is checked if fewer are measured
PACKAGE = str(Path(__file__).parent)


def measures_little(result: Result) -> bool:
    """Returns whether few of the pixels inside the region and the masks are measured."""
    usable = (result.validity & (validity.outside | validity.masked)) == 0
    return bool(np.count_nonzero(result.validity == 0) < LITTLE * np.count_nonzero(usable))


def complaint_of(left: Any, right: Any, colour: str, bit_depth: int, share: float) -> str | None:
    """Returns the warning for a pair of which `share` is measured, from sparse matches; None if it fits or is too small to judge."""
    try:
        found = _native.check(left, right, colour, bit_depth)
    except CallError:
        return None
    measured = f"{100 * share:.0f} % of the pixels are measured"
    if found.matches == 0:
        return f"{measured}, and no point of left was found in right; check that both images show one scene at one time"
    if not found.rectified:
        return (
            f"{measured}, and rows of left and right differ by {found.median_dy:.1f} pixels (median; at most 1 is usual); "
            "rectify the images, or give calibration= of the cameras"
        )
    if found.swapped:
        return (
            f"{measured}, and left and right seem to be swapped: nearly all disparities are negative; give the image of the "
            "left camera as left, or a negative range as disparities= where the cameras converge"
        )
    return None


def warn(sentence: str) -> None:
    """Warns at the first caller outside of this package."""
    level = 2
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
        level += 1
    warnings.warn(sentence, PairWarning, stacklevel=level)
