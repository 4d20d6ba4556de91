"""A replacement for cv2.StereoSGBM_create and cv2.StereoBM_create. The disparities are those of this library's method `sgm`.

A script that matches with OpenCV runs with `from stereopsis import cv2` in place of `import cv2`: all other names are those of OpenCV's own
module, which must then be installed. The functions cv2.ximgproc.createRightMatcher and createDisparityWLSFilter support these matchers.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from . import _keywords, _options
from ._errors import CallError
from ._matching import Matcher
from ._pair import warn
from ._result import Result

__all__ = [
    "STEREO_SGBM_MODE_HH",
    "STEREO_SGBM_MODE_HH4",
    "STEREO_SGBM_MODE_SGBM",
    "STEREO_SGBM_MODE_SGBM_3WAY",
    "StereoBM",
    "StereoBM_create",
    "StereoMatcher",
    "StereoSGBM",
    "StereoSGBM_create",
    "create_right_matcher",
    "from_sgbm",
]

STEREO_SGBM_MODE_SGBM = 0
STEREO_SGBM_MODE_HH = 1
STEREO_SGBM_MODE_SGBM_3WAY = 2
STEREO_SGBM_MODE_HH4 = 3

_PATHS = {STEREO_SGBM_MODE_SGBM: 4, STEREO_SGBM_MODE_HH: 8, STEREO_SGBM_MODE_SGBM_3WAY: 4, STEREO_SGBM_MODE_HH4: 4}
_SCALE = 16
_UNLIMITED = 1_000_000  # a disp12MaxDiff without a left-right check
# OpenCV's customary penalties for one channel and a block of one pixel, and the default ones of `sgm`, in units of its own cost.
_CUSTOMARY = {"P1": (8, 20), "P2": (32, 100)}
_SGBM: dict[str, int] = {
    "MinDisparity": 0, "NumDisparities": 16, "BlockSize": 3, "P1": 0, "P2": 0, "Disp12MaxDiff": 0, "PreFilterCap": 0,
    "UniquenessRatio": 0, "SpeckleWindowSize": 0, "SpeckleRange": 0, "Mode": 0,
}  # fmt: skip
_BM: dict[str, Any] = {
    "MinDisparity": 0, "NumDisparities": 64, "BlockSize": 21, "Disp12MaxDiff": -1, "PreFilterType": 1, "PreFilterSize": 9,
    "PreFilterCap": 31, "TextureThreshold": 10, "UniquenessRatio": 15, "SmallerBlockSize": 0, "SpeckleWindowSize": 0, "SpeckleRange": 0,
    "ROI1": (0, 0, 0, 0), "ROI2": (0, 0, 0, 0),
}  # fmt: skip

M = TypeVar("M", bound="StereoMatcher")


def _exact_penalty(name: str, value: int, block: int, channels: int) -> float:
    """Returns the penalty of `sgm` that is as large, compared with the default, as `value` is compared with OpenCV's customary one."""
    customary, default = _CUSTOMARY[name]
    return default * value / (customary * channels * max(block, 1) ** 2)


def _penalties(values: Mapping[str, int], channels: int) -> tuple[dict[str, object], list[str]]:
    """Returns the parameters of `sgm` in place of P1 and P2, and remarks on limited values."""
    converted, limited = {}, []
    for name in ("P1", "P2"):
        if values[name] > 0:
            exact = _exact_penalty(name, values[name], values["BlockSize"], channels)
            penalty = converted[f"optimisation.{name.lower()}"] = max(1, min(4095, round(exact)))
            if abs(exact - penalty) > 0.5:
                limited.append(f"{name} would be {exact:.6g}, and is limited to {penalty}")
    if not converted:
        return {}, []
    p1 = converted.setdefault("optimisation.p1", 20)
    p2 = converted.get("optimisation.p2", 100)
    if p2 < p1:
        limited.append(f"P2 would be {p2}, and is raised to P1 = {p1}")
    p2 = max(p1, p2)
    return {**converted, "optimisation.p2": p2, "optimisation.p2_min": max(p1, round(0.3 * p2))}, limited


