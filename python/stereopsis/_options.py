"""Options as Python gives them, checked before the library sees them: one sentence where one is of the wrong kind."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any, TypeVar

from ._errors import CallError

T = TypeVar("T")
MOST = 2**31 - 1
# How the colours of images may lie: stereopsis/formats.hpp.
COLOURS = ("rgb", "bgr", "rgba", "bgra", "nv12", "bayer_rggb", "bayer_bggr", "bayer_grbg", "bayer_gbrg")


def integer(name: str, value: Any, low: int = -MOST, high: int = MOST) -> int:
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = None
    if number is None or not low <= number <= high:
        raise CallError(f"{name}={value!r} is not allowed; it must be an integer from {low} to {high}")
    return number


def number(name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise CallError(f"{name}={value!r} is not allowed; it must be a number") from None


def text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise CallError(f"{name}={value!r} is not allowed; it must be a text")
    return value


def one_of(name: str, value: Any, *allowed: str) -> str:
    if not isinstance(value, str) or value not in allowed:
        raise CallError(f"{name}={value!r} is not allowed; it must be {' or '.join(map(repr, allowed))}")
    return value


def instance(name: str, value: Any, kind: type[T], how: str) -> T | None:
    if value is not None and not isinstance(value, kind):
        raise CallError(f"{name}={value!r} is not allowed; give {how}")
    return value


def integers(name: str, value: Any, count: int, meaning: str) -> tuple[int, ...]:
    try:
        numbers = tuple(integer(name, one) for one in value)
    except (TypeError, CallError):
        numbers = ()
    if len(numbers) != count:
        raise CallError(f"{name}={value!r} is not allowed; it must be {meaning}, in integers")
    return numbers


def names(name: str, value: Any) -> list[str]:
    listed: list[Any] = [value] if isinstance(value, str) else list(value) if isinstance(value, Iterable) else [None]
    if not all(isinstance(one, str) for one in listed):
        raise CallError(f"{name}={value!r} is not allowed; it must be a list of names")
    return listed


def pixels(name: str, value: Any) -> list[tuple[int, int]]:
    found = []
    for pixel in value if isinstance(value, Iterable) else [value]:
        x, y = integers(name, pixel, 2, "a list of pixels (x, y) of the left image")
        found.append((x, y))
    return found
