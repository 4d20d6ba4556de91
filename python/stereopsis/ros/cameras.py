"""Converts sensor_msgs/CameraInfo to a rig or a calibration, and back."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .._errors import CallError, FormatError
from .._native import Calibration, Rig
from . import files

IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
UNITS = {"m": 1.0, "mm": 1e-3}


@dataclass(frozen=True)
class Camera:
    """The contents of a CameraInfo of any ROS version, in pixels of the published images, after its region of interest and its
    binning.

    As in image_geometry, the corner of the region is subtracted from the principal point first. All values are then divided by the binning.
    """

    size: tuple[int, int]
    model: str
    distortion: tuple[float, ...]
    matrix: tuple[float, ...]
    rectification: tuple[float, ...]
    projection: tuple[float, ...]

    @classmethod
    def of(cls, info: Any) -> Camera:
        d, k, r, p = (_numbers(info, name) for name in "dkrp")
        for name, numbers, count in (("K", k, 9), ("R", r, 9), ("P", p, 12)):
            if len(numbers) != count:
                raise FormatError(f"camera_info has {len(numbers)} numbers in {name}; it must have {count}")
        bx, by = max(1, int(info.binning_x)), max(1, int(info.binning_y))
        x, y = int(info.roi.x_offset), int(info.roi.y_offset)
        width = int(info.roi.width) or int(info.width)
        height = int(info.roi.height) or int(info.height)
        return cls(
            (width // bx, height // by),
            info.distortion_model,
            d,
            _reduced(k, 3, (x, y), (bx, by)),
            r if any(r) else IDENTITY,
            _reduced(p, 4, (x, y), (bx, by)),
        )

    @property
    def is_calibrated(self) -> bool:
        """False if the matrices are 0, as ROS defines for uncalibrated cameras."""
        return self.matrix[0] != 0 or self.projection[0] != 0

    @property
    def is_rectified(self) -> bool:
        """True if the camera's images are rectified already."""
        return not any(self.distortion) and self.rectification == IDENTITY and self.matrix == _square(self.projection)

    def text(self) -> str:
        """The camera_info file that the library reads."""
        lines = [f"image_width: {self.size[0]}", f"image_height: {self.size[1]}", f"distortion_model: {_word(self.model)}"]
        matrices = {
            "camera_matrix": self.matrix,
            "distortion_coefficients": self.distortion or (0.0,),
            "rectification_matrix": self.rectification,
            "projection_matrix": self.projection,
        }
        for name, numbers in matrices.items():
            lines += [f"{name}:", f"  data: [{', '.join(map(repr, numbers))}]"]
        return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Cameras:
    """The cameras of a pair: the rectified rig, in metres, and the calibration of raw images. Both cameras have the size of the images."""

    size: tuple[int, int]
    rig: Rig
    calibration: Calibration | None = None


def cameras_of(left: Camera, right: Camera, raw: bool) -> Cameras | None:
    """Returns None for an uncalibrated camera, whose message holds zeros. Raises FormatError for values that no rig can have."""
    if not left.is_calibrated and not right.is_calibrated:
        return None
    for side, camera in (("left", left), ("right", right)):
        if not all(map(math.isfinite, (*camera.matrix, *camera.distortion, *camera.rectification, *camera.projection))):
            raise FormatError(f"the {side} camera_info has a number that is not finite; calibrate the camera again")
    texts = left.text(), right.text()
    if not raw or (left.is_rectified and right.is_rectified):
        return Cameras(left.size, files.rig_of(*texts))
    calibration = files.calibration_of(*texts)
    return Cameras(left.size, calibration.rig, calibration)


def info_fields(rig: Rig, side: str, size: tuple[int, int] | None = None) -> dict[str, Any]:
    """Returns the fields of a rectified camera's CameraInfo except header and roi, for the `left` or `right` camera of a rig."""
    if rig.unit not in UNITS:
        raise CallError(f"the rig's unit is '{rig.unit}', but ROS requires metres; set the unit in the calibration file to mm or m")
    cx, shift = (rig.cx_left, 0.0) if side == "left" else (rig.cx_right, -rig.focal * rig.baseline * UNITS[rig.unit])
    f, cy = rig.focal, rig.cy
    k, p = (f, 0.0, cx, 0.0, f, cy, 0.0, 0.0, 1.0), (f, 0.0, cx, shift, 0.0, f, cy, 0.0, 0.0, 0.0, 1.0, 0.0)
    return fields_of(size or rig.size, "plumb_bob", (0.0,) * 5, k, p)


def fields_of(size: tuple[int, int], model: str, d: tuple[float, ...], k: tuple[float, ...], p: tuple[float, ...]) -> dict[str, Any]:
    """Returns the fields of a CameraInfo without rectification, except header and roi."""
    width, height = size
    return {
        "height": height,
        "width": width,
        "distortion_model": model,
        "d": d,
        "k": k,
        "r": IDENTITY,
        "p": p,
        "binning_x": 0,
        "binning_y": 0,
    }


def _numbers(info: Any, name: str) -> tuple[float, ...]:
    """Returns a matrix of the message. The matrices are named D, K, R and P in ROS 1, and d, k, r and p in ROS 2."""
    return tuple(float(one) for one in getattr(info, name if hasattr(info, name) else name.upper()))


def _reduced(m: Sequence[float], columns: int, corner: tuple[int, int], binning: tuple[int, int]) -> tuple[float, ...]:
    """Scales a matrix. The first two rows of a matrix are in pixels. The last column of a projection is a focal length times a distance."""
    rows = [list(m[i * columns : (i + 1) * columns]) for i in range(3)]
    for row, offset, factor in zip(rows, corner, binning, strict=False):
        row[2] -= offset
        row[:] = [one / factor for one in row]
    return tuple(one for row in rows for one in row)


def _word(text: str) -> str:
    """Quotes text of a message, which may contain any character, even line ends."""
    return re.sub(r"\W", "_", text[:40])


def _square(projection: Sequence[float]) -> tuple[float, ...]:
    return (*projection[0:3], *projection[4:7], *projection[8:11])
