"""A replacement for cv2.StereoSGBM_create. OpenCV itself is not needed.

The method is this library's `sgm`, so that disparities are not OpenCV's bit for bit. Parameters have the same meaning as in OpenCV. Setting
a parameter without an equivalent raises an error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _options
from ._errors import CallError
from ._matching import Matcher
from ._result import Result

__all__ = [
    "STEREO_SGBM_MODE_HH",
    "STEREO_SGBM_MODE_HH4",
    "STEREO_SGBM_MODE_SGBM",
    "STEREO_SGBM_MODE_SGBM_3WAY",
    "StereoSGBM",
    "StereoSGBM_create",
    "from_sgbm",
]

STEREO_SGBM_MODE_SGBM = 0
STEREO_SGBM_MODE_HH = 1
STEREO_SGBM_MODE_SGBM_3WAY = 2
STEREO_SGBM_MODE_HH4 = 3

_PATHS = {STEREO_SGBM_MODE_SGBM: 4, STEREO_SGBM_MODE_HH: 8, STEREO_SGBM_MODE_SGBM_3WAY: 4, STEREO_SGBM_MODE_HH4: 4}
_SCALE = 16
_DEFAULTS = {"BlockSize": 3, "P1": 0, "P2": 0, "PreFilterCap": 0}
# OpenCV's customary penalties for one channel and a block of one pixel, and the default ones of `sgm`, in units of its own cost.
_CUSTOMARY = {"P1": (8, 20), "P2": (32, 100)}


def _exact_penalty(name: str, value: int, block: int, channels: int) -> float:
    """Returns the penalty of `sgm` that is as large, compared with the default, as `value` is compared with OpenCV's customary one."""
    customary, default = _CUSTOMARY[name]
    return default * value / (customary * channels * max(block, 1) ** 2)


def _penalty(name: str, value: int, block: int, channels: int = 3) -> int:
    """Returns the same penalty as an integer that `sgm` allows."""
    return max(1, min(4095, round(_exact_penalty(name, value, block, channels))))


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


def _instead(values: Mapping[str, int], name: str) -> str:
    """Says what to do in place of a parameter of OpenCV's own cost."""
    if name == "BlockSize":
        return "the census window of `sgm` has a fixed size"
    if name == "PreFilterCap":
        return "pass set={'cost.gradient_limit': 10}, the default, or another limit in grey levels"
    value = _penalty(name, values[name], values["BlockSize"])
    return f"pass set={{'optimisation.{name.lower()}': {value}}}, which corresponds to it for 3 channels"


