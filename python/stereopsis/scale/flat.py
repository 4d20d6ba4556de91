"""Finds pixels without contrast in a part of an image, as src/stages/contrast/contrast.hpp defines them."""

import numpy as np
import numpy.typing as npt

from .rasters import Array

REACH = 3  # half the width of the window


def is_flat(image: Array) -> npt.NDArray[np.bool_]:
    """Returns for each pixel whether the part of its 7×7 window inside the image has one value."""
    pixels = image if image.ndim == 3 else image[..., None]
    differs_left, differs_above = np.zeros((2, *pixels.shape[:2]), bool)
    differs_left[:, 1:] = (pixels[:, 1:] != pixels[:, :-1]).any(2)
    differs_above[1:] = (pixels[1:] != pixels[:-1]).any(2)
    # A window of n pixels in a row has n - 1 pairs of neighbours, of which the first pixel begins none.
    across = _any(_any(differs_left, 1, REACH - 1, REACH), 0, REACH, REACH)
    down = _any(_any(differs_above, 1, REACH, REACH), 0, REACH - 1, REACH)
    return ~(across | down)


def _any(bits: npt.NDArray[np.bool_], axis: int, before: int, after: int) -> npt.NDArray[np.bool_]:
    """Returns whether a bit is set from `before` pixels before each pixel to `after` pixels after it."""
    width = [(0, 0), (0, 0)]
    width[axis] = (before, after)
    padded = np.pad(bits, width)
    windows = np.lib.stride_tricks.sliding_window_view(padded, before + after + 1, axis)
    return np.asarray(windows.any(-1))
