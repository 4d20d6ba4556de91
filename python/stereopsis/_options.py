"""Checks the types of options before they reach the compiled library. A wrong type raises an error of one sentence."""

import operator
import os
import reprlib
from typing import Any, TypeVar

import numpy as np

from ._errors import CallError

T = TypeVar("T")
MOST = 2**31 - 1
EXTERNAL = ("onnx:", "program:")  # beginnings of the names of methods from outside the library
# The pixel formats of stereopsis/formats.hpp.
COLORS = ("rgb", "bgr", "rgba", "bgra", "nv12", "bayer_rggb", "bayer_bggr", "bayer_grbg", "bayer_gbrg")


_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 100


def shown(value: object) -> str:
    """Returns a value as it is written in Python, in one line, and shortened if it is long."""
    return " ".join(_SHORT.repr(value).split())


def is_external(method: object) -> bool:
    """Returns whether the method is a function, or a text that names a network or a program."""
    return method.startswith(EXTERNAL) if isinstance(method, str) else callable(method)


def integer(name: str, value: Any, low: int = -MOST, high: int = MOST) -> int:
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except Exception:  # arrays and tensors raise their own
        number = None
    if number is None or not low <= number <= high:
        raise CallError(f"{name}={shown(value)} is not allowed; it must be an integer from {low} to {high}")
    return number


def flag(name: str, value: Any) -> bool:
    try:
        return bool(value)
    except Exception:  # arrays and tensors raise their own
        raise CallError(f"{name}={shown(value)} is not allowed; it must be True or False") from None


def number(name: str, value: Any) -> float:
    try:
        return float(value)
    except Exception:  # arrays and tensors raise their own
        raise CallError(f"{name}={shown(value)} is not allowed; it must be a number") from None


def text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise CallError(f"{name}={shown(value)} is not allowed; it must be a str")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise CallError(f"{name}={shown(value)} is not allowed; it contains an unpaired surrogate, which is not a character") from None
    if "\0" in value:
        raise CallError(f"{name}={shown(value)} is not allowed; it must not contain the character NUL")
    return value


def mapping(name: str, value: Any, how: str) -> dict[Any, Any]:
    try:
        return dict(value)
    except (TypeError, ValueError):
        raise CallError(f"{name}={shown(value)} is not allowed; give {how}") from None


def one_of(name: str, value: Any, *allowed: str) -> str:
    if not isinstance(value, str) or value not in allowed:
        raise CallError(f"{name}={shown(value)} is not allowed; it must be {' or '.join(map(repr, allowed))}")
    return value


def color(color: Any, colour: Any) -> str:
    """Returns the layout of images, given by the keyword `color` or by its alias `colour`."""
    return one_of("color", color if colour is None else colour, *COLORS)


def image(name: str, value: Any) -> Any:
    """Returns an image as an array. Images of Pillow are converted as st.read_image() reads files: palettes are expanded, and alpha is dropped.
    Rejects the name of a file in place of an image.
    """
    if isinstance(value, (str, os.PathLike)):
        raise CallError(f"{name}={shown(os.fspath(value))} is the name of a file, and an image is required; read it with st.read_image({shown(os.fspath(value))})")
    if not type(value).__module__.startswith("PIL."):
        return value
    grey = {"1": "L", "LA": "L", "La": "L"}
    kept = ("L", "RGB", "F") if not value.mode.startswith("I") else (value.mode,)
    return np.asarray(value if value.mode in kept else value.convert(grey.get(value.mode, "RGB")))


def instance(name: str, value: Any, kind: type[T], how: str) -> T | None:
    if value is not None and not isinstance(value, kind):
        raise CallError(f"{name}={shown(value)} is not allowed; give {how}")
    return value


def integers(name: str, value: Any, count: int, meaning: str) -> tuple[int, ...]:
    try:
        numbers = tuple(integer(name, one) for one in value)
    except (TypeError, CallError):
        numbers = ()
    if len(numbers) != count:
        raise CallError(f"{name}={shown(value)} is not allowed; it must be {meaning}, in integers")
    return numbers


def names(name: str, value: Any) -> list[str]:
    members = [value] if isinstance(value, str) else listed(value)
    if not all(isinstance(one, str) for one in members):
        raise CallError(f"{name}={shown(value)} is not allowed; it must be a list of names")
    return [text(name, one) for one in members]


def pixels(name: str, value: Any) -> list[tuple[int, int]]:
    found = []
    for pixel in listed(value):
        x, y = integers(name, pixel, 2, "a list of pixels (x, y) of the left image")
        found.append((x, y))
    return found


def listed(value: Any) -> list[Any]:
    """Returns the members of a value. A value without members, such as an array without dimensions, results in [None], which no option
    allows.
    """
    try:
        return list(value)
    except TypeError:
        return [None]
