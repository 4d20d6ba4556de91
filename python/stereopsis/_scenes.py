"""Pairs: generated ones, checks, and images from files."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _native, _options
from ._errors import CallError
from ._native import PairCheck


class Scene:
    """A generated pair with exactly known disparity.

    left, right                   (h, w, 3) uint8, RGB
    disparity, disparity_right    (h, w) float32, pixels; every pixel has one
    nonocc, nonocc_right          (h, w) uint8: 255 = visible in both views, 128 = hidden in the other
    disc                          (h, w) uint8: 255 = near a depth discontinuity, 128 = elsewhere, 0 = occluded
    """

    __slots__ = ("left", "right", "disparity", "disparity_right", "nonocc", "nonocc_right", "disc")

    left: npt.NDArray[np.uint8]
    right: npt.NDArray[np.uint8]
    disparity: npt.NDArray[np.float32]
    disparity_right: npt.NDArray[np.float32]
    nonocc: npt.NDArray[np.uint8]
    nonocc_right: npt.NDArray[np.uint8]
    disc: npt.NDArray[np.uint8]

    def __init__(self, arrays: dict[str, Any]) -> None:
        for name in self.__slots__:
            setattr(self, name, arrays[name])


def synth(
    scene: str = "table", width: int = 640, height: int = 480, disparities: int = 64, seed: int = 1, **options: float
) -> Scene:
    """A scene of st.scene_names(). The same arguments, `seed` among them, give the same bytes on every machine.

    Options are of the right image: gain, gamma, vignetting, light; of both: noise, shot_noise, defocus, focus, motion,
    blur_left, blur_right, sharpening; and vertical_offset and vertical_slope, in rows. Raises CallError.

    >>> import stereopsis as st
    >>> scene = st.synth("table", width=64, height=48, disparities=16, noise=2)
    >>> scene.left.shape, scene.disparity.shape
    ((48, 64, 3), (48, 64))
    """
    return Scene(_native.synth(_options.text("scene", scene), width, height, disparities, seed, options))


def check(left: Any, right: Any, *, colour: str = "rgb", bit_depth: int = 0) -> PairCheck:
    """Tells whether a pair is rectified and in the right order, and its search range; `colour` and `bit_depth` are
    those of Matcher.

    >>> import stereopsis as st
    >>> scene = st.synth("table", width=320, height=240, disparities=32)
    >>> found = st.check(scene.left, scene.right)
    >>> found.rectified, found.swapped
    (True, False)
    """
    bit_depth = _options.integer("bit_depth", bit_depth, 0, 16)
    return _native.check(left, right, _options.one_of("colour", colour, *_options.COLOURS), bit_depth)


def evaluate(disparity: Any, truth: Any, mask: Any = None) -> dict[str, Any]:
    """Measures a disparity image against the ground truth, as the Middlebury and KITTI toolkits do.

    Both are (h, w) float32. A pixel counts where the truth is finite and the mask is 255 (uint8) or True (bool); where a uint8
    mask is 0 or 128 (Middlebury's "occluded") the pixel does not count, and other values are rejected. Gives what the
    command's JSON has: bad0.5, bad1.0, bad2.0, bad4.0, d1, out3 and density in percent (an invalid pixel counts as wrong), avgerr, rms,
    a90, a95, a99 in pixels, and `valid`: the same over pixels that have a disparity. NaN where nothing counts.

    >>> import stereopsis as st
    >>> scene = st.synth("table", width=64, height=48, disparities=16)
    >>> st.evaluate(scene.disparity + 1.5, scene.disparity, scene.nonocc == 255)["bad1.0"]
    100.0
    """
    return _native.evaluate(disparity, truth, mask)


def read_image(file: str | os.PathLike[str], bit_depth: int | None = None) -> npt.NDArray[Any]:
    """(h, w) or (h, w, 3) RGB, of uint8, uint16 or float32: PNG, PNM, JPEG, TIFF, PFM or NPY.

    For a 16-bit file that declares fewer bits (a PNM's maxval), pass that number as `bit_depth`, and the same to match;
    otherwise CallError is raised. Raises FileError and FormatError.
    """
    image, bits = _native.read_image_and_depth(file)
    expected = bit_depth if bit_depth is not None else 16 if image.dtype == np.uint16 else 8
    if bits != expected and not (image.dtype == np.uint16 and bits == 16):  # 16-bit files do not say if they hold fewer bits
        raise CallError(
            f"'{os.fspath(file)}' has {bits} bits; read it with bit_depth={bits}, and match it with the same bit_depth"
        )
    return image