class StereoSGBM:
    """A matcher with the interface of cv2.StereoSGBM. compute() returns int16: 16 times the disparity, or (minDisparity − 1) · 16 for
    invalid pixels.

    The matcher has OpenCV's getters and setters. A new value applies from the next pair on. A parameter without an equivalent accepts only
    its default. After compute(), `result` has the validity of each pixel.
    """

    def __init__(
        self,
        values: Mapping[str, int],
        device: str,
        want: Sequence[str] | str,
        parameters: Mapping[str, object],
        given: Mapping[str, int] | None = None,
    ) -> None:
        self._values, self._device, self._want, self._parameters = dict(values), device, want, dict(parameters)
        self._result: Result | None = None
        self._converted = {name: (given or values)[name] for name in _DEFAULTS}  # the values of from_sgbm(), for the getters
        self._prepare()

    def compute(self, left: Any, right: Any, disparity: npt.NDArray[np.int16] | None = None) -> npt.NDArray[np.int16]:
        """Matches a rectified pair, (h, w) grey or (h, w, 3) BGR of uint8. Returns (h, w) int16, in `disparity` if it is given."""
        self._result = None  # an error leaves no result of an earlier pair
        if disparity is not None and not isinstance(disparity, np.ndarray):
            raise CallError(f"disparity is a {type(disparity).__name__}; pass a NumPy array of int16, or leave it out")
        if disparity is not None and (disparity.dtype != np.int16 or disparity.shape != np.shape(left)[:2]):
            raise CallError(
                f"disparity has the shape {disparity.shape} and the type {disparity.dtype}; it must be "
                f"{np.shape(left)[:2]} and int16"
            )
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

    def _prepare(self) -> None:
        v = self._values
        _check(v)
        first, count = v["MinDisparity"], v["NumDisparities"]
        parameters: dict[str, object] = {
            "optimisation.paths": _PATHS[v["Mode"]],
            "select.uniqueness": v["UniquenessRatio"] if v["UniquenessRatio"] >= 0 else 10,
            "fill.enabled": False,
        }
        difference = v["Disp12MaxDiff"] if v["Disp12MaxDiff"] > 0 else 1
        if difference < count:
            parameters["left_right.threshold"] = difference
        else:  # larger than any difference of disparities
            parameters["left_right.enabled"] = False
        if v["SpeckleWindowSize"] > 0:
            parameters["speckle.enabled"] = True
            parameters["speckle.size"] = v["SpeckleWindowSize"] + 1  # OpenCV also removes regions of this size
            parameters["speckle.difference"] = v["SpeckleRange"]
        parameters |= self._parameters
        self._matcher, self._grey = (
            Matcher("sgm", disparities=(first, first + count), color=color, device=self._device, want=self._want, set=parameters)
            for color in ("bgr", "rgb")
        )

    def _set(self, name: str, value: int) -> None:
        if value == self._converted.get(name):  # the value that from_sgbm() converted
            return
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
    def getBlockSize(self) -> int: return self._converted["BlockSize"]
    def setBlockSize(self, blockSize: int) -> None: self._set("BlockSize", blockSize)
    def getP1(self) -> int: return self._converted["P1"]
    def setP1(self, P1: int) -> None: self._set("P1", P1)
    def getP2(self) -> int: return self._converted["P2"]
    def setP2(self, P2: int) -> None: self._set("P2", P2)
    def getDisp12MaxDiff(self) -> int: return self._values["Disp12MaxDiff"]
    def setDisp12MaxDiff(self, disp12MaxDiff: int) -> None: self._set("Disp12MaxDiff", disp12MaxDiff)
    def getPreFilterCap(self) -> int: return self._converted["PreFilterCap"]
    def setPreFilterCap(self, preFilterCap: int) -> None: self._set("PreFilterCap", preFilterCap)
    def getUniquenessRatio(self) -> int: return self._values["UniquenessRatio"]
    def setUniquenessRatio(self, uniquenessRatio: int) -> None: self._set("UniquenessRatio", uniquenessRatio)
    def getSpeckleWindowSize(self) -> int: return self._values["SpeckleWindowSize"]
    def setSpeckleWindowSize(self, speckleWindowSize: int) -> None: self._set("SpeckleWindowSize", speckleWindowSize)
    def getSpeckleRange(self) -> int: return self._values["SpeckleRange"]
    def setSpeckleRange(self, speckleRange: int) -> None: self._set("SpeckleRange", speckleRange)
    def getMode(self) -> int: return self._values["Mode"]
    def setMode(self, mode: int) -> None: self._set("Mode", mode)
    # fmt: on


def _argument(name: str) -> str:
    return name if name.startswith("P") and len(name) == 2 else name[0].lower() + name[1:]


def _check(values: Mapping[str, int]) -> None:
    for name, value in values.items():
        _options.integer(_argument(name), value)
    for name, default in _DEFAULTS.items():
        if values[name] != default:
            raise CallError(
                f"{_argument(name)}={values[name]!r} belongs to OpenCV's matching cost, which is not used here; leave it out: "
                f"{_instead(values, name)}; st.cv2.from_sgbm() converts all parameters"
            )
    first, count, mode = (values[name] for name in ("MinDisparity", "NumDisparities", "Mode"))
    if mode not in _PATHS:
        raise CallError(f"mode={mode!r} is not allowed; it must be SGBM (0), HH (1), SGBM_3WAY (2) or HH4 (3)")
    if not -2000 <= first <= 2000 or not 1 <= count <= 2047 - first:
        raise CallError(
            f"minDisparity={first!r} with numDisparities={count!r} exceeds 16 bits "
            "of sixteenths; use disparities between -2000 and 2046"
        )


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
    blockSize, P1, P2, preFilterCap  belong to OpenCV's matching cost; a value other than the default raises an error that names the
                                   replacement
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
    values = {
        "MinDisparity": minDisparity,
        "NumDisparities": numDisparities,
        "BlockSize": blockSize,
        "P1": P1,
        "P2": P2,
        "Disp12MaxDiff": disp12MaxDiff,
        "PreFilterCap": preFilterCap,
        "UniquenessRatio": uniquenessRatio,
        "SpeckleWindowSize": speckleWindowSize,
        "SpeckleRange": speckleRange,
        "Mode": mode,
    }
    return StereoSGBM(values, device, want, set or {})