def _effect(values: Mapping[str, int], name: str) -> str:
    """Says what becomes of a parameter that has an equivalent: "kept", or the value in its place."""
    value = values[name]
    if name == "Disp12MaxDiff" and value <= 0:
        return "the left-right check allows a difference of 1 pixel, as in OpenCV"
    if name == "Disp12MaxDiff" and value >= values["NumDisparities"]:
        return "no left-right check, because no difference exceeds it"
    if name == "UniquenessRatio" and value < 0:
        return "10 percent, as in OpenCV"
    if name == "SpeckleWindowSize" and value <= 0:
        return "no regions are removed"
    if name == "SpeckleRange" and values["SpeckleWindowSize"] <= 0:
        return "unused, because speckleWindowSize removes no regions"
    if name == "Mode":
        return f"{_PATHS[value]} paths" if value in _PATHS else "not allowed"
    return "kept"


class StereoMatcher:
    """A matcher with the interface of cv2.StereoMatcher. compute() returns int16: 16 times the disparity, or (minDisparity − 1) · 16 for
    invalid pixels.

    The matcher has OpenCV's getters and setters. A new value applies from the next pair on. Parameters without an effect have their getters
    and setters, too; the first compute() warns of those that do not have their defaults. After compute(), `result` has the validity of each
    pixel.
    """

    _unused: Mapping[str, Any] = {}  # the parameters without an effect, with their defaults

    def __init__(
        self,
        values: Mapping[str, Any],
        device: str,
        want: Sequence[str] | str,
        parameters: Mapping[str, object],
        channels: int | None = None,
    ) -> None:
        self._values: dict[str, int] = dict(values)  # in StereoBM also ROI1 and ROI2, of 4 integers
        self._device, self._want, self._parameters = device, want, dict(parameters)
        self._channels, self._warned = channels, False
        self._result: Result | None = None
        self._prepare()

    def compute(self, left: Any, right: Any, disparity: npt.NDArray[np.int16] | None = None) -> npt.NDArray[np.int16]:
        """Matches a rectified pair, (h, w) grey or (h, w, 3) BGR of uint8. Returns (h, w) int16, in `disparity` if it is given."""
        self._result = None  # an error leaves no result of an earlier pair
        left, right = _packed(left), _packed(right)
        if disparity is not None and not isinstance(disparity, np.ndarray):
            raise CallError(f"disparity is a {type(disparity).__name__}; pass a NumPy array of int16, or leave it out")
        if disparity is not None and (disparity.dtype != np.int16 or disparity.shape != np.shape(left)[:2]):
            raise CallError(
                f"disparity has the shape {disparity.shape} and the type {disparity.dtype}; it must be "
                f"{np.shape(left)[:2]} and int16"
            )
        self._warn_of_unused()
        self._result = (self._matcher if np.ndim(left) == 3 else self._grey)(left, right)
        found = self._result.disparity
        invalid = np.isnan(found)
        fixed = np.rint(np.where(invalid, self._values["MinDisparity"] - 1, found) * np.float32(_SCALE)).astype(np.int16)
        if disparity is None:
            return fixed
        disparity[...] = fixed
        return disparity

    @property
    def result(self) -> Result:
        """The Result of the last compute(): float disparities, validity, and the outputs that `want` names. Raises CallError if there is none."""
        if self._result is None:
            raise CallError("there is no result yet; call compute() first")
        return self._result

    def _warn_of_unused(self) -> None:
        given = [f"{_argument(name)}={self._values[name]}" for name, default in self._unused.items() if self._values[name] != default]
        if self._channels is not None:
            given = []  # converted, or reported by from_sgbm()
        if given and not self._warned:
            convert = ", or pass channels=3 (1 for grey images) to convert P1 and P2" if any(one.startswith("P") for one in given) else ""
            warn(f"{', '.join(given)}: no effect, because OpenCV's own cost alone has these parameters; leave them out{convert}", UserWarning)
        self._warned = self._warned or bool(given)

    def _left_right(self) -> int:
        """Returns the limit of the left-right check."""
        return max(1, self._values["Disp12MaxDiff"])

    def _prepare(self) -> None:
        v = self._values
        self._check()
        first, count = v["MinDisparity"], v["NumDisparities"]
        parameters: dict[str, object] = {
            "optimisation.paths": _PATHS[v.get("Mode", STEREO_SGBM_MODE_SGBM)],
            "select.uniqueness": v["UniquenessRatio"] if v["UniquenessRatio"] >= 0 else 10,
            "fill.enabled": False,
        }
        if self._left_right() < count:
            parameters["left_right.threshold"] = self._left_right()
        else:  # larger than any difference of disparities
            parameters["left_right.enabled"] = False
        if v["SpeckleWindowSize"] > 0:
            parameters["speckle.enabled"] = True
            parameters["speckle.size"] = v["SpeckleWindowSize"] + 1  # OpenCV also removes regions of this size
            parameters["speckle.difference"] = v["SpeckleRange"]
        if self._channels is not None:
            parameters |= _penalties(v, self._channels)[0]
        parameters |= self._parameters
        self._matcher, self._grey = (
            Matcher("sgm", disparities=(first, first + count), color=color, device=self._device, want=self._want, set=parameters)
            for color in ("bgr", "rgb")
        )

    def _check(self) -> None:
        for name, value in self._values.items():
            if not name.startswith("ROI"):
                _options.integer(_argument(name), value)
        first, count, mode = (self._values.get(name, 0) for name in ("MinDisparity", "NumDisparities", "Mode"))
        if mode not in _PATHS:
            raise CallError(f"mode={_options.shown(mode)} is not allowed; it must be SGBM (0), HH (1), SGBM_3WAY (2) or HH4 (3)")
        if not -2000 <= first <= 2000 or not 1 <= count <= 2047 - first:
            raise CallError(
                f"minDisparity={first!r} with numDisparities={count!r} exceeds 16 bits "
                "of sixteenths; use disparities between -2000 and 2046"
            )

    def _set(self, name: str, value: Any) -> None:
        before = dict(self._values)
        self._values[name] = value
        try:
            self._prepare()
        except BaseException:
            self._values = before
            raise

    # fmt: off
    def getMinDisparity(self) -> int: return self._values["MinDisparity"]
    def setMinDisparity(self, minDisparity: int) -> None: self._set("MinDisparity", minDisparity)
    def getNumDisparities(self) -> int: return self._values["NumDisparities"]
    def setNumDisparities(self, numDisparities: int) -> None: self._set("NumDisparities", numDisparities)
    def getBlockSize(self) -> int: return self._values["BlockSize"]
    def setBlockSize(self, blockSize: int) -> None: self._set("BlockSize", blockSize)
    def getDisp12MaxDiff(self) -> int: return self._values["Disp12MaxDiff"]
    def setDisp12MaxDiff(self, disp12MaxDiff: int) -> None: self._set("Disp12MaxDiff", disp12MaxDiff)
    def getPreFilterCap(self) -> int: return self._values["PreFilterCap"]
    def setPreFilterCap(self, preFilterCap: int) -> None: self._set("PreFilterCap", preFilterCap)
    def getUniquenessRatio(self) -> int: return self._values["UniquenessRatio"]
    def setUniquenessRatio(self, uniquenessRatio: int) -> None: self._set("UniquenessRatio", uniquenessRatio)
    def getSpeckleWindowSize(self) -> int: return self._values["SpeckleWindowSize"]
    def setSpeckleWindowSize(self, speckleWindowSize: int) -> None: self._set("SpeckleWindowSize", speckleWindowSize)
    def getSpeckleRange(self) -> int: return self._values["SpeckleRange"]
    def setSpeckleRange(self, speckleRange: int) -> None: self._set("SpeckleRange", speckleRange)
    # fmt: on


