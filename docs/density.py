#!/usr/bin/env python3
"""Measures how many pixels a method measures and how many of them are wrong, with and without density.stage=remeasure, beside OpenCV.

    docs/density.py --stereopsis build/release/bin/stereopsis DATA… [--methods sgm,zncc] [--device cpu]

Each DATA has folders DATASET/SCENE with a dataset.json. Writes docs/measured/density.json. Roads are the datasets whose names begin with
"kitti": all pixels with known truth count there, and a pixel is wrong if its disparity is off by more than 3 pixels. On other datasets,
pixels that only the left view sees do not count, and a pixel is wrong from 1 pixel on. Scenes have equal weight. `common_wrong` counts the
pixels that the method and OpenCV's 3WAY both measure. OpenCV has the parameters of `stereopsis bench --peers`, and sees images that were
padded on the left, because it leaves out columns there.
"""

import json
import subprocess
import tempfile
from pathlib import Path

import cv2
import numpy as np
from PIL import Image
from reliability import DOCS, options_of, truth_of

MODES = {"OpenCV 3WAY": cv2.STEREO_SGBM_MODE_SGBM_3WAY, "OpenCV HH": cv2.STEREO_SGBM_MODE_HH}


def matched(folder, about, method, density, options):
    """Returns the disparity, NaN for pixels that were not measured."""
    with tempfile.TemporaryDirectory() as made:
        disparity, validity = Path(made) / "d.npy", Path(made) / "v.png"
        files = [folder / about["left"], folder / about["right"], "-o", disparity, "--validity", validity]
        settings = ["--disparities", about["ndisp"], "--method", method, "--set", f"density.stage={density}", "--device", options.device]
        subprocess.run([options.stereopsis, "match", *map(str, files + settings), "--quiet"], check=True)
        return np.where(np.asarray(Image.open(validity)) == 0, np.load(disparity), np.nan)


def matched_by_opencv(folder, about, mode):
    left, right = (cv2.imread(str(folder / about[side]), cv2.IMREAD_UNCHANGED) for side in ("left", "right"))
    count = -(-about["ndisp"] // 16) * 16
    matcher = cv2.StereoSGBM_create(0, count, 3, 8 * 9, 32 * 9, 1, 0, 10, 100, 32, mode)
    pad = [cv2.copyMakeBorder(image, 0, 0, count, 0, cv2.BORDER_REPLICATE) for image in (left, right)]
    found = matcher.compute(*pad)[:, count:].astype(np.float32) / 16
    return np.where(found < 0, np.nan, found)


def scores(found, reference, truth, counted, limit):
    measured, wrong = np.isfinite(found) & counted, ~(np.abs(found - truth) <= limit)
    both = measured & np.isfinite(reference)
    return [measured.sum() / counted.sum(), wrong[measured].mean(), wrong[both].mean()]


def scene(folder, options):
    about = json.loads((folder / "dataset.json").read_text())
    truth, counted = truth_of(folder, about)
    road = folder.parent.name.startswith("kitti")
    if not road and (folder / "mask_nonocc.png").exists():
        counted = counted & (np.asarray(Image.open(folder / "mask_nonocc.png")) == 255)
    maps = {name: matched_by_opencv(folder, about, mode) for name, mode in MODES.items()}
    for method in options.methods.split(","):
        for density in ("none", "remeasure"):
            maps[method if density == "none" else f"{method}, {density}"] = matched(folder, about, method, density, options)
    limit = 3 if road else 1
    return road, {name: scores(found, maps["OpenCV 3WAY"], truth, counted, limit) for name, found in maps.items()}


def main():
    options = options_of(__doc__, "+", "sgm,balanced,sgm-learned,zncc")
    scenes = [scene(file.parent, options) for data in options.data for file in sorted(Path(data).glob("*/*/dataset.json"))]
    table = {}
    for kind, is_road in (("indoor", False), ("road", True)):
        rows = [found for road, found in scenes if road == is_road]
        for name in rows[0] if rows else ():
            means = np.mean([row[name] for row in rows], 0).round(4).tolist()
            table.setdefault(name, {})[kind] = dict(zip(("measured", "wrong", "common_wrong"), means, strict=True), scenes=len(rows))
    (DOCS / "measured/density.json").write_text(json.dumps({"opencv": cv2.__version__, "maps": table}, indent=1) + "\n")
    for name, found in table.items():
        print(f"{name:24}", "   ".join(f"{kind} " + " ".join(f"{100 * v:.1f}" for v in list(row.values())[:3]) for kind, row in found.items()))


if __name__ == "__main__":
    main()
