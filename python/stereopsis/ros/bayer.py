"""Converts images of sensors with a Bayer pattern to RGB by bilinear interpolation."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

def demosaiced(mosaic: Array, pattern: str) -> Array:
    """Returns (h, w, 3) RGB. A colour that a pixel lacks is the mean of the nearest samples of this colour, rounded to nearest, halves up.

    `pattern` has the colours of the first two pixels of the first two rows: "rggb". The image is mirrored at its border, which
    preserves the pattern.
    """
    h, w = mosaic.shape
    if h < 2 or w < 2:
        return np.repeat(mosaic[..., None], 3, axis=2)
    padded = np.pad(mosaic.astype(np.uint32), 1, mode="reflect")
    made = np.empty((h, w, 3), mosaic.dtype)
    for y in (0, 1):
        for x in (0, 1):
            for channel, colour in enumerate("rgb"):
                sums, count = _sums(padded, pattern, colour, y, x, (h, w))
                made[y::2, x::2, channel] = (sums + count // 2) // count
    return made


def _sums(padded: Array, pattern: str, colour: str, y: int, x: int, size: tuple[int, int]) -> tuple[Array, int]:
    """Returns the sum and the number of the nearest samples of `colour`, for every second pixel in both directions, starting at (y, x)."""
    nearest: dict[int, list[tuple[int, int]]] = {}
    for dy in (-1, 0, 1):
        for dx in (-1, 0, 1):
            if pattern[(y + dy) % 2 * 2 + (x + dx) % 2] == colour:
                nearest.setdefault(dy * dy + dx * dx, []).append((dy, dx))
    offsets = nearest[min(nearest)]
    h, w = size
    parts = [padded[1 + y + dy : 1 + h + dy : 2, 1 + x + dx : 1 + w + dx : 2] for dy, dx in offsets]
    sums: Array = np.asarray(np.sum(parts, axis=0, dtype=np.uint32))
    return sums, len(offsets)
