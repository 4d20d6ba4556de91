"""Finds the nearest measured disparities above and below stripes, for fills that need only these values from other stripes.

A stripe has complete rows. `edges_of` returns the first and the last measured disparities of a stripe, and `carried` finds the nearest ones
for each stripe from those of all stripes. Two rows with these disparities, one above and one below the stripe, replace the rows in between.
"""

import numpy as np

from .. import validity
from .rasters import Array


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
