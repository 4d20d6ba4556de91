"""Disparities that are known beforehand, from the messages of a topic."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np

from .._native import Rig, disparity_of_depth
from .images import Array, array_of

MILLIMETRES = np.uint16  # the type of depth images that are not in metres (REP 118)


class SeedMessages:
    """The messages of a topic of seeds, by stamp: Image or DisparityImage with disparities, or Image with depth.

    tolerance   largest difference of the stamps of a left image and its seeds, in nanoseconds
    depth       number of messages that are kept
    awaited     True if the first pair waits for its seeds, too
    """

    def __init__(self, is_depth: bool, tolerance: int, depth: int, awaited: bool) -> None:
        self._is_depth, self._tolerance, self._depth, self._awaited = is_depth, tolerance, depth, awaited
        self._by_stamp: OrderedDict[int, Any] = OrderedDict()

    def add(self, stamp: int, message: Any) -> None:
        self._by_stamp[stamp] = message
        if len(self._by_stamp) > self._depth:
            self._by_stamp.popitem(last=False)

    def may_come(self, stamp: int) -> bool:
        """Returns whether the seeds of an image may still arrive: there are none of its time or a later one."""
        return max(self._by_stamp) < stamp - self._tolerance if self._by_stamp else self._awaited

    def of(self, stamp: int, rig: Rig | None) -> Array | None:
        """Returns the disparities that belong to the image with this stamp, (h, w) float32, NaN where unknown; None if there are none, or if they
        are depths and there is no rig. Raises FormatError if the message contradicts itself.
        """
        near = min(self._by_stamp, key=lambda other: abs(other - stamp), default=None)
        if near is None or abs(near - stamp) > self._tolerance or (self._is_depth and rig is None):
            return None
        message = self._by_stamp[near]
        if hasattr(message, "min_disparity"):
            return _of_disparity_image(message, 0.0 if rig is None else _shift(rig))
        image = array_of(message)
        if self._is_depth and rig is not None:
            return _of_depth(image, rig)
        disparity = np.array(image, np.float32)
        disparity[~np.isfinite(disparity)] = np.nan
        return disparity


def _of_disparity_image(message: Any, shift: float) -> Array:
    """Returns the disparities of a DisparityImage, of which the difference of the principal points is no part."""
    disparity = np.array(array_of(message.image), np.float32)
    disparity[~(disparity >= message.min_disparity)] = np.nan
    return disparity + np.float32(shift)


def _of_depth(depth: Array, rig: Rig) -> Array:
    """Returns the disparities of a depth image: metres, or millimetres if it has whole numbers. NaN, infinite and 0 are unknown."""
    return disparity_of_depth(depth.astype(np.float32) * np.float32(1e-3 if depth.dtype == MILLIMETRES else 1.0), rig)


def _shift(rig: Rig) -> float:
    """Returns the disparity of points at infinity."""
    return rig.disparity(1.0) - rig.focal * rig.baseline
