"""What calls cv2.StereoSGBM_create calls this instead. OpenCV itself is not needed.

The method is this library's `sgm`, so that disparities are not OpenCV's bit for bit. What has a meaning there has the
same here, or is refused when it is set.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ._errors import CallError
from ._matching import Matcher

__all__ = [
    "STEREO_SGBM_MODE_HH",
    "STEREO_SGBM_MODE_HH4",
    "STEREO_SGBM_MODE_SGBM",
    "STEREO_SGBM_MODE_SGBM_3WAY",
    "StereoSGBM",
    "StereoSGBM_create",
]

STEREO_SGBM_MODE_SGBM = 0
STEREO_SGBM_MODE_HH = 1
STEREO_SGBM_MODE_SGBM_3WAY = 2
STEREO_SGBM_MODE_HH4 = 3

_PATHS = {STEREO_SGBM_MODE_SGBM: 4, STEREO_SGBM_MODE_HH: 8, STEREO_SGBM_MODE_HH4: 4}
_SCALE = 16


class StereoSGBM:
    """A matcher with OpenCV's compute: int16, 16 times the disparity, (minDisparity − 1) · 16 where there is none."""

    def __init__(self, first: int, count: int, parameters: Mapping[str, object], device: str) -> None:
        self._first, self._count = first, count
        self._matcher = Matcher("sgm", disparities=(first, first + count), colour="bgr", device=device, set=parameters)
        self._grey = Matcher("sgm", disparities=(first, first + count), device=device, set=parameters)

    def compute(self, left: Any, right: Any, disparity: npt.NDArray[np.int16] | None = None) -> npt.NDArray[np.int16]:
        """Of a rectified pair, (h, w) grey or (h, w, 3) BGR, uint8: (h, w) int16; into `disparity` if it is given."""
        if disparity is not None and (disparity.dtype != np.int16 or disparity.shape != np.shape(left)[:2]):
            raise CallError(
                f"disparity has the shape {disparity.shape} and the type {disparity.dtype}; it must be "
                f"{np.shape(left)[:2]} and int16"
            )
        found = (self._matcher if np.ndim(left) == 3 else self._grey)(left, right).disparity
        invalid = np.isnan(found)
        fixed = np.rint(np.where(invalid, self._first - 1, found) * np.float32(_SCALE)).astype(np.int16)
        if disparity is None:
            return fixed
        disparity[...] = fixed
        return disparity

    def getMinDisparity(self) -> int:
        return self._first

    def getNumDisparities(self) -> int:
        return self._count


def StereoSGBM_create(
    minDisparity: int = 0,
    numDisparities: int = 16,
    blockSize: int = 3,
    P1: int = 0,
    P2: int = 0,
    disp12MaxDiff: int = 0,
    preFilterCap: int = 0,
    uniquenessRatio: int = 0,
    speckleWindowSize: int = 0,
    speckleRange: int = 0,
    mode: int = STEREO_SGBM_MODE_SGBM,
    *,
    device: str = "auto",
    set: Mapping[str, object] | None = None,
) -> StereoSGBM:
    """As OpenCV's, with its defaults; nothing is filled.

    minDisparity, numDisparities   the search range
    disp12MaxDiff                  of the left-right check, pixels; 0 and less: 1, as there
    uniquenessRatio                percent
    speckleWindowSize, speckleRange  a size of 0: no speckle filter; the range in pixels
    mode                           4 paths (SGBM, HH4) or 8 (HH)

    blockSize, P1, P2 and preFilterCap are of OpenCV's own cost: any but the defaults are refused with what to use
    instead; `set` has this library's parameters. Raises CallError.

    >>> import stereopsis as st
    >>> scene = st.synth("table", width=160, height=120, disparities=32)
    >>> d16 = st.cv2.StereoSGBM_create(minDisparity=0, numDisparities=32).compute(scene.left, scene.right)
    >>> d16.dtype, int(d16.min()) >= -16
    (dtype('int16'), True)
    """
    for name, value, default, instead in (
        ("blockSize", blockSize, 3, "the census window of `sgm` has a fixed size"),
        ("P1", P1, 0, "give set={'sgm.p1': …}, in units of its own cost"),
        ("P2", P2, 0, "give set={'sgm.p2': …}, in units of its own cost"),
        ("preFilterCap", preFilterCap, 0, "give set={'cost.gradient_limit': …}, in grey levels"),
    ):
        if value != default:
            raise CallError(f"{name}={value!r} is of OpenCV's cost, which is not used here; leave it out: {instead}")
    if mode not in _PATHS:
        raise CallError(f"mode={mode!r} is not allowed; it must be one of SGBM (0), HH (1) and HH4 (3)")
    if not -2000 <= minDisparity <= 2000 or not 1 <= numDisparities <= 2047 - minDisparity:
        raise CallError(
            f"minDisparity={minDisparity!r} with numDisparities={numDisparities!r} does not fit into 16 bits "
            "of sixteenths; give disparities between -2000 and 2046"
        )
    parameters: dict[str, object] = {
        "optimisation.paths": _PATHS[mode],
        "select.uniqueness": uniquenessRatio,
        "left_right.threshold": disp12MaxDiff if disp12MaxDiff > 0 else 1,
        "speckle.enabled": speckleWindowSize > 0,
        "speckle.size": speckleWindowSize,
        "speckle.difference": speckleRange,
        "fill.enabled": False,
    }
    return StereoSGBM(minDisparity, numDisparities, {**parameters, **(set or {})}, device)
