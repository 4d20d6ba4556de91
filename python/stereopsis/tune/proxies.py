"""Scores of a disparity map without ground truth. docs/tune.md reports how well each ranks settings by their true error."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._external import grey, mirrored
from .._matching import Matcher
from .._pipeline import Pipeline

Array = Any
Floats = npt.NDArray[np.float64]
REFERENCE = "sgm-learned"
WINDOW = 7  # width of the local mean of intensities, in pixels
LIMIT = 20.0  # largest photometric error of a pixel, in 8-bit units


@dataclass(frozen=True)
class Pair:
    """A pair with what a proxy needs: its range, and the map of the reference method."""

    left: Array
    right: Array
    disparities: tuple[int, int]
    reference: Array | None = None


Match = Callable[[Array, Array], Array]  # a pair → its disparity, with the settings to be scored


def score(name: str, pair: Pair, disparity: Array, match: Match) -> float:
    """Returns the score of a map; low is good."""
    return {"views": views, "photometric": photometric, "reference": reference, "mean": mean}[name](pair, disparity, match)


def mean(pair: Pair, disparity: Array, match: Match) -> float:
    """Returns the mean of `views` and `reference`, which are both percentages."""
    return (views(pair, disparity, match) + reference(pair, disparity, match)) / 2


def views(pair: Pair, disparity: Array, match: Match) -> float:
    """Returns the percentage of pixels whose disparity differs by more than 1 pixel from that of the other view. The other view is matched
    separately, as the mirrored pair. Pixels that are outside the other view do not count; invalid pixels count as different.
    """
    other = mirrored(match(mirrored(pair.right), mirrored(pair.left)))
    rows, columns = np.indices(disparity.shape)
    at = columns - np.nan_to_num(disparity)
    inside = (at >= 0) & (at <= disparity.shape[1] - 1)
    there = other[rows, np.clip(np.rint(at), 0, disparity.shape[1] - 1).astype(int)]
    agrees = np.abs(there - disparity) <= 1
    return percent(~agrees, inside)


def reference(pair: Pair, disparity: Array, match: Match) -> float:
    """Returns the percentage of pixels whose disparity differs by more than 1 pixel from that of the reference method."""
    assert pair.reference is not None
    return percent(~(np.abs(disparity - pair.reference) <= 1), np.isfinite(pair.reference))


def photometric(pair: Pair, disparity: Array, match: Match) -> float:
    """Returns the mean difference between the left image and the right image warped to it, without their local means, in 8-bit units. A
    gain between the cameras is compensated. Invalid pixels have the largest difference.
    """
    left, right = (in_8_bits(image) for image in (pair.left, pair.right))
    rows, columns = np.indices(disparity.shape)
    at = columns - np.nan_to_num(disparity)
    inside = (at >= 0) & (at <= disparity.shape[1] - 1)
    warped = sampled(right, rows, np.clip(at, 0, disparity.shape[1] - 1))
    left, warped = left - local_mean(left), warped - local_mean(warped)
    gain = np.sqrt((left[inside] ** 2).mean() / max(float((warped[inside] ** 2).mean()), 1e-9))
    errors = np.where(np.isfinite(disparity), np.minimum(np.abs(left - gain * warped), LIMIT), LIMIT)
    return float(errors[inside].mean()) if inside.any() else LIMIT


def percent(wrong: Array, counted: Array) -> float:
    count = int(counted.sum())
    return 100.0 * float((wrong & counted).sum()) / count if count else 100.0


def in_8_bits(image: Array) -> Floats:
    scale = 257.0 if image.dtype == np.uint16 else 1.0
    found: Floats = grey(image.astype(np.float32)).astype(np.float64) / scale
    return found


def sampled(image: Floats, rows: Array, at: Array) -> Floats:
    """Returns intensities between pixels of a row, by linear interpolation."""
    below = np.floor(at).astype(int)
    above = np.minimum(below + 1, image.shape[1] - 1)
    part = at - below
    found: Floats = image[rows, below] * (1 - part) + image[rows, above] * part
    return found


def local_mean(image: Floats) -> Floats:
    r = WINDOW // 2
    padded = np.pad(image, r + 1, mode="edge").cumsum(0).cumsum(1)
    h, w = image.shape
    size = 2 * r + 1
    sums = padded[size : size + h, size : size + w] - padded[:h, size : size + w] - padded[size : size + h, :w] + padded[:h, :w]
    found: Floats = sums / size**2
    return found


def with_reference(left: Array, right: Array, disparities: tuple[int, int], **how: Any) -> Pair:
    with Matcher(pipeline=Pipeline(REFERENCE), disparities=disparities, warn_of_pair=False, **how) as matcher:
        return Pair(left, right, disparities, np.array(matcher(left, right).disparity))
