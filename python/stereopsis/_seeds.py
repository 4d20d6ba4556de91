"""The seeds of the pairs of a run: those that come with a pair, or those of the frame before."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _native
from ._errors import CallError
from ._result import Result


def outside_of(seeds: Any, disparities: tuple[int, int] | None) -> str:
    """Returns a sentence about the seeds outside the search range, which have no effect; empty if there are none."""
    if disparities is None:
        return ""
    first, end = disparities
    known = np.isfinite(seeds)
    outside = np.count_nonzero(known & ~((seeds >= first) & (seeds <= end - 1)))
    if not outside:
        return ""
    return f"{outside} of {np.count_nonzero(known)} seeds are outside the search range, {first} to {end - 1}, and have no effect; give a wider range"


class Seeds:
    """Finds the seeds of each pair. `previous` makes the disparities of the frame before the seeds, and the rig of `matcher` serves the
    motions of the camera.
    """

    def __init__(self, previous: bool, matcher: Any = None) -> None:
        self.previous, self._rig = previous, getattr(matcher, "_known_rig", None)
        self._before: np.ndarray | None = None

    @staticmethod
    def given(pair: Any) -> dict[str, Any]:
        """Returns the seeds that come with a pair, by their names."""
        return {name: seeds for name in ("seeds", "seed_trust") if (seeds := getattr(pair, name, None)) is not None}

    def of(self, pair: Any, shape: tuple[int, int]) -> dict[str, Any]:
        """Returns the seeds of a pair of this shape: those of the frame before."""
        if self.given(pair):
            raise CallError("a pair has seeds, and seed_previous is set; leave one of them out")
        return {"seeds": self._moved(pair, shape), "seed_trust": np.full(shape, _native.trust_of_frame_before, np.float32)}

    def kept(self, result: Result) -> Result:
        """Returns the result, and keeps what the next pair needs of it."""
        if self.previous:
            self._before = np.array(result.disparity)
        return result

    def _moved(self, pair: Any, shape: tuple[int, int]) -> np.ndarray:
        """Returns the disparities of the frame before as the pair sees them."""
        if self._before is None or self._before.shape != shape:
            return np.full(shape, np.nan, np.float32)
        motion, flow = getattr(pair, "motion", None), getattr(pair, "flow", None)
        if motion is None and flow is None:
            return self._before
        if motion is not None and self._rig is None:
            raise CallError("a pair has a motion, and the run has no rig; make the run with rig or calibration")
        rows = None if motion is None else np.asarray(motion, float).tolist()
        return _native.moved_disparities(self._before, rig=self._rig, motion=rows, flow=flow)