class StereoSGBM(StereoMatcher):
    """A StereoMatcher with the parameters of cv2.StereoSGBM."""

    _unused = {name: _SGBM[name] for name in ("BlockSize", "P1", "P2", "PreFilterCap")}

    @staticmethod
    def create(*arguments: Any, **options: Any) -> StereoSGBM:
        """Another name of StereoSGBM_create()."""
        return StereoSGBM_create(*arguments, **options)

    # fmt: off
    def getP1(self) -> int: return self._values["P1"]
    def setP1(self, P1: int) -> None: self._set("P1", P1)
    def getP2(self) -> int: return self._values["P2"]
    def setP2(self, P2: int) -> None: self._set("P2", P2)
    def getMode(self) -> int: return self._values["Mode"]
    def setMode(self, mode: int) -> None: self._set("Mode", mode)
    # fmt: on


class StereoBM(StereoMatcher):
    """A StereoMatcher with the parameters of cv2.StereoBM."""

    _unused = {
        name: _BM[name]
        for name in ("BlockSize", "PreFilterType", "PreFilterSize", "PreFilterCap", "TextureThreshold", "SmallerBlockSize", "ROI1", "ROI2")
    }

    @staticmethod
    def create(*arguments: Any, **options: Any) -> StereoBM:
        """Another name of StereoBM_create()."""
        return StereoBM_create(*arguments, **options)

    def _left_right(self) -> int:
        return self._values["Disp12MaxDiff"] if self._values["Disp12MaxDiff"] >= 0 else _UNLIMITED

    # fmt: off
    def getPreFilterType(self) -> int: return self._values["PreFilterType"]
    def setPreFilterType(self, preFilterType: int) -> None: self._set("PreFilterType", preFilterType)
    def getPreFilterSize(self) -> int: return self._values["PreFilterSize"]
    def setPreFilterSize(self, preFilterSize: int) -> None: self._set("PreFilterSize", preFilterSize)
    def getTextureThreshold(self) -> int: return self._values["TextureThreshold"]
    def setTextureThreshold(self, textureThreshold: int) -> None: self._set("TextureThreshold", textureThreshold)
    def getSmallerBlockSize(self) -> int: return self._values["SmallerBlockSize"]
    def setSmallerBlockSize(self, blockSize: int) -> None: self._set("SmallerBlockSize", blockSize)
    def getROI1(self) -> Any: return self._values["ROI1"]
    def setROI1(self, roi1: Any) -> None: self._set("ROI1", roi1)
    def getROI2(self) -> Any: return self._values["ROI2"]
    def setROI2(self, roi2: Any) -> None: self._set("ROI2", roi2)
    # fmt: on


