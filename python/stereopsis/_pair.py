"""Checks pairs that are matched, and warns about those that seem wrong."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from . import validity
from ._errors import PairWarning
from ._native import PairReport
from ._result import Result

LITTLE = 0.5  # share of the measurable pixels; a pair is checked if fewer are measured
MUCH_LESS = 0.8  # and less than this share of any pair that was found sound
SAMPLE_STEP = 32  # of a sequence, every so many pairs are checked whatever was measured
MOST_UNSOUND = 9  # pairs with a fault, after which no more are checked
PACKAGE = str(Path(__file__).parent)
TURNS = {"half": "is turned by 180°", "rows_reversed": "has its rows in reverse order", "mirrored": "is mirrored"}


class Fault(NamedTuple):
    """A fault of a pair. `kind` is a short name; each kind is reported once."""

    kind: str
    sentence: str


class Judge:
    """Decides which pairs of a sequence are checked: the first one, a sample, and those of which little is measured."""

    def __init__(self) -> None:
        self._number = self._unsound = 0
        self._least_sound = 1.0  # smallest share that was measured of a sound pair
        self._kinds: set[str] = set()

    def fault_of(self, result: Result, report: Callable[[], PairReport | None], expects_negative: bool) -> Fault | None:
        """Returns the fault of the next pair; None if it is not checked, fits, or is too small to be judged. With
        `expects_negative`, negative disparities are no fault.
        """
        number, self._number = self._number, self._number + 1
        share = measured_share(result)
        is_little = share < LITTLE and share < MUCH_LESS * self._least_sound
        if self._unsound >= MOST_UNSOUND or not (is_little or number % SAMPLE_STEP == 0):
            return None
        found = report()
        fault = None if found is None else fault_of(found, expects_negative)
        if fault is None:
            self._least_sound = min(self._least_sound, share)
        else:
            self._unsound += 1
        return fault

    def is_new(self, fault: Fault) -> bool:
        """Returns whether the fault is the first of its kind, and remembers it."""
        new = fault.kind not in self._kinds
        self._kinds.add(fault.kind)
        return new


def measured_share(result: Result) -> float:
    """Returns the share of the pixels inside the region and the masks that are measured; 1 if there are none."""
    usable = np.count_nonzero((result.validity & (validity.outside | validity.masked)) == 0)
    return float(np.count_nonzero(result.validity == 0) / usable) if usable else 1.0


def fault_of(report: PairReport, expects_negative: bool) -> Fault | None:
    if report.same_image:
        return Fault("same picture", "left and right are the same image, so every disparity is 0; pass the images of both cameras")
    if report.same_view:
        return Fault("same picture", "left and right seem to show the same picture, because nearly all disparities are 0; pass the images of both cameras")
    if report.turn != "none":
        return Fault("turned", f"one of the images {TURNS[report.turn]}; turn it back")
    if report.vertical:
        upper = "right" if report.swapped else "left"
        return Fault(
            "vertical",
            f"one camera seems to be above the other, because points differ in their rows and not in their columns; transpose both images, "
            f"and pass the {upper} one as left",
        )
    if report.unrelated:
        return Fault("not one scene", "no point of left was found in right; check that both images show one scene at one time")
    if report.matches > 0 and not report.rectified:
        return Fault(
            "rows differ",
            f"rows of left and right differ by {report.median_dy:.1f} pixels (median; at most 1 is usual); "
            "rectify the images, or give calibration= of the cameras",
        )
    if report.swapped and not expects_negative:
        return Fault(
            "negative disparities",
            "left and right seem to be swapped, or the cameras converge, because nearly all disparities are negative; pass the image of "
            "the left camera as left, or a negative range as disparities= where the cameras converge",
        )
    return None


def warn(sentence: str, category: type[Warning] = PairWarning) -> None:
    """Warns at the first caller outside of this package."""
    level = 2
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
        level += 1
    warnings.warn(sentence, category, stacklevel=level)
