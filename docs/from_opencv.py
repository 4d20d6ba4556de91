#!/usr/bin/env python3
"""Compares OpenCV's StereoSGBM, as pip installs it, with st.cv2 on scenes with ground truth: time and errors.

    docs/from_opencv.py DIR [--scenes N] [--modes HH,HH4] [--json FILE]   (needs opencv-python-headless and the package stereopsis)

Times are processor time with one thread of each, and wall-clock time with two threads of each. FILE keeps the modes of earlier calls.

Both have the same arguments, on grey images. The columns that OpenCV leaves out do not count. Errors are shares of non-occluded pixels that are off by more
than one pixel: of all pixels after holes are filled by one rule, of the pixels that each found, and of those that both found.
"""

import argparse
import json
import pathlib
import time

import cv2
import numpy as np
import stereopsis as st

RUNS = 2
THREADS = 2
MODES = {"SGBM_3WAY": 2, "SGBM": 0, "HH4": 3, "HH": 1}
ARGUMENTS = {"minDisparity": 0, "disp12MaxDiff": 1, "uniquenessRatio": 10, "speckleWindowSize": 100, "speckleRange": 32}
COST = {"blockSize": 3, "P1": 72, "P2": 288, "preFilterCap": 63}  # parameters of OpenCV's own cost


def grey(image):
    if image.dtype != np.uint8:
        image = (image >> 8).astype(np.uint8)
    return image if image.ndim == 2 else cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)


def scenes(folder):
    for about in sorted(pathlib.Path(folder).rglob("dataset.json")):
        told = json.loads(about.read_text())
        if "ndisp" in told and "gt" in told and (about.parent / told.get("left", "left.png")).is_file():
            yield about.parent, told


def filled(disparity):
    """Fills each run of holes in a row with the smaller of its neighbours."""
    out = disparity.copy()
    for row in out:
        there = np.flatnonzero(np.isfinite(row))
        if not len(there):
            row[:] = 0
            continue
        place = np.searchsorted(there, np.arange(len(row)), side="right") - 1
        left, right = row[there[np.clip(place, 0, None)]], row[there[np.clip(place + 1, None, len(there) - 1)]]
        hole = ~np.isfinite(row)
        row[hole] = np.minimum(np.where(place < 0, right, left), right)[hole]
    return out


def pixels(found):
    return np.where(found < 0, np.nan, found / 16.0).astype(np.float32)


def best_times(matchers, pair, clock, threads):
    """Returns the least time of each matcher's runs, in seconds. The matchers run by turns, after one warm-up run."""
    cv2.setNumThreads(threads)
    best = {name: np.inf for name in matchers}
    for run in range(RUNS + 1):
        for name, matcher in matchers.items():
            began = clock()
            matcher.compute(*pair)
            if run:
                best[name] = min(best[name], clock() - began)
    return best


class Ours:
    """The matcher of st.cv2 with a number of threads."""

    def __init__(self, mode, disparities, threads):
        self.matcher = st.cv2.StereoSGBM_create(numDisparities=disparities, mode=mode, device="cpu", **ARGUMENTS)
        self.matcher._grey = st.Matcher(pipeline=self.matcher._grey.pipeline, disparities=(0, disparities), device="cpu", threads=threads)

    def compute(self, left, right):
        return self.matcher.compute(left, right)


def measure(folder, about, mode):
    left, right = (grey(st.read_image(folder / about.get(name, f"{name}.png"))) for name in ("left", "right"))
    truth = st.read_disparity(folder / about["gt"], about.get("gt_scale", 0))
    disparities = -(-about["ndisp"] // 16) * 16
    matchers = {"opencv": cv2.StereoSGBM_create(numDisparities=disparities, mode=mode, **ARGUMENTS, **COST), "here": Ours(mode, disparities, 1)}
    theirs, ours = (pixels(one.compute(left, right)) for one in matchers.values())
    processor = best_times(matchers, (left, right), time.process_time, 1)
    wall = best_times({**matchers, "here": Ours(mode, disparities, THREADS)}, (left, right), time.perf_counter, THREADS)
    known = np.isfinite(truth)
    known[:, :disparities] = False
    mask = folder / "mask_nonocc.png"
    if mask.exists():
        known &= st.read_image(mask) == 255
    maps = {"opencv": theirs, "here": ours}
    found = {name: known & np.isfinite(map_) for name, map_ in maps.items()}
    common = found["opencv"] & found["here"]

    def bad(map_, where):
        return 100 * float(np.mean(~(np.abs(map_ - truth)[where] <= 1)))

    return {
        name: {"seconds": processor[name], "wall": wall[name], "found": 100 * found[name].sum() / known.sum(), "all": bad(filled(map_), known), "own": bad(map_, found[name]), "common": bad(map_, common)}
        for name, map_ in maps.items()
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--scenes", type=int, default=0, help="number of scenes, spread over the folder [all]")
    parser.add_argument("--modes", default=",".join(MODES), help="modes with commas [all]")
    parser.add_argument("--json", type=pathlib.Path)
    given = parser.parse_args()
    chosen = list(scenes(given.folder))
    if given.scenes:
        chosen = [chosen[i * len(chosen) // given.scenes] for i in range(given.scenes)]
    results = json.loads(given.json.read_text())["modes"] if given.json and given.json.exists() else {}
    print(f"OpenCV {cv2.__version__}, {len(chosen)} scenes")
    for mode in given.modes.split(","):
        each = [measure(folder, about, MODES[mode]) for folder, about in chosen]
        mean = {who: {key: float(np.mean([one[who][key] for one in each])) for key in each[0][who]} for who in ("opencv", "here")}
        mean["times as fast per core"] = mean["opencv"]["seconds"] / mean["here"]["seconds"]
        mean["times as fast"] = mean["opencv"]["wall"] / mean["here"]["wall"]
        results[mode] = mean
        print(mode, json.dumps(mean), flush=True)
    if given.json:
        given.json.write_text(json.dumps({"opencv": cv2.__version__, "scenes": ["/".join(folder.parts[-2:]) for folder, _ in chosen], "modes": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
