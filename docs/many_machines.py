"""A simulation on paper: how long an exact job takes on many machines. python docs/many_machines.py

The speed of a machine is either measured (per core, docs/how-to/many-machines.md) or assumed. A comment beside each
number says which.
"""

import math

WIDTH, HEIGHT, DISPARITIES = 131072, 131072, 128
CORES = 16  # cores of a machine
SWEEP, MATCH, REFINE = 24, 7.1, 10.5  # MP/s of a core: one sweep, matching, all refinements, each with its files; measured
OVERHEAD = 0.1  # seconds that a unit costs an engine with standing workers; measured with Dask, on a busy machine
MAP_BYTES = 2.1  # a pixel, of each of three stages of maps; measured
PATH_SHARE = 0.5  # stored share of the bytes of path costs: one byte of two
STORAGE = 5e9  # bytes a second that all machines have together; assumed
STRIPE = 382  # rows, under 4 GiB
COLLAR = 164 + 36  # columns that a sweep's tile reads beside its own

MEGAPIXELS = WIDTH * HEIGHT / 1e6
STRIPES = math.ceil(HEIGHT / STRIPE)


def sweeps(machines, tile):
    """Down and up, in tiles of columns, whose bands follow one another."""
    columns = math.ceil(WIDTH / tile)
    unit = STRIPE * (tile + COLLAR) / 1e6 / (SWEEP * CORES) + OVERHEAD
    return max(STRIPES * unit, 2 * columns * STRIPES * unit / machines)


def stripes(machines, rate):
    """Returns the seconds of all stripes, each of which is matched on one machine."""
    unit = STRIPE * WIDTH / 1e6 / (rate * CORES) + OVERHEAD
    return math.ceil(STRIPES / machines) * unit


def storage():
    images = 2 * MEGAPIXELS * 1e6 * 1.5  # sweeps and stripes read them
    paths = 2 * 2 * STRIPES * WIDTH * DISPARITIES * 2 * PATH_SHARE  # written and read
    maps = 2 * 3 * MEGAPIXELS * 1e6 * MAP_BYTES * 1.5  # likewise, and by neighbours
    return (images + paths + maps) / STORAGE


def main():
    print(f"{WIDTH}×{HEIGHT}×{DISPARITIES}, {STRIPES} stripes, machines of {CORES} cores")
    print("| machines | sweeps, s | stripes, s | refinements, s | storage, s | all, s | times as fast as one |")
    print("|---|---|---|---|---|---|---|")
    for machines in (1, 10, 30, 100, 300, 1000):
        times = min(sweeps(machines, tile) for tile in (800, 1600, 3200, 6400, 12800, 32768, WIDTH)), stripes(machines, MATCH), stripes(machines, REFINE)
        whole = max(sum(times), storage())
        if machines == 1:
            alone = whole
        shown = " | ".join(f"{seconds:.0f}" for seconds in (*times, storage(), whole))
        print(f"| {machines} | {shown} | {alone / whole:.0f} |")


if __name__ == "__main__":
    main()
