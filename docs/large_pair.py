"""Writes a rectified pair of any size with known disparity, piece by piece: python docs/large_pair.py FOLDER --width 32768 --height 32768

Every pixel depends on its position alone, so that pieces may be made in any order, and again. It is to be fast and to need matching, no more:
`stereopsis synth` makes scenes that look like some.
"""

import argparse
import multiprocessing
import threading
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import rasterio
from rasterio.windows import Window

BLOCK = 512
CELL = 384  # pixels of a plateau
NOISE = 4  # grey values by which the left image differs
rng = np.random.default_rng(30)
# Periods without common factors: together they repeat after a million pixels.
TEXTURES = [rng.integers(0, 128, shape, np.uint8) for shape in ((1021, 1019), (727, 733))]
GRAIN = rng.integers(0, NOISE, (769, 773), np.uint8)
PLATEAUS = rng.random((61, 67))


def periodic(table, rows, columns):
    return table[np.arange(*rows) % table.shape[0]][:, np.arange(*columns) % table.shape[1]]


def texture(rows, columns):
    return sum(periodic(table, rows, columns) for table in TEXTURES)


def disparity(rows, columns, disparities):
    """Returns disparities from 0 to below `disparities`: hills, and plateaus with edges."""
    y, x = np.arange(*rows), np.arange(*columns)
    hills = (np.sin(y / 1700.0)[:, None] + np.cos(x / 2300.0)[None, :]).astype(np.float32) * (disparities / 12)
    cells = PLATEAUS[(y // CELL) % len(PLATEAUS)][:, (x // CELL) % PLATEAUS.shape[1]].astype(np.float32) * (disparities / 2)
    return (hills + cells + disparities / 5).astype(np.int32)


def pair(rows, columns, disparities):
    """Left and right image of these rows and columns, (first, end) both."""
    wide = texture(rows, (columns[0] - disparities, columns[1]))
    d = disparity(rows, columns, disparities)
    height, width = d.shape
    place = np.arange(height, dtype=np.int64)[:, None] * wide.shape[1] + np.arange(disparities, disparities + width)[None, :]
    left = wide.ravel().take(place - d) + periodic(GRAIN, rows, columns)
    return left, np.ascontiguousarray(wide[:, disparities:])


def pieces(width, height):
    """Rows and columns of each."""
    for y in range(0, height, BLOCK):
        for x in range(0, width, 8 * BLOCK):
            yield (y, min(y + BLOCK, height)), (x, min(x + 8 * BLOCK, width))


def piece(disparities, place):
    return *place, pair(*place, disparities)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--width", type=int, default=8192)
    parser.add_argument("--height", type=int, default=8192)
    parser.add_argument("--disparities", type=int, default=128)
    parser.add_argument("--workers", type=int, default=1)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    how = {"driver": "GTiff", "count": 1, "dtype": "uint8", "tiled": True, "blockxsize": BLOCK, "blockysize": BLOCK, "bigtiff": "if_safer"}
    warnings.simplefilter("ignore", rasterio.errors.NotGeoreferencedWarning)
    begin = time.monotonic()
    files = [rasterio.open(arguments.folder / f"{side}.tif", "w", width=arguments.width, height=arguments.height, **how) for side in ("left", "right")]
    room = threading.Semaphore(4 * arguments.workers)  # for pieces that are made before they can be written
    places = (place for place in pieces(arguments.width, arguments.height) if room.acquire())
    with multiprocessing.get_context("spawn").Pool(arguments.workers) as pool:
        for rows, columns, images in pool.imap(partial(piece, arguments.disparities), places):
            room.release()
            for file, image in zip(files, images, strict=True):
                file.write(image, 1, window=Window(columns[0], rows[0], columns[1] - columns[0], rows[1] - rows[0]))
    for file in files:
        file.close()
    seconds = time.monotonic() - begin
    print(f"{arguments.width * arguments.height / seconds / 1e6:.1f} MP/s")


if __name__ == "__main__":
    main()
