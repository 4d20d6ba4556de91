"""OpenCV's matchers in comparisons, by the package cv2 of the environment. The command has their settings (peers.json)."""

from collections.abc import Mapping
from typing import Any

from ._cv2 import opencv

Array = Any


def _opencv() -> Any:
    return opencv("a matcher of OpenCV", "StereoBM_create", "StereoSGBM_create")


def version() -> str:
    """Returns the version of OpenCV. Raises UnsupportedError if it has no matchers."""
    return str(_opencv().__version__)


class Matcher:
    """A matcher of OpenCV for one pair."""

    def __init__(self, matcher: Any, left: Array, right: Array) -> None:
        self._matcher, self._pair, self.found = matcher, (left, right), None

    def run(self) -> None:
        self.found = self._matcher.compute(*self._pair)


def make(name: str, parameters: Mapping[str, int], threads: int, left: Array, right: Array) -> Matcher:
    """Makes a StereoBM (name BM) or a StereoSGBM (the name is its mode), with parameters by the names of OpenCV. 0 threads means all."""
    cv2 = _opencv()
    cv2.setNumThreads(threads if threads > 0 else -1)
    if name != "BM":
        modes = {"3WAY": cv2.STEREO_SGBM_MODE_SGBM_3WAY, "SGBM": cv2.STEREO_SGBM_MODE_SGBM, "HH4": cv2.STEREO_SGBM_MODE_HH4,
            "HH": cv2.STEREO_SGBM_MODE_HH}  # fmt: skip
        return Matcher(cv2.StereoSGBM_create(minDisparity=0, mode=modes[name], **parameters), left, right)
    matcher = cv2.StereoBM_create(parameters["numDisparities"], parameters["blockSize"])
    for parameter, value in parameters.items():
        getattr(matcher, f"set{parameter[0].upper()}{parameter[1:]}")(value)
    return Matcher(matcher, left, right)
