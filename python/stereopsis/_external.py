"""Methods from outside the library: networks, programs and functions of the user's own, behind one interface."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np

from . import validity
from ._errors import CallError, UnsupportedError
from ._stage import StageCall

Array = Any
ESCAPE_SEQUENCE = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)?|[ -/]*[0-~])")


class Method(Protocol):
    """A stereo method from outside the library: any callable (left, right, disparities) → disparity.

    left, right   rectified images, (h, w) or (h, w, 3) RGB, uint8 or float32 from 0 to 255. Arrays on a GPU come as the caller passed them
    disparities   search range (first, end), as in range()
    returns       (h, w) disparity of the left view, in pixels; NaN or infinity where invalid. A method may return a mapping instead, with
                  "disparity" and "confidence" (0 to 1)

    A method may have an attribute `name` for reports, and a function `on(device, threads)` that returns the method for that device.
    """

    def __call__(self, left: Array, right: Array, disparities: tuple[int, int]) -> Any: ...


def name_of(method: Method) -> str:
    return str(getattr(method, "name", None) or getattr(method, "__name__", None) or type(method).__name__)


def method_on(method: Method, device: str, threads: int) -> Method:
    """Returns the method for a device and a number of CPU threads. A method without `on` rejects any device but auto and cpu."""
    on = getattr(method, "on", None)
    if on is not None:
        chosen: Method = on(device, threads)
        return chosen
    if device not in ("auto", "cpu"):
        raise CallError(f"{name_of(method)} cannot be moved to the device {device}; use device='auto', and choose the device in the method itself")
    return method


def one_line(text: str, which: int) -> str:
    """Returns line `which` of a foreign text that an error message quotes, without what a terminal would execute; empty without lines."""
    lines = [line for line in ESCAPE_SEQUENCE.sub("", text).splitlines() if line.strip()]
    return "".join(one if one.isprintable() else repr(one)[1:-1] for one in lines[which].strip())[:300] if lines else ""


class Maps:
    """The maps of one pair, checked: `disparity` with NaN where invalid, `validity`, and `confidence` if the method computes it."""

    def __init__(self, method: Method, left: Array, right: Array, disparities: tuple[int, int]) -> None:
        found = method(left, right, disparities)
        more = dict(found) if isinstance(found, Mapping) else {"disparity": found}
        shape = left.shape[:2]
        self.disparity = _map(name_of(method), "disparity", more.get("disparity"), shape)
        given = more.get("confidence")
        self.confidence = None if given is None else _map(name_of(method), "confidence", given, shape)


def _map(name: str, what: str, found: Any, shape: tuple[int, ...]) -> Array:
    """Returns a map as float32. Maps on a GPU stay there, if they are arrays of CuPy or similar."""
    if found is None or not hasattr(found, "shape"):
        raise CallError(f"{name} returned a {type(found).__name__} as {what}; it must return an array (height, width)")
    if tuple(found.shape) != tuple(shape):
        raise CallError(f"{name} returned a {what} of shape {tuple(found.shape)} for images of {tuple(shape)}; both must be equal")
    if isinstance(found, np.ndarray):
        return np.ascontiguousarray(found, np.float32)
    return found.astype("float32") if hasattr(found, "astype") else np.ascontiguousarray(found, np.float32)


def mirrored(image: Array) -> Array:
    """Returns the image with reversed columns. The mirrored right view is the left view of the mirrored pair."""
    return np.ascontiguousarray(image[:, ::-1])


def stage_of(method: Method) -> Callable[[StageCall], None]:
    """Returns the method as a function of the library's: it reads both images, and writes the maps of the reference view. The map of the
    right view is that of the mirrored pair.
    """

    def call(c: StageCall) -> None:
        first = -(c.first + c.count - 1) if c.from_right else c.first
        images = [seen(mirrored(image) if c.from_right else image, "rgb", c.bit_depth) for image in (c.reference, c.other)]
        maps = Maps(method, images[0], images[1], (first, first + c.count))
        c.disparity[...] = mirrored(maps.disparity) if c.from_right else maps.disparity
        if c.confidence is None:
            return
        if maps.confidence is None:
            raise CallError(
                f"{name_of(method)} computes no confidence, which its refinements or outputs read; "
                "set vote_fill.reject to 0, and confidence.stage to learned"
            )
        c.confidence[...] = maps.confidence

    return call


def device_map(method: Method, left: Array, right: Array, disparities: tuple[int, int]) -> dict[str, Array]:
    """Returns the disparity and the validity of a pair on a GPU, as arrays of the library that the method uses."""
    disparity = Maps(method, left, right, disparities).disparity
    with device_of(disparity):
        invalid = ~(abs(disparity) < np.inf)
        disparity[invalid] = np.nan
        return {"disparity": disparity, "validity": invalid.astype("uint8") * np.uint8(validity.no_candidate)}


def device_of(array: Array) -> contextlib.AbstractContextManager[Any]:
    """Returns a context in which the array's GPU is the current one."""
    device: Any = getattr(array, "device", None)
    return device if hasattr(device, "__enter__") else contextlib.nullcontext()


def seen(image: Array, colour: str, bit_depth: int) -> Array:
    """Returns an image as methods see it: RGB or grey, uint8 or float32 from 0 to 255."""
    orders: dict[str, slice] = {"rgb": slice(None), "bgr": slice(None, None, -1), "rgba": slice(3), "bgra": slice(2, None, -1)}
    if colour not in orders:
        raise UnsupportedError(f"methods from outside the library read RGB images, and color='{colour}' is not converted; pass RGB images")
    chosen = image if len(image.shape) == 2 else image[..., orders[colour]]
    if str(chosen.dtype) != "uint16":
        return chosen
    return chosen.astype("float32") / np.float32(2 ** ((bit_depth or 16) - 8))


def grey(image: Array) -> Array:
    """Returns the image in grey, (h, w), with the weights and the rounding of the library."""
    if len(image.shape) == 2:
        return image
    if str(image.dtype) == "uint8":
        red, green, blue = (image[..., k].astype("int32") for k in range(3))
        return ((19595 * red + 38470 * green + 7471 * blue + 32768) >> 16).astype("uint8")
    return (image[..., 0] * np.float32(0.299) + image[..., 1] * np.float32(0.587) + image[..., 2] * np.float32(0.114)).astype("float32")
