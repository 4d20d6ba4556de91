"""Makes the fields of sensor_msgs/PointCloud2."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .images import Array

FLOAT32 = 7  # the constant of PointField


def cloud_fields(points: npt.NDArray[np.float32], colour: Array | None, organised: bool = True) -> dict[str, Any]:
    """Returns the fields of a PointCloud2 except its header, for points (h, w, 3) with NaN where there is no point.

    The fields of a point are x, y, z and, if an image is given, `rgb` in PCL's packing; grey values are repeated. An organised
    cloud has the image's rows and columns, with NaN; otherwise the valid points form one row. `fields` has (name, offset, type,
    count) of each field.
    """
    names = ["x", "y", "z"] + (["rgb"] if colour is not None else [])
    cloud = np.empty((*points.shape[:2], len(names)), np.float32)
    cloud[..., :3] = points
    if colour is not None:
        cloud[..., 3] = packed(colour)
    there = np.isfinite(points).all(axis=2)
    cloud[..., :3][~there] = np.nan
    if not organised:
        cloud = cloud[there][None]
    height, width = cloud.shape[:2]
    return {
        "height": height,
        "width": width,
        "fields": [(name, 4 * i, FLOAT32, 1) for i, name in enumerate(names)],
        "is_bigendian": not np.little_endian,
        "point_step": 4 * len(names),
        "row_step": 4 * len(names) * width,
        "data": cloud.reshape(-1).view(np.uint8),
        "is_dense": bool(there.all()) if organised else True,
    }


def packed(colour: Array) -> npt.NDArray[np.float32]:
    """Returns floats whose bits are 0x00RRGGBB."""
    eight = colour
    if colour.dtype == np.uint16:
        eight = (colour >> 8).astype(np.uint8)
    elif colour.dtype == np.float32:
        eight = np.clip(np.nan_to_num(colour), 0, 255).astype(np.uint8)
    rgb = np.broadcast_to(eight[..., None], (*eight.shape, 3)) if eight.ndim == 2 else eight
    red, green, blue = (rgb[..., i].astype(np.uint32) for i in range(3))
    bits: npt.NDArray[np.float32] = (red << 16 | green << 8 | blue).view(np.float32)
    return bits