def _packed(image: Any) -> Any:
    """Returns the image, or a copy if its pixels have gaps or another order, as OpenCV does."""
    if not isinstance(image, np.ndarray) or image.ndim not in (2, 3):
        return image
    inner = (image.itemsize * image[0, 0].size, image.itemsize) if image.size else image.strides[1:]
    return image if image.strides[0] > 0 and image.strides[1:] == inner[: image.ndim - 1] else np.ascontiguousarray(image)


def _argument(name: str) -> str:
    return name if name.startswith(("P1", "P2", "ROI")) else name[0].lower() + name[1:]


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
    channels: int | None = None,
    device: str = "auto",
    want: Sequence[str] | str = (),
    set: Mapping[str, object] | None = None,
) -> StereoSGBM:
    """Creates a matcher with OpenCV's arguments and defaults. Invalid pixels are not filled.

    minDisparity, numDisparities   the search range
    disp12MaxDiff                  limit of the left-right check, in pixels; 0 and less mean 1, numDisparities and more disable it
    uniquenessRatio                percent; less than 0 means 10
    speckleWindowSize, speckleRange  regions of up to speckleWindowSize pixels are removed (0 removes none); disparities within speckleRange
                                     pixels belong to the same region
    mode                           4 paths (SGBM, SGBM_3WAY, HH4) or 8 (HH)
    blockSize, preFilterCap        no effect, because OpenCV's own cost alone has them; the first compute() warns
    P1, P2                         the same, unless `channels` is given
    channels                       number of channels for which P1 and P2 were chosen, to convert them as from_sgbm() does: 3 for
                                   8 · 3 · blockSize² and 32 · 3 · blockSize²
    set                            parameters of this library
    want                           names of further outputs for the member `result`, such as "confidence" (see Matcher)
    device                         a name from st.devices()

    Raises CallError.

    >>> import stereopsis as st
    >>> scene = st.synth("table", width=160, height=120, disparities=32)
    >>> d16 = st.cv2.StereoSGBM_create(minDisparity=0, numDisparities=32).compute(scene.left, scene.right)
    >>> d16.dtype, int(d16.min()) >= -16
    (dtype('int16'), True)
    """
    numbers = (minDisparity, numDisparities, blockSize, P1, P2, disp12MaxDiff, preFilterCap, uniquenessRatio, speckleWindowSize, speckleRange, mode)
    converts = None if channels is None else _options.integer("channels", channels, 1, 4)
    return StereoSGBM(dict(zip(_SGBM, numbers, strict=True)), device, want, set or {}, converts)


