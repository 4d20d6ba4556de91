"""Finds the input that a fill of a stripe needs from other stripes, because a fill searches rows and columns for measured pixels at any
distance.

A stripe has complete rows. In a column without a measured pixel, a fill needs the nearest measured disparities above and below the stripe.
`edges_of` returns the first and the last measured disparities of a stripe, and `carried` finds the nearest ones for each stripe from those
of all stripes. Two rows with these disparities, one above and one below the stripe, replace the rows in between. If distances count (mode
nearest), or if whole rows have no measured pixel, more rows are read instead. `ends` returns whether the rows that were read are enough.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import validity
from .rasters import Array
from .spans import Span

LOOKS_ALONG_COLUMNS = "second_lowest"  # the mode that needs only values, not distances
NOT_FILLED = validity.masked | validity.outside


def split(refined: str) -> tuple[str, str, str]:
    """Splits a pipeline at its fill. Returns the refinements before the fill, the fill with all later refinements, and the mode of the
    fill. The two parts are JSON.
    """
    pipeline: dict[str, Any] = json.loads(refined)
    steps = pipeline["refinements"]
    at = next(i for i, step in enumerate(steps) if step["stage"] == "fill" and step["enabled"])
    parts = ({**pipeline, "refinements": part} for part in (steps[:at], steps[at:]))
    before, behind = (json.dumps(part) for part in parts)
    return before, behind, steps[at]["mode"]


def edges_of(disparity: Array) -> Array:
    """Returns (2, columns): the first and the last measured disparity in each column; NaN if there is none."""
    return np.stack([_first(disparity), _first(disparity[::-1])])


def _first(disparity: Array) -> Array:
    """Returns the first measured disparity in each column. Searches row by row, and skips columns with a value. After a few rows, most
    columns have a value.
    """
    found = np.full(disparity.shape[1], np.nan, np.float32)
    columns = np.arange(disparity.shape[1])
    for row in disparity:
        here = row[columns]
        measured = np.isfinite(here)
        found[columns[measured]] = here[measured]
        columns = columns[~measured]
        if columns.size == 0:
            break
    return found


def carried(edges: list[Array]) -> Array:
    """Returns an array (2 · stripes, columns) from the edges of all stripes. For each stripe, one row has the nearest measured values above
    the stripe, and the next row the values below it.
    """
    made = np.full((2 * len(edges), edges[0].shape[1]), np.nan, np.float32)
    for k in range(1, len(edges)):
        made[2 * k] = last_of(made[2 * k - 2], edges[k - 1][1])
        j = len(edges) - 1 - k
        made[2 * j + 1] = last_of(made[2 * j + 3], edges[j + 1][0])
    return made


def last_of(far: Array, near: Array) -> Array:
    """Returns `near` where it is finite, and `far` elsewhere."""
    return np.where(np.isfinite(near), near, far)


def put(maps: dict[str, Array], row: int, values: Array) -> None:
    """Writes values to a row of the maps. Pixels without a value are masked, so that the fill does not change them."""
    maps["disparity"][row] = values
    maps["validity"][row] = np.where(np.isfinite(values), 0, validity.masked)


def ends(mode: str, maps: dict[str, Array], own: Span, exact: Span, height: int) -> bool:
    """Returns whether `exact`, the rows of the maps, contains every existing pixel that a fill of the rows `own` looks for."""
    measured = np.isfinite(maps["disparity"])
    looks = ~measured & ((maps["validity"] & NOT_FILLED) == 0)
    looks[: own.first - exact.first] = looks[own.end - exact.first :] = False
    if mode == "nearest" and not _nearest_ends(looks, measured, exact, height):
        return False
    return _rows_end(looks, measured, exact, height)


def _rows_end(looks: npt.NDArray[np.bool_], measured: npt.NDArray[np.bool_], exact: Span, height: int) -> bool:
    """Returns whether the rows are enough if a row has no measured pixel. A fill then uses the next row above that has a measured pixel,
    else the next such row below.
    """
    lost = np.flatnonzero(looks.any(axis=1) & ~measured.any(axis=1))
    if lost.size == 0 or measured[: lost[0]].any():
        return True
    return exact.first == 0 and (exact.end == height or bool(measured[lost[-1] :].any()))


def _nearest_ends(looks: npt.NDArray[np.bool_], measured: npt.NDArray[np.bool_], exact: Span, height: int) -> bool:
    """Returns whether the rows are enough for a fill with the nearest pixel. Rows farther away than the neighbour in the pixel's own row do
    not matter.
    """
    rows = np.arange(looks.shape[0])[:, None]
    along = np.minimum(_steps(measured), _steps(measured[:, ::-1])[:, ::-1])
    above = np.maximum.accumulate(measured, axis=0) | (along <= rows + 1) | (exact.first == 0)
    below = np.maximum.accumulate(measured[::-1], axis=0)[::-1] | (along <= looks.shape[0] - rows) | (exact.end == height)
    return bool((~looks | (above & below)).all())


def _steps(measured: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """Returns the number of columns to the nearest measured pixel on the left, or a large number if there is no such pixel."""
    columns = np.arange(measured.shape[1])
    return columns - np.maximum.accumulate(np.where(measured, columns, np.int64(-(2**40))), axis=1)