def from_sgbm(
    matcher: Any = None,
    *,
    channels: int = 3,
    device: str = "auto",
    want: Sequence[str] | str = (),
    report: Callable[[str], object] | None = print,
    **parameters: int,
) -> StereoSGBM:
    """Creates a matcher from the parameters of OpenCV's StereoSGBM, and prints how it converted them.

    matcher     a cv2.StereoSGBM, whose parameters are read
    parameters  or the arguments of cv2.StereoSGBM_create by name
    channels    number of channels for which P1 and P2 were chosen: 3 for 8 · 3 · blockSize² and 32 · 3 · blockSize², 1 for grey images
    report      function that receives each line of the report; None: no report
    want        names of further outputs for the member `result`, such as "confidence" (see Matcher)
    device      a name from st.devices()

    The penalties become those of this library's cost with the same ratio to the customary ones. blockSize and preFilterCap have no
    equivalent. Raises CallError.

    >>> import stereopsis as st
    >>> m = st.cv2.from_sgbm(numDisparities=64, blockSize=5, P1=600, P2=2400, uniquenessRatio=10, report=None)
    >>> m.getNumDisparities(), m.getUniquenessRatio()
    (64, 10)
    """
    names = ["MinDisparity", "NumDisparities", "BlockSize", "P1", "P2", "Disp12MaxDiff", "PreFilterCap", "UniquenessRatio"]
    names += ["SpeckleWindowSize", "SpeckleRange", "Mode"]
    defaults = {"NumDisparities": 16, "BlockSize": 3}
    unknown = parameters.keys() - {_argument(name) for name in names}
    if unknown:
        raise CallError(f"{sorted(unknown)[0]} is no parameter of cv2.StereoSGBM_create; use {', '.join(map(_argument, names))}")
    channels = _options.integer("channels", channels, 1, 4)
    if matcher is not None and not all(hasattr(matcher, f"get{name}") for name in names):
        raise CallError(f"matcher is a {type(matcher).__name__}; pass a cv2.StereoSGBM, or the arguments of cv2.StereoSGBM_create by name")
    read = {name: getattr(matcher, f"get{name}")() for name in names} if matcher is not None else {}
    values = {name: _options.integer(_argument(name), parameters.get(_argument(name), read.get(name, defaults.get(name, 0)))) for name in names}

    converted: dict[str, object] = {}
    lines = [f"{_argument(name)}={values[name]}: {_effect(values, name)}" for name in names if name not in _DEFAULTS]
    limited = []
    for name in ("P1", "P2"):
        if values[name] > 0:
            exact, penalty = (one(name, values[name], values["BlockSize"], channels) for one in (_exact_penalty, _penalty))
            converted[f"optimisation.{name.lower()}"] = penalty
            if abs(exact - penalty) > 0.5:
                limited.append(f"{name} would be {exact:.6g}, and is limited to {penalty}")
    if converted:
        p1 = int(str(converted.setdefault("optimisation.p1", 20)))
        p2 = int(str(converted.get("optimisation.p2", 100)))
        if p2 < p1:
            limited.append(f"P2 would be {p2}, and is raised to P1 = {p1}")
        p2 = max(p1, p2)
        converted |= {"optimisation.p2": p2, "optimisation.p2_min": max(p1, round(0.3 * p2))}
    became = ", ".join(f"{name} = {value}" for name, value in converted.items()) or "the defaults of sgm"
    lines += [f"P1={values['P1']}, P2={values['P2']}: {'; '.join([became, *limited])}"]
    lines += [f"blockSize={values['BlockSize']}: left out, because the census window has a fixed size"]
    lines += [f"preFilterCap={values['PreFilterCap']}: left out; cost.gradient_limit has its default, 10 grey levels"]
    if report is not None:
        for line in lines:
            report(line)
    return StereoSGBM({**values, **_DEFAULTS}, device, want, converted, given=values)