def StereoBM_create(
    numDisparities: int = 0,
    blockSize: int = 21,
    *,
    device: str = "auto",
    want: Sequence[str] | str = (),
    set: Mapping[str, object] | None = None,
) -> StereoBM:
    """Creates a matcher with the arguments, defaults and setters of cv2.StereoBM_create. It runs the method `sgm`, not block matching.

    numDisparities  number of disparities from 0 upwards; 0 means 64
    blockSize       no effect, because OpenCV's own cost alone has it; the first compute() warns

    A disp12MaxDiff below 0, the default, disables the left-right check. `device`, `want` and `set` have the same meaning as for
    StereoSGBM_create(). Raises CallError.
    """
    values = {**_BM, "NumDisparities": numDisparities or _BM["NumDisparities"], "BlockSize": blockSize}
    return StereoBM(values, device, want, set or {})


def create_right_matcher(matcher: M) -> M:
    """Returns the matcher of the right view, in place of cv2.ximgproc.createRightMatcher: `right_matcher.compute(right, left)` returns
    OpenCV's map of the right view, with disparities ≤ 0, as the WLS filter requires. Raises CallError for a matcher of OpenCV.
    """
    if not isinstance(matcher, StereoMatcher):
        raise CallError(f"matcher is a {type(matcher).__name__}; pass a matcher of st.cv2, or call cv2.ximgproc.createRightMatcher()")
    v = matcher._values
    raw = {"UniquenessRatio": 0, "Disp12MaxDiff": _UNLIMITED, "SpeckleWindowSize": 0}
    values = {**v, **raw, "MinDisparity": 1 - v["MinDisparity"] - v["NumDisparities"]}
    made = type(matcher)(values, matcher._device, matcher._want, matcher._parameters, matcher._channels)
    made._warned = True  # the left matcher warns
    return made


