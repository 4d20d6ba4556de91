"""Depth registered to another camera, which nodes and bags send as depth_registered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._errors import CallError
from .._native import Camera, PosedCamera, register_depth
from .cameras import Cameras, fields_of

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Registration:
    """The camera to which depth is registered, or None for the raw left camera. An empty `frame_id` stands for the frame of the left
    images.
    """

    camera: PosedCamera | None
    frame_id: str = ""

    @classmethod
    def of(cls, to: str, frame_id: str, raw: bool, names: tuple[str, str] = ("register_to", "register_frame")) -> Registration | None:
        """Returns the registration to the camera in the file `to`, or to the raw left camera if `to` is "raw". Returns None if `to` is
        empty. `raw` is true if the node or command rectifies the pairs. `names` has the names of the settings `to` and `frame_id`, which
        error messages mention.
        """
        if not to:
            if frame_id:
                raise CallError(f"{names[1]} is the frame of registered depth; give {names[0]}, too")
            return None
        if to == "raw":
            if not raw:
                raise CallError(f"{names[0]} raw requires raw images, and these are rectified; give the file of a camera, or raw images")
            return cls(None, frame_id)
        if not frame_id:
            raise CallError(f"{names[0]} {to} requires the name of that camera's frame; give it as {names[1]}")
        return cls(PosedCamera.read(to, "m"), frame_id)

    def target(self, cameras: Cameras) -> PosedCamera:
        if self.camera is not None:
            return self.camera
        if cameras.calibration is not None:
            return PosedCamera.raw_left(cameras.calibration)
        rig = cameras.rig  # the raw images of this camera are rectified
        return PosedCamera(Camera(fx=rig.focal, fy=rig.focal, cx=rig.cx_left, cy=rig.cy), size=cameras.size)

    def depth(self, depth: Floats, cameras: Cameras) -> Floats:
        """Returns the depth, in metres, in the view of the camera."""
        return register_depth(depth, cameras.calibration or cameras.rig, self.target(cameras)).depth

    def info(self, cameras: Cameras) -> dict[str, Any]:
        """Returns the fields of the camera's CameraInfo except header and roi."""
        camera = self.target(cameras)
        lens = camera.camera
        model, count = _notation(lens)
        k = (lens.fx, 0.0, lens.cx, 0.0, lens.fy, lens.cy, 0.0, 0.0, 1.0)
        p = (*k[0:3], 0.0, *k[3:6], 0.0, *k[6:9], 0.0)
        return fields_of(camera.size, model, tuple(lens.distortion[:count]), k, p)


def _notation(lens: Camera) -> tuple[str, int]:
    """Returns the name of the lens model in ROS, and how many coefficients its CameraInfo has."""
    if lens.model == "fisheye":
        return "equidistant", 4
    if any(lens.distortion[8:]):
        return "rational_polynomial", 12
    return ("rational_polynomial", 8) if any(lens.distortion[5:]) else ("plumb_bob", 5)
