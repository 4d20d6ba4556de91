"""Prepares a pair for the method: swaps, rectifies and scales it."""

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _native
from .._native import Calibration, Rectification, Rig, RowEstimate, RowFilter, RowMeasurement
from .._rows import RowSettings, rows_of
from .._tracking import RigTracker
from .frame import Frame
from .settings import Range, Region, Settings

Array = Any


@dataclass(frozen=True)
class Prepared:
    """A prepared pair. `scale` is (x, y): the number of working pixels per full-size pixel. The rectification has aligned the rows of
    `right`, or else the matcher aligns them by `to_align`.
    """

    frame: Frame
    left: Array
    right: Array
    truth: Array | None
    masks: tuple[Array | None, Array | None]  # 0 where a pixel has no source or is no data
    rig: Rig | None
    scale: tuple[float, float]
    full: tuple[int, int]
    rows: RowEstimate | None  # None: the rows stay as they are
    to_align: RowEstimate | None
    seeds: Array | None  # NaN where unknown

    @functools.cached_property
    def aligned_right(self) -> Array:
        """The right image as it is matched."""
        if self.to_align is None or self.to_align.alignment is None:
            return self.right
        return _native.align_rows(self.right, self.to_align.alignment, None, self.frame.bit_depth, None, (0, 0))[0]

    @property
    def size(self) -> tuple[int, int]:
        return self.left.shape[1], self.left.shape[0]

    @property
    def mask_left(self) -> Array | None:
        return self.masks[0]

    @property
    def mask_right(self) -> Array | None:
        return self.masks[1]

    def range_of(self, disparities: Range) -> Range:
        first = math.floor(disparities[0] * self.scale[0])
        return first, max(first + 1, math.ceil(disparities[1] * self.scale[0]))

    def region_of(self, region: Region | None) -> Region | None:
        """Returns the region in working pixels, cropped to the image, or None if no pixel of the region remains."""
        if region is None:
            return None
        x, y, width, height = region
        (sx, sy), (w, h) = self.scale, self.size
        x0, y0 = min(w, math.floor(x * sx)), min(h, math.floor(y * sy))
        x1, y1 = min(w, math.ceil((x + width) * sx)), min(h, math.ceil((y + height) * sy))
        return (x0, y0, x1 - x0, y1 - y0) if x1 > x0 and y1 > y0 else None


def prepare(
    frame: Frame,
    settings: Settings,
    rig: Rig | None,
    calibration: Calibration | None = None,
    sequence: RowFilter | None = None,
    tracker: RigTracker | None = None,
) -> Prepared:
    """Prepares a pair. Cameras of the command line take precedence over those of the frame. The filter of a sequence finds the rows of the
    pair, or else the pair by itself. The tracker follows a rig that moves.
    """
    if rig is None:
        rig, calibration = frame.rig, frame.calibration
    if tracker is not None:
        calibration = tracker.given
    left, right, truth = frame.left, frame.right, frame.truth
    masks, seeds = frame.masks, frame.seeds if settings.uses_seeds else None
    if settings.swapped:
        left, right, truth, masks, seeds = right, left, None, masks[::-1], None
    rows = to_align = measured = None
    if calibration is not None and settings.rectified:
        raw = left, right, *masks
        maps = rectification(calibration)
        if tracker is not None:
            pair = _native.Pair({"left": left, "right": right}, frame.bit_depth, "rgb", None)
            maps, measured = tracker._followed(pair, settings.aligns_rows and settings.rows is None)
        left, right, *found = maps(*raw)
        rows = rows_in(settings, left, right, frame, 1.0, sequence, measured)
        if rows is not None and rows.alignment is not None:
            left, right, *found = maps.aligned(rows.alignment)(*raw)
        masks = found[0], found[1]
    full = left.shape[1], left.shape[0]
    size = settings.working_size(full)
    scale = size[0] / full[0], size[1] / full[1]
    if size != full:
        left, right = reduced(left, size), reduced(right, size)
        truth, seeds = (None if one is None else sampled(one, size) * np.float32(scale[0]) for one in (truth, seeds))
        masks = smaller_mask(masks[0], size), smaller_mask(masks[1], size)
        rig = None if rig is None else scaled_rig(rig, scale, size)
    if calibration is None or not settings.rectified:
        rows = to_align = rows_in(settings, left, right, frame, scale[1], sequence)
    return Prepared(frame, left, right, truth, masks, rig, scale, full, rows, to_align, seeds)


def rows_in(
    settings: Settings,
    left: Array,
    right: Array,
    frame: Frame,
    scale: float,
    sequence: RowFilter | None,
    measured: RowMeasurement | None = None,
) -> RowEstimate | None:
    """Returns the rows of a pair that is reduced by `scale`; None if they stay as they are. `measured` has them if they are measured already."""
    if not settings.aligns_rows:
        return None
    fixed = settings.rows
    if fixed is not None:
        fixed = fixed.scaled(scale)
    pair = _native.Pair({"left": left, "right": right}, frame.bit_depth, "rgb", None)
    return rows_of(pair, RowSettings(False, fixed), None, sequence, measured)


@functools.lru_cache(4)
def rectification(calibration: Calibration) -> Rectification:
    return Rectification(calibration)


def smaller_mask(mask: Array | None, size: tuple[int, int]) -> Array | None:
    """Returns a mask that is 255 where all pixels under a reduced pixel are usable."""
    return None if mask is None else np.where(reduced((mask != 0).astype(np.float32), size) > 0.999, 255, 0).astype(np.uint8)


def reduced(image: Array, size: tuple[int, int]) -> Array:
    """Reduces an image. A pixel is the mean of the area that it covers, rounded to nearest."""
    means = reduced_rows(image.astype(np.float64), size[1])
    means = np.swapaxes(reduced_rows(np.swapaxes(means, 0, 1), size[0]), 0, 1)
    if image.dtype != np.float32:
        means = np.rint(means)
    return np.ascontiguousarray(means.astype(image.dtype))


def reduced_rows(image: Array, rows: int) -> Array:
    count = image.shape[0]
    if count % rows == 0:
        return image.reshape(rows, count // rows, *image.shape[1:]).mean(axis=1)
    sums = np.concatenate([np.zeros_like(image[:1]), np.cumsum(image, axis=0)])
    ends = np.arange(rows + 1) * (count / rows)
    below = np.minimum(ends.astype(int), count - 1)
    part = (ends - below).reshape(-1, *[1] * (image.ndim - 1))
    return np.diff(sums[below] + part * image[below], axis=0) * (rows / count)


def sampled(image: Array, size: tuple[int, int]) -> Array:
    """Reduces a disparity map. Takes the pixel in the middle of each area, because a mean would mix disparities on both sides of
    an edge.
    """
    rows = ((np.arange(size[1]) + 0.5) * image.shape[0] / size[1]).astype(int)
    columns = ((np.arange(size[0]) + 0.5) * image.shape[1] / size[0]).astype(int)
    return image[rows[:, None], columns]


def scaled_rig(rig: Rig, scale: tuple[float, float], size: tuple[int, int]) -> Rig:
    sx, sy = scale
    return Rig(
        focal=rig.focal * sx,
        baseline=rig.baseline,
        cx_left=(rig.cx_left + 0.5) * sx - 0.5,
        cx_right=(rig.cx_right + 0.5) * sx - 0.5,
        cy=(rig.cy + 0.5) * sy - 0.5,
        unit=rig.unit,
        size=size,
    )
