"""OpenCV's matchers in comparisons, by the package cv2 of the environment. The command has their settings (peers.json)."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

Array = Any
OpenCv = tuple[str, Callable[..., Any]]


def provided() -> OpenCv | str:
    """Returns the version of OpenCV and the function that makes its matchers, or the reason why they are not there."""
    try:
        cv2: Any = importlib.import_module("cv2")
    except ImportError as missing:
        return f"the package cv2 cannot be imported ({missing}); run: python -m pip install opencv-python-headless"
    lacking = [name for name in ("StereoBM_create", "StereoSGBM_create") if not hasattr(cv2, name)]
    if lacking:
        return f"cv2 {cv2.__version__} has no {lacking[0]}; install the complete package opencv-python-headless"
    return str(cv2.__version__), make


class Matcher:
    """A matcher of OpenCV for one pair."""

    def __init__(self, matcher: Any, left: Array, right: Array) -> None:
        self._matcher, self._pair, self.found = matcher, (left, right), None

    def run(self) -> None:
        self.found = self._matcher.compute(*self._pair)


def make(name: str, parameters: Mapping[str, int], threads: int, left: Array, right: Array) -> Matcher:
    """Makes a StereoBM (name BM) or a StereoSGBM (the name is its mode), with parameters by the names of OpenCV. 0 threads means all."""
    cv2: Any = importlib.import_module("cv2")
    cv2.setNumThreads(threads if threads > 0 else -1)
    if name != "BM":
        modes = {"3WAY": cv2.STEREO_SGBM_MODE_SGBM_3WAY, "SGBM": cv2.STEREO_SGBM_MODE_SGBM, "HH4": cv2.STEREO_SGBM_MODE_HH4,
            "HH": cv2.STEREO_SGBM_MODE_HH}  # fmt: skip
        return Matcher(cv2.StereoSGBM_create(minDisparity=0, mode=modes[name], **parameters), left, right)
    matcher = cv2.StereoBM_create(parameters["numDisparities"], parameters["blockSize"])
    for parameter, value in parameters.items():
        getattr(matcher, f"set{parameter[0].upper()}{parameter[1:]}")(value)
    return Matcher(matcher, left, right)
