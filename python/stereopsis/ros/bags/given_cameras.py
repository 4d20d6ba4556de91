"""The cameras that a call names in place of the camera_info messages of a bag."""

from __future__ import annotations

import argparse

from ... import _native
from ..._errors import CallError
from ..._native import Calibration, Rig
from ..cameras import Cameras

Size = tuple[int, int]


class GivenCameras:
    """The cameras of --calib, or of --focal and --baseline. Lengths are converted to metres, the unit of ROS."""

    def __init__(self, files: list[str], scale: float, lens: str, focal: float | None, baseline: float | None) -> None:
        self._files, self._scale, self._lens = files, scale, lens
        self._focal, self._baseline = focal, baseline
        self._known: dict[tuple[Size, bool], Cameras] = {}

    @classmethod
    def of(cls, arguments: argparse.Namespace) -> GivenCameras | None:
        """Returns None if the call names no cameras. Raises CallError for options that do not fit together."""
        a = arguments
        if (a.focal is None) != (a.baseline is None):
            raise CallError("--focal and --baseline must be given together; give both, such as --focal 700 --baseline 12cm")
        if len(a.calib) > 2:
            raise CallError(f"--calib is given {len(a.calib)} times; give one file, or one for each camera")
        if a.calib and a.focal is not None:
            raise CallError("--calib and --focal with --baseline both describe the cameras; give one of them")
        if not a.calib and (a.calib_scale is not None or a.lens):
            raise CallError("--calib-scale and --lens apply to the file of --calib; give it, too")
        if not a.calib and a.focal is None:
            return None
        if a.focal is not None and (a.raw or not a.focal > 0):
            raise CallError(f"--focal {a.focal:g} is not allowed; it must be positive, and describes rectified pairs, without --raw")
        return cls(a.calib, a.calib_scale or 1.0, a.lens, a.focal, None if a.baseline is None else _metres(a.baseline))

    def of_size(self, size: Size, raw: bool) -> Cameras:
        """Returns the same object for equal images, so that there is only one plan for them. Raises Error for another size."""
        if (size, raw) not in self._known:
            self._known[size, raw] = self._read(size, raw)
        return self._known[size, raw]

    @property
    def _second(self) -> str | None:
        return self._files[1] if len(self._files) > 1 else None

    def _read(self, size: Size, raw: bool) -> Cameras:
        if self._focal is not None:
            assert self._baseline is not None
            cx, cy = (size[0] - 1) / 2, (size[1] - 1) / 2
            return Cameras(size, Rig(focal=self._focal, baseline=self._baseline, unit="m", cx_left=cx, cx_right=cx, cy=cy, size=size))
        if not raw:
            rig = Rig.read(self._files[0], self._second, lens=self._lens, scale=self._scale)
            self._check_size(rig.size, size)
            return Cameras(size, _rig_in_metres(rig, self._files[0]))
        calibration = _native.read_calibration(self._files[0], self._second, lens=self._lens, scale=self._scale)
        self._check_size(calibration.size, size)
        rig = _rig_in_metres(calibration.rig, self._files[0])
        factor = rig.baseline / calibration.rig.baseline
        calibration = Calibration(
            size=calibration.size,
            left=calibration.left,
            right=calibration.right,
            rotation=calibration.rotation,
            translation=[factor * one for one in calibration.translation],
            rig=rig,
        )
        return Cameras(size, rig, calibration)

    def _check_size(self, calibrated: Size, size: Size) -> None:
        if calibrated not in ((0, 0), size):
            raise CallError(
                f"{self._files[0]} is for images of {calibrated[0]}×{calibrated[1]} pixels, but the images of the bag have {size[0]}×{size[1]}; "
                "give the calibration of these images, or --calib-scale if they were scaled"
            )


def _metres(baseline: str) -> float:
    try:
        return _native.length_in(baseline, "m")
    except CallError as error:
        raise CallError(f"--baseline {error}") from None


def _rig_in_metres(rig: Rig, file: str) -> Rig:
    if rig.unit not in ("m", "mm"):
        raise CallError(f"the unit of the baseline in {file} is not known, and depths of ROS are in metres; give --focal and --baseline with a unit")
    baseline = _native.length_in(f"{rig.baseline!r}{rig.unit}", "m")
    return Rig(focal=rig.focal, baseline=baseline, unit="m", cx_left=rig.cx_left, cx_right=rig.cx_right, cy=rig.cy, size=rig.size)