def from_sgbm(
    matcher: Any = None,
    *,
    channels: int = 3,
    device: str = "auto",
    want: Sequence[str] | str = (),
    report: Callable[[str], object] | None = None,
    **parameters: int,
) -> StereoSGBM:
    """Creates a matcher from the parameters of OpenCV's StereoSGBM, and converts them.

    matcher     a cv2.StereoSGBM, whose parameters are read
    parameters  or the arguments of cv2.StereoSGBM_create by name
    channels    number of channels for which P1 and P2 were chosen: 3 for 8 · 3 · blockSize² and 32 · 3 · blockSize², 1 for grey images
    report      function that receives what becomes of each parameter, line by line, such as print [no report]
    want        names of further outputs for the member `result`, such as "confidence" (see Matcher)
    device      a name from st.devices()

    The penalties become those of this library's cost with the same ratio to the customary ones. blockSize and preFilterCap have no
    equivalent. Raises CallError.

    >>> import stereopsis as st
    >>> m = st.cv2.from_sgbm(numDisparities=64, blockSize=5, P1=600, P2=2400, uniquenessRatio=10)
    >>> m.getNumDisparities(), m.getUniquenessRatio()
    (64, 10)
    """
    _keywords.check("from_sgbm", [*map(_argument, _SGBM), "matcher", "channels", "device", "want", "report"], parameters)
    channels = _options.integer("channels", channels, 1, 4)
    if matcher is not None and not all(hasattr(matcher, f"get{name}") for name in _SGBM):
        raise CallError(f"matcher is a {type(matcher).__name__}; pass a cv2.StereoSGBM, or the arguments of cv2.StereoSGBM_create by name")
    read = _SGBM if matcher is None else {name: getattr(matcher, f"get{name}")() for name in _SGBM}
    values = {name: _options.integer(_argument(name), parameters.get(_argument(name), read[name])) for name in _SGBM}
    if report is not None:
        for line in _report(values, channels):
            report(line)
    return StereoSGBM(values, device, want, {}, channels)


def _report(values: Mapping[str, int], channels: int) -> list[str]:
    """Returns what becomes of each parameter of OpenCV."""
    converted, limited = _penalties(values, channels)
    became = ", ".join(f"{name} = {value}" for name, value in converted.items()) or "the defaults of sgm"
    return [
        *(f"{_argument(name)}={values[name]}: {_effect(values, name)}" for name in _SGBM if name not in StereoSGBM._unused),
        f"P1={values['P1']}, P2={values['P2']}: {'; '.join([became, *limited])}",
        f"blockSize={values['BlockSize']}: left out, because the census window has a fixed size",
        f"preFilterCap={values['PreFilterCap']}: left out; cost.gradient_limit has its default, 10 grey levels",
    ]


class _Ximgproc:
    """OpenCV's module cv2.ximgproc, with functions that also support the matchers of this module."""

    def __init__(self, theirs: Any) -> None:
        self._theirs = theirs

    def __getattr__(self, name: str) -> Any:
        return getattr(self._theirs, name)

    def createRightMatcher(self, matcher_left: Any) -> Any:
        """Returns the matcher of the right view."""
        return create_right_matcher(matcher_left) if isinstance(matcher_left, StereoMatcher) else self._theirs.createRightMatcher(matcher_left)

    def createDisparityWLSFilter(self, matcher_left: Any) -> Any:
        """Returns OpenCV's filter, and prepares the left matcher for it as OpenCV does: without checks."""
        if not isinstance(matcher_left, StereoMatcher):
            return self._theirs.createDisparityWLSFilter(matcher_left)
        for name, value in (("Disp12MaxDiff", _UNLIMITED), ("SpeckleWindowSize", 0), ("UniquenessRatio", 0)):
            matcher_left._set(name, value)
        made = self._theirs.createDisparityWLSFilterGeneric(True)
        made.setDepthDiscontinuityRadius(-(-matcher_left.getBlockSize() // (3 if isinstance(matcher_left, StereoBM) else 2)))
        return made


def __getattr__(name: str) -> Any:
    """Returns an attribute of OpenCV's own module."""
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        theirs = getattr(importlib.import_module("cv2"), name)
    except ImportError:
        raise AttributeError(f"stereopsis.cv2 has no {name!r}, and OpenCV's module is not installed; run: python -m pip install opencv-python") from None
    return _Ximgproc(theirs) if name == "ximgproc" else theirs
