"""Checks pairs of images, and warns about pairs that seem wrong."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from . import validity
from ._errors import PairWarning
from ._native import Pair, PairFault, PairJudge, Rectification
from ._result import Result

PACKAGE = str(Path(__file__).parent)
ADVICE = {
    "same picture": "pass the images of both cameras",
    "turned": "turn it back",
    "not one scene": "check that both images show one scene at one time",
    "rows differ": "rectify the images, or give calibration= of the cameras, which st.refine_calibration() corrects",
    "negative disparities": "pass the image of the left camera as left, or a negative range as disparities= where the cameras converge",
    "a shared pattern": "subtract the pattern from both images, such as the mean of many frames, or mask it with mask_left= and mask_right=",
    "rows not aligned": 'pass align_rows="auto", so that they are aligned',
    "a frame late": "find the frame that is missing or repeated, and pass images of one time",
}
# The advice of the commands and the nodes, where it differs.
COMMAND_ADVICE = {
    "rows differ": "rectify the images, or correct the calibration of the cameras with `stereopsis calibrate --from-scenes`",
    "negative disparities": "exchange the left and the right images, or search negative disparities where the cameras converge",
    "a shared pattern": "subtract the pattern from both images, such as the mean of many frames, or mask it",
    "rows not aligned": "let align_rows (--align-rows) be auto, so that they are aligned",
}


class Fault(NamedTuple):
    """A fault of a pair. `kind` is a short name; each kind is reported once. `what` is wrong, and `advice` is what callers in Python can do."""

    kind: str
    what: str
    advice: str

    @property
    def sentence(self) -> str:
        return f"{self.what}; {self.advice}"

    def said_with(self, advice: Mapping[str, str]) -> str:
        """Returns the sentence of a front end that has advice of its own for some kinds."""
        return f"{self.what}; {advice.get(self.kind, self.advice)}"


class Judge:
    """Decides which pairs of a sequence are checked: the first pair, a sample, and pairs with few measured pixels."""

    def __init__(self) -> None:
        self._judge, self._number, self._new = PairJudge(), 0, False

    def __reduce__(self) -> tuple[type[Judge], tuple[()]]:
        return Judge, ()  # a copy judges pairs of its own

    def fault_of(
        self,
        result: Result,
        pair: Callable[[], Pair],
        before: Callable[[], Pair | None],
        rectification: Rectification | None,
        expects_negative: bool,
    ) -> Fault | None:
        """Returns the fault of the next pair; None if it is not checked, fits, or is too small to be judged. `before` returns the
        pair before it, if that is known. With `expects_negative`, negative disparities are no fault.
        """
        number, self._number = self._number, self._number + 1
        share = measured_share(result)
        if not self._judge.checks(number, share):
            self._judge.record_sound(share)
            return None
        fault = pair().fault(before(), rectification, expects_negative)
        if fault is None:
            self._judge.record_sound(share)
            return None
        self._new = self._judge.record(fault, number)
        return Fault(fault.kind, fault.sentence, advice(fault, rectification is not None))

    @property
    def is_new(self) -> bool:
        """True if the last fault is the first of its kind."""
        return self._new


def measured_share(result: Result) -> float:
    """Returns the share of measured pixels among the pixels inside the region and the masks; 1 if there are no such pixels."""
    usable = np.count_nonzero((result.validity & (validity.outside | validity.masked)) == 0)
    return float(np.count_nonzero(result.validity == 0) / usable) if usable else 1.0


def advice(fault: PairFault, is_rectified: bool) -> str:
    if is_rectified and fault.kind in ("rows differ", "turned", "vertical", "not one scene"):
        return (
            "the images were rectified with the calibration: check that it is that of these cameras, left and right in this order, and"
            " that its rotation is not transposed, as MATLAB stores it; correct it with st.refine_calibration() if a camera has moved"
        )
    if fault.kind == "vertical":
        return f"transpose both images, and pass the {'right' if fault.swapped else 'left'} one as left"
    return ADVICE[fault.kind]


def warn_of_scale(pair: Pair, left: Any) -> None:
    """Warns if the float images of a pair are not in 8-bit units. It is called when a matcher plans, because reading values of an array on a
    GPU waits for the GPU, as planning does.
    """
    limits = pair.float_limits()
    if pair.kind[2] and pair.kind[0][3] == "float32" and hasattr(left, "max"):
        row = left[pair.kind[0][0] // 2]
        limits = float(row.min()), float(row.max())
    low, high = limits or (0.0, 255.0)
    if low < high and (high <= 1 or (low < 0 and high <= 3)):  # 3: of images that were normalised to a deviation of 1
        remedy = "undo the normalisation of both images" if low < 0 else "multiply both images by 255 (left * 255)"
        warn(f"left has float32 values from {low:.3g} to {high:.3g}, and float images are expected to have values from 0 to 255; {remedy}")


def warn(sentence: str, category: type[Warning] = PairWarning) -> None:
    """Issues the warning for the first caller outside of this package."""
    level = 2
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
        level += 1
    warnings.warn(sentence, category, stacklevel=level)
