#!/usr/bin/env python3
"""Compares OpenCV's StereoSGBM, as pip installs it, with st.cv2 on scenes with ground truth: processor time of one core, and errors.

    docs/from_opencv.py DIR [--scenes N] [--json FILE]     (needs opencv-python-headless and the package stereopsis)

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


def timed(matcher, left, right):
    """Returns the result and the least processor time of the runs, in seconds, after one warm-up run."""
    matcher.compute(left, right)
    best = np.inf
    for _ in range(RUNS):
        began = time.process_time()
        found = matcher.compute(left, right)
        best = min(best, time.process_time() - began)
    return np.where(found < 0, np.nan, found / 16.0).astype(np.float32), best


class Ours:
    """The matcher of st.cv2 on one thread."""

    def __init__(self, mode, disparities):
        self.matcher = st.cv2.StereoSGBM_create(numDisparities=disparities, mode=mode, device="cpu", **ARGUMENTS)
        self.matcher._grey = st.Matcher(pipeline=self.matcher._grey.pipeline, disparities=(0, disparities), device="cpu", threads=1)

    def compute(self, left, right):
        return self.matcher.compute(left, right)


def measure(folder, about, mode):
    left, right = (grey(st.read_image(folder / about.get(name, f"{name}.png"))) for name in ("left", "right"))
    truth = st.read_disparity(folder / about["gt"], about.get("gt_scale", 0))
    disparities = -(-about["ndisp"] // 16) * 16
    theirs, their_time = timed(cv2.StereoSGBM_create(numDisparities=disparities, mode=mode, **ARGUMENTS, **COST), left, right)
    ours, our_time = timed(Ours(mode, disparities), left, right)
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
        name: {"seconds": seconds, "found": 100 * found[name].sum() / known.sum(), "all": bad(filled(map_), known), "own": bad(map_, found[name]), "common": bad(map_, common)}
        for (name, map_), seconds in zip(maps.items(), (their_time, our_time))
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--scenes", type=int, default=0, help="number of scenes, spread over the folder [all]")
    parser.add_argument("--json", type=pathlib.Path)
    given = parser.parse_args()
    cv2.setNumThreads(1)
    chosen = list(scenes(given.folder))
    if given.scenes:
        chosen = [chosen[i * len(chosen) // given.scenes] for i in range(given.scenes)]
    results = {}
    print(f"OpenCV {cv2.__version__}, {len(chosen)} scenes")
    for mode, number in MODES.items():
        each = [measure(folder, about, number) for folder, about in chosen]
        mean = {who: {key: float(np.mean([one[who][key] for one in each])) for key in each[0][who]} for who in ("opencv", "here")}
        mean["times as fast per core"] = mean["opencv"]["seconds"] / mean["here"]["seconds"]
        results[mode] = mean
        print(mode, json.dumps(mean), flush=True)
    if given.json:
        given.json.write_text(json.dumps({"opencv": cv2.__version__, "scenes": ["/".join(folder.parts[-2:]) for folder, _ in chosen], "modes": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
