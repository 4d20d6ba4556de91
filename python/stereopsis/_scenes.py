"""Generates and checks pairs, scores disparity maps, and reads images."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _native, _options
from ._errors import CallError, TruthWarning
from ._native import PairReport, RowAlignment, RowEstimate
from ._pair import warn
from ._result import Picture
from ._rows import estimate_of


class Scene:
    """A generated pair with its exact ground truth.

    left, right                   (h, w, 3) uint8, RGB
    disparity, disparity_right    (h, w) float32 in pixels, defined for every pixel
    nonocc, nonocc_right          (h, w) uint8: 255 = visible in both views, 128 = half-occluded
    disc                          (h, w) uint8: 255 = near a depth discontinuity, 128 = elsewhere, 0 = half-occluded
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
    scene: str = "table",
    width: int = 640,
    height: int = 480,
    disparities: int = 64,
    seed: int = 1,
    *,
    like: str | None = None,
    **options: float,
) -> Scene:
    """Generates a scene of st.scene_names(), or a random one. The same arguments, including `seed`, give the same bytes on every machine.

    scene          name of the scene
    width, height  size of the images, in pixels
    disparities    number of disparities: all true disparities are in 0 to disparities − 1
    seed           seed of textures, noise and random positions
    like           mixture of which a random scene with random light and cameras is generated, instead of `scene`:
                   "varied", "indoor", "road", "plants", "hard" or "mixed"

    Further options change the right image: gain, gamma, vignetting, light, vertical_offset and vertical_slope (in rows), vertical_wave and
    vertical_jitter (in rows), vertical_period and vertical_period_x (in pixels).
    Others change both images: noise, shot_noise, defocus, focus, motion, blur_left, blur_right, sharpening, exposure,
    tone, flare, demosaicing, jpeg and resampling. focal_length is in image widths. `stereopsis synth --help` explains
    them. Raises CallError.

    >>> import stereopsis as st
    >>> scene = st.synth("table", width=64, height=48, disparities=16, noise=2)
    >>> scene.left.shape, scene.disparity.shape
    ((48, 64, 3), (48, 64))
    >>> st.synth(like="road", width=124, height=38, disparities=32, seed=5).left.shape
    (38, 124, 3)
    """
    if like is not None and scene != "table":
        raise CallError(f"scene={_options.shown(scene)} and like={_options.shown(like)} are given; give one of them")
    like = None if like is None else _options.text("like", like)
    width, height, disparities = (
        _options.integer(name, value) for name, value in (("width", width), ("height", height), ("disparities", disparities))
    )
    seed = _options.integer("seed", seed, 0, 2**64 - 1)
    effects = {name: _options.number(name, value) for name, value in options.items()}
    return Scene(_native.synth(_options.text("scene", scene), width, height, disparities, seed, effects, like))


def check(left: Any, right: Any, *, color: str = "rgb", bit_depth: int = 0, colour: str | None = None) -> PairReport:
    """Checks whether the pair `left`, `right` is rectified and in the right order, and estimates its search range.

    `color` (or `colour`) and `bit_depth` have the same meaning as in Matcher. Raises CallError.

    >>> import stereopsis as st
    >>> scene = st.synth("table", width=320, height=240, disparities=32)
    >>> found = st.check(scene.left, scene.right)
    >>> found.rectified, found.swapped
    (True, False)
    """
    bit_depth = _options.integer("bit_depth", bit_depth, 0, 16)
    return _native.check(_options.image("left", left), _options.image("right", right), _options.color(color, colour), bit_depth)


def estimate_row_alignment(
    left: Any, right: Any, *, color: str = "rgb", bit_depth: int = 0, colour: str | None = None
) -> RowEstimate:
    """Estimates by how much the rows of a rectified pair differ, from the pair alone. `align_rows=` of match(), Matcher and Run removes
    the difference. The result is the same on every machine.

    `color` (or `colour`) and `bit_depth` have the same meaning as in Matcher. Raises CallError.

    >>> import stereopsis as st
    >>> scene = st.synth("table", width=320, height=240, disparities=32, vertical_offset=1)
    >>> rows = st.estimate_row_alignment(scene.left, scene.right)
    >>> round(rows.plane.offset, 1), rows.reason
    (-1.0, '')
    >>> r = st.match(scene.left, scene.right, disparities=32, align_rows=rows)
    """
    bit_depth = _options.integer("bit_depth", bit_depth, 0, 16)
    left, right = _options.image("left", left), _options.image("right", right)
    return _native.estimate_row_alignment(left, right, _options.color(color, colour), bit_depth)


def align_rows(
    right: Any, rows: RowAlignment | RowEstimate, mask: Any = None, *, bit_depth: int = 0
) -> tuple[npt.NDArray[Any], npt.NDArray[np.uint8]]:
    """Returns a right image whose rows are aligned, and its mask: 255, or 0 where a pixel has no source or its source is masked by `mask`. Other
    programs can match it; match() aligns images itself. `rows` is an alignment, or the result of estimate_row_alignment(). `bit_depth` is
    that of uint16 [16]. Raises CallError.

    >>> import stereopsis as st
    >>> scene = st.synth("table", width=320, height=240, disparities=32, vertical_offset=1)
    >>> aligned, usable = st.align_rows(scene.right, st.estimate_row_alignment(scene.left, scene.right))
    >>> st.estimate_row_alignment(scene.left, aligned).reason
    'rows_agree'
    """
    bit_depth = _options.integer("bit_depth", bit_depth, 0, 16)
    return _native.align_rows(_options.image("right", right), estimate_of(rows).plane, mask, bit_depth, None, (0, 0))


