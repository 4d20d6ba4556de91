"""Makes messages from the result of a pair."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .clouds import cloud_fields
from .families import Family
from .images import Array, encoding_of, image_fields
from .searched import Searched

Floats = npt.NDArray[np.float32]
FURTHEST = 65535  # millimetres per metre


def in_millimetres(depth: Floats) -> npt.NDArray[np.uint16]:
    """Returns the depth in rounded millimetres; 0 if there is none, or if it does not fit in 16 bits (REP 118)."""
    scaled = np.rint(depth * np.float32(1000))
    return np.where((scaled >= 1) & (scaled <= FURTHEST), scaled, 0).astype(np.uint16)


class Messages:
    """Makes the messages of one family."""

    def __init__(self, family: Family) -> None:
        self._family = family

    def header(self, stamp: int, frame_id: str) -> Any:
        return self._family.make("std_msgs/Header", stamp=self._family.time(stamp), frame_id=frame_id)

    def image(self, header: Any, array: Array, encoding: str | None = None) -> Any:
        fields = image_fields(array, encoding or encoding_of(array))
        fields["data"] = self._family.bytes(fields["data"])
        return self._family.make("sensor_msgs/Image", header=header, **fields)

    def camera_info(self, header: Any, fields: dict[str, Any]) -> Any:
        return self._family.make("sensor_msgs/CameraInfo", header=header, roi=self.region((0, 0, 0, 0)), **fields)

    def region(self, window: tuple[int, int, int, int]) -> Any:
        x, y, width, height = window
        return self._family.make(
            "sensor_msgs/RegionOfInterest", x_offset=x, y_offset=y, width=width, height=height, do_rectify=False
        )

    def disparity(self, header: Any, disparity: Floats, geometry: Searched, invalid_is_nan: bool = False) -> Any:
        """Returns a DisparityImage. Invalid pixels are min_disparity − 1, as in stereo_image_proc, or NaN."""
        shifted = disparity - np.float32(geometry.shift)
        if not invalid_is_nan:
            shifted[np.isnan(shifted)] = geometry.least - 1
        return self._family.make(
            "stereo_msgs/DisparityImage",
            header=header,
            image=self.image(header, shifted, "32FC1"),
            f=geometry.focal,
            t=geometry.baseline,
            valid_window=self.region(geometry.window),
            min_disparity=geometry.least,
            max_disparity=geometry.most,
            delta_d=geometry.step,
        )

    def depth(self, header: Any, depth: Floats, millimetres: bool) -> Any:
        if not millimetres:
            return self.image(header, depth, "32FC1")
        return self.image(header, in_millimetres(depth), "16UC1")

    def cloud(self, header: Any, points: Floats, colour: Array | None, organised: bool) -> Any:
        fields = cloud_fields(points, colour, organised)
        names = ("name", "offset", "datatype", "count")
        fields["data"] = self._family.bytes(fields["data"])
        fields["fields"] = [
            self._family.make("sensor_msgs/PointField", **dict(zip(names, field, strict=True)))
            for field in fields["fields"]
        ]
        return self._family.make("sensor_msgs/PointCloud2", header=header, **fields)

    def diagnostics(self, header: Any, name: str, level: str, message: str, values: dict[str, str]) -> Any:
        """Returns a DiagnosticArray with one status, whose level is OK, WARN, ERROR or STALE."""
        status = self._family.kind("diagnostic_msgs/DiagnosticStatus")
        pairs = [self._family.make("diagnostic_msgs/KeyValue", key=key, value=value) for key, value in values.items()]
        one = self._family.make(
            "diagnostic_msgs/DiagnosticStatus",
            level=getattr(status, level),
            name=name,
            message=message,
            hardware_id="",
            values=pairs,
        )
        return self._family.make("diagnostic_msgs/DiagnosticArray", header=header, status=[one])
