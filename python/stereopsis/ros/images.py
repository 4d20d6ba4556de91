"""Converts sensor_msgs/Image and CompressedImage to arrays, and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._errors import FormatError
from .bayer import demosaiced
from .files import decoded

Array = npt.NDArray[Any]

MOST_PIXELS = 1 << 28  # the same types as in image files


@dataclass(frozen=True)
class Encoding:
    """The layout of a pixel. `take` has the indices of the samples to use: one for grey, three for red, green and blue."""

    type: str  # NumPy type of a sample, without the byte order
    samples: int
    take: tuple[int, ...]
    bayer: str = ""  # colours of the first two rows of a mosaic: "rggb"

    @property
    def pixel_bytes(self) -> int:
        return int(self.type[1]) * self.samples


def _encodings() -> dict[str, Encoding]:
    table = {
        "mono8": Encoding("u1", 1, (0,)),
        "mono16": Encoding("u2", 1, (0,)),
        "8UC1": Encoding("u1", 1, (0,)),
        "16UC1": Encoding("u2", 1, (0,)),
        "32FC1": Encoding("f4", 1, (0,)),
        "8UC3": Encoding("u1", 3, (2, 1, 0)),  # the order of channels in OpenCV's images
        "16UC3": Encoding("u2", 3, (2, 1, 0)),
        "yuv422": Encoding("u1", 2, (1,)),  # UYVY, of which only the luma is read
        "uyvy": Encoding("u1", 2, (1,)),
        "yuv422_yuy2": Encoding("u1", 2, (0,)),
        "yuyv": Encoding("u1", 2, (0,)),
    }
    for bits, type_name in ((8, "u1"), (16, "u2")):
        for order in ("rgb", "bgr", "rgba", "bgra"):
            table[f"{order}{bits}"] = Encoding(type_name, len(order), tuple(order.index(c) for c in "rgb"))
        for first in ("rggb", "bggr", "gbrg", "grbg"):
            table[f"bayer_{first}{bits}"] = Encoding(type_name, 1, (0,), first)
    return table


ENCODINGS = _encodings()


def array_of(message: Any) -> Array:
    """Returns an Image or a CompressedImage of any ROS version as (h, w) or (h, w, 3) RGB of uint8, uint16 or float32.

    The array is a view of the message's data, unless the order of channels or bytes differs, or the image has a Bayer pattern. Raises
    FormatError if the message contradicts itself, or if its encoding is not in ENCODINGS.
    """
    return _decompressed(message) if hasattr(message, "format") else _pixels(message)


def _pixels(message: Any) -> Array:
    encoding = ENCODINGS.get(message.encoding)
    if encoding is None:
        known = ", ".join(ENCODINGS)
        raise FormatError(f"the encoding '{_printable(message.encoding)}' is not known; it must be one of {known}")
    width, height, step = int(message.width), int(message.height), int(message.step)
    if width < 1 or height < 1 or width * height > MOST_PIXELS:
        raise FormatError(f"the size is {width}×{height}; it must be 1 to {MOST_PIXELS} pixels")
    row = width * encoding.pixel_bytes
    if step < row:
        raise FormatError(f"step is {step}, but {width} pixels of {message.encoding} require {row} bytes")
    data = as_bytes(message.data)
    if data.size not in (step * height, step * (height - 1) + row):
        raise FormatError(f"data has {data.size} bytes, but {height} rows of {step} bytes require {step * height}")
    sample = np.dtype(encoding.type).newbyteorder(">" if message.is_bigendian else "<")
    shape, strides = (height, width, encoding.samples), (step, encoding.pixel_bytes, sample.itemsize)
    return _wanted(np.ndarray(shape, sample, data, strides=strides), encoding)


def _wanted(pixels: Array, encoding: Encoding) -> Array:
    native = pixels.dtype.newbyteorder("=")
    if encoding.bayer:
        return demosaiced(pixels[..., 0].astype(native), encoding.bayer)
    taken = pixels
    if encoding.take == (0, 1, 2):
        taken = pixels[..., :3]
    elif encoding.samples > 1 or len(encoding.take) > 1:
        taken = pixels[..., list(encoding.take)]
    if len(encoding.take) == 1:
        taken = taken[..., 0]
    if taken.dtype == native and taken.flags.aligned and taken.strides[1] == taken.itemsize * len(encoding.take):
        return taken
    return np.ascontiguousarray(taken.astype(native))


def is_lossy(message: Any) -> bool:
    """Returns whether a message is a CompressedImage with JPEG data, as "bgr8; jpeg compressed bgr8" states."""
    return any(name in getattr(message, "format", "").lower() for name in ("jpeg", "jpg"))


def _decompressed(message: Any) -> Array:
    array: Array = decoded(as_bytes(message.data).tobytes())
    if "bayer_" in message.format.split(";")[0]:
        pattern = message.format.split("bayer_")[1][:4]
        if array.ndim == 2 and pattern in ("rggb", "bggr", "gbrg", "grbg"):
            return demosaiced(array, pattern)
    return array


def as_bytes(data: Any) -> npt.NDArray[np.uint8]:
    """Returns the uint8[] field of a message as an array. Depending on the version of ROS, the field is bytes, array.array, list or a NumPy
    array.
    """
    if isinstance(data, (list, tuple)):
        return np.array(data, np.uint8)
    return np.frombuffer(data, np.uint8)


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in text[:40])


def grey_of(image: Array) -> Array:
    """Returns the grey image by BT.601, with the rounding of the library."""
    if image.ndim == 2:
        return image
    if image.dtype == np.float32:
        red, green, blue = np.float32(0.299), np.float32(0.587), np.float32(0.114)
        return (red * image[..., 0] + green * image[..., 1]) + blue * image[..., 2]
    weighted = image.astype(np.uint64) @ np.array([19595, 38470, 7471], np.uint64)
    return ((weighted + 32768) >> np.uint64(16)).astype(image.dtype)


def image_fields(array: Array, encoding: str) -> dict[str, Any]:
    """Returns the fields of an Image except its header, for an array (h, w) or (h, w, n) in the byte order of this machine."""
    rows = np.ascontiguousarray(array)
    return {
        "height": rows.shape[0],
        "width": rows.shape[1],
        "encoding": encoding,
        "is_bigendian": int(not np.little_endian),
        "step": rows.strides[0],
        "data": rows.reshape(-1).view(np.uint8),
    }


def encoding_of(array: Array) -> str:
    """Returns the name of the encoding in ROS."""
    if array.dtype == np.float32 and array.ndim == 2:
        return "32FC1"
    return {(2, 1): "mono8", (2, 2): "mono16", (3, 1): "rgb8", (3, 2): "rgb16"}[array.ndim, array.itemsize]