def evaluate(disparity: Any, truth: Any, mask: Any = None) -> dict[str, Any]:
    """Compares a disparity map with the ground truth, like the toolkits of Middlebury and KITTI.

    disparity, truth  (h, w) float32 in pixels, NaN where invalid
    mask              (h, w) uint8 with 255 for pixels that count and 0 or 128 (occluded) for others, or bool [all pixels]

    A pixel counts if its ground truth is finite. Returns bad0.5, bad1.0, bad2.0, bad4.0, d1, out3 and density in percent, where an invalid
    pixel counts as wrong. Returns avgerr, rms, a90, a95 and a99 in pixels. The value of `valid` has the same measures over pixels with a
    disparity. All measures are NaN if no pixel counts. Warns with TruthWarning if the truth seems to be multiplied by a factor, upside
    down, in the other byte order, 0 where it is unknown, or a depth map. Values beyond ±1e6 raise CallError.

    >>> import stereopsis as st
    >>> scene = st.synth("table", width=64, height=48, disparities=16)
    >>> st.evaluate(scene.disparity + 1.5, scene.disparity, scene.nonocc == 255)["bad1.0"]
    100.0
    """
    _warn_of_mismatch(*_native.find_mismatch(disparity, truth, mask))
    return _native.evaluate(disparity, truth, mask)


def _warn_of_mismatch(factor: float, upside_down: bool, reversed_bytes: bool, zeros_unknown: bool, product: float) -> None:
    if product:
        warn(
            f"truth × disparity is nearly constant (about {product:.3g}), so one of the two is a depth map; convert depth: "
            "disparity = focal length × baseline / depth",
            TruthWarning,
        )
    reasons = [
        reason
        for is_so, reason in (
            (upside_down, "upside down (truth[::-1])"),
            (reversed_bytes, "in the other byte order (truth.byteswap())"),
            (abs(factor - 1) > 0.1, f"{factor:.2g} times the disparity (divide it)"),
            (zeros_unknown, "0 where it seems to be unknown (set NaN there)"),
        )
        if is_so
    ]
    if reasons:
        warn(f"the ground truth is {' and '.join(reasons)}", TruthWarning)


def read_image(file: str | os.PathLike[str], bit_depth: int | None = None) -> npt.NDArray[Any]:
    """Reads an image, (h, w) or (h, w, 3) RGB, of uint8, uint16 or float32, from PNG, PNM, JPEG, TIFF, PFM or NPY.

    If a 16-bit `file` declares fewer bits (the maxval of a PNM), pass this number as `bit_depth` here and to the matcher. Otherwise,
    read_image() raises CallError. Float pixels that are no data become NaN, which is not matched; read_masked_image() returns such
    pixels of other images. Raises FileError and FormatError.
    """
    return read_masked_image(file, bit_depth)[0]


def write_image(file: str | os.PathLike[str], image: Any) -> None:
    """Writes an image, (h, w) or (h, w, 3) RGB of uint8, uint16 or float32, as .png, .pgm, .ppm, .jpg, .tiff, .pfm or .npy.

    `file` is replaced only when the new one is complete. Images of OpenCV are BGR: pass `image[..., ::-1]`. A Picture may stand for its
    pixels. Raises FileError, and CallError for an `image` that the format cannot store.

    >>> import stereopsis as st
    >>> scene = st.synth("table", width=64, height=48, disparities=16)
    >>> st.write_image("/dev/null", st.match(scene.left, scene.right, 16).color()) # doctest: +SKIP
    """
    _native.write_image(file, np.ascontiguousarray(image.pixels if isinstance(image, Picture) else _options.image("image", image)))


def read_masked_image(
    file: str | os.PathLike[str], bit_depth: int | None = None
) -> tuple[npt.NDArray[Any], npt.NDArray[np.uint8] | None]:
    """Reads an image as read_image(), and its mask for `mask_left` or `mask_right`: 0 where a pixel is no data, 255 elsewhere; None
    if all pixels are data.

    No data are pixels with an alpha of 0 (PNG, TIFF), with the value of GDAL_NODATA (TIFF) and, in float images, pixels that are not
    finite or have a customary value: -9999, -32767, -32768 or the lowest float. `file` and `bit_depth` have the same meaning as for
    read_image().
    """
    image, mask, bits = _native.read_masked_image(file)
    expected = bit_depth if bit_depth is not None else 16 if image.dtype == np.uint16 else 8
    if bits != expected and not (image.dtype == np.uint16 and bits == 16):  # 16-bit files do not say if they hold fewer bits
        raise CallError(
            f"'{os.fspath(file)}' has {bits} bits; read it with bit_depth={bits}, and match it with the same bit_depth"
        )
    return image, mask
