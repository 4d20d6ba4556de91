#!/usr/bin/env python3
"""Measures how well the confidence predicts the share of good pixels, and draws a reliability diagram of each dataset.

    docs/reliability.py --stereopsis build/release/bin/stereopsis DATA… [--methods sgm,zncc] [--device cpu]

Each DATA has folders DATASET/SCENE with a dataset.json, as `stereopsis evaluate --dataset` reads them. Writes
docs/measured/reliability.json and docs/images/reliability.svg; without DATA, draws what the JSON file holds. A pixel is good if its
disparity is within 1 pixel of the truth; pixels without known truth do not count, and scenes have equal weight.
"""

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

DOCS = Path(__file__).resolve().parent
BINS = 10
PANEL, GAP, TOP, LEFT = 190, 52, 46, 48
OURS, GREY, INK, PAPER = "#0b62c4", "#c9ced6", "#24292f", "#ffffff"


def pfm(file):
    with open(file, "rb") as f:
        assert f.readline().strip() == b"Pf"
        width, height = map(int, f.readline().split())
        kind = "<f4" if float(f.readline()) < 0 else ">f4"
        return np.flipud(np.frombuffer(f.read(), kind).reshape(height, width))


def truth_of(folder, about):
    """Returns the true disparity, and which pixels have one."""
    file = folder / about["gt"]
    if file.suffix == ".pfm":
        truth = pfm(file)
        known = np.isfinite(truth)
    else:
        stored = np.asarray(Image.open(file)).astype(np.float32)
        truth, known = stored / about["gt_scale"], stored > 0
    mask = folder / "mask_all.png"
    return truth, known & (np.asarray(Image.open(mask)) == 255) if mask.exists() else known


def counts(folder, about, method, options):
    """Returns, by bin of the confidence, the shares of pixels, their mean confidence and the share of good ones, as sums."""
    with tempfile.TemporaryDirectory() as made:
        disparity, confidence = Path(made) / "d.npy", Path(made) / "c.npy"
        files = [folder / about["left"], folder / about["right"], "-o", disparity, "--confidence", confidence]
        settings = ["--disparities", about["ndisp"], "--method", method, "--device", options.device, "--quiet"]
        subprocess.run([options.stereopsis, "match", *map(str, files + settings)], check=True)
        d, c = np.load(disparity), np.load(confidence)
    truth, known = truth_of(folder, about)
    c, good = c[known], np.abs(d - truth)[known] <= 1
    bins = np.minimum((c * BINS).astype(int), BINS - 1)
    return np.stack([np.bincount(bins, weights, BINS) / len(c) for weights in (None, c, good)])


def measure(options):
    sums = {}
    for data in options.data:
        for file in sorted(Path(data).glob("*/*/dataset.json")):
            for method in options.methods.split(","):
                dataset = sums.setdefault(file.parent.parent.name, np.zeros((3, BINS)))
                dataset += counts(file.parent, json.loads(file.read_text()), method, options)
    found = {}
    for dataset, (count, confidence, good) in sorted(sums.items()):
        error = float(np.abs(good - confidence).sum() / count.sum())
        curve = np.stack([confidence, good]) / np.maximum(count, 1e-12)
        found[dataset] = {
            "calibration_error": round(error, 3), "share": (count / count.sum()).round(4).tolist(),
            "confidence": curve[0].round(4).tolist(), "good": curve[1].round(4).tolist(),
        }  # fmt: skip
    return {"methods": options.methods, "datasets": found}


def panel(x, y, name, found):
    at = lambda confidence, good: (x + PANEL * confidence, y + PANEL * (1 - good))
    svg = [f'<text x="{x}" y="{y - 10}" font-weight="bold" fill="{INK}">{name}</text>']
    for i, share in enumerate(found["share"]):
        svg.append(f'<rect x="{x + PANEL * i / BINS:.1f}" y="{y + PANEL * (1 - share):.1f}" width="{PANEL / BINS - 1:.1f}" '
                   f'height="{PANEL * share:.1f}" fill="{GREY}"/>')  # fmt: skip
    svg.append(f'<rect x="{x}" y="{y}" width="{PANEL}" height="{PANEL}" fill="none" stroke="{INK}"/>')
    svg.append(f'<path d="M{x} {y + PANEL}L{x + PANEL} {y}" stroke="{INK}" stroke-dasharray="4 4"/>')
    points = [at(c, g) for c, g, s in zip(found["confidence"], found["good"], found["share"]) if s > 0.001]
    svg.append(f'<path d="M{"L".join(f"{a:.1f} {b:.1f}" for a, b in points)}" fill="none" stroke="{OURS}" stroke-width="2"/>')
    svg += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3.5" fill="{OURS}"/>' for a, b in points]
    for value in (0, 0.5, 1):
        a, b = at(value, value)
        svg.append(f'<text x="{a:.0f}" y="{y + PANEL + 16}" text-anchor="middle" fill="{INK}">{value:g}</text>')
        svg.append(f'<text x="{x - 6}" y="{b + 4:.0f}" text-anchor="end" fill="{INK}">{value:g}</text>')
    return svg


def draw(measured):
    datasets = measured["datasets"]
    across = min(3, len(datasets))
    down = -(-len(datasets) // across)
    width, height = LEFT + across * (PANEL + GAP), TOP + down * (PANEL + GAP + 14) + 8
    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
           f'font-family="Helvetica, Arial, sans-serif" font-size="12"><rect width="{width}" height="{height}" fill="{PAPER}"/>']  # fmt: skip
    for i, (name, found) in enumerate(datasets.items()):
        svg += panel(LEFT + i % across * (PANEL + GAP), TOP + i // across * (PANEL + GAP + 14), f"{name}: {found['calibration_error']}", found)
    caption = "across: confidence; up: share of pixels within 1 pixel of the truth (blue), and of all pixels (grey)"
    svg.append(f'<text x="{LEFT}" y="{height - 10}" fill="{INK}">{caption}</text>')
    return "\n".join([*svg, "</svg>", ""])


def options_of(description, data, methods):
    """Returns the options of a script that matches the scenes of folders; `data` is the number of folders as argparse has it."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs=data, metavar="DATA")
    parser.add_argument("--stereopsis", default="stereopsis")
    parser.add_argument("--methods", default=methods)
    parser.add_argument("--device", default="auto")
    return parser.parse_args()


def main():
    options = options_of(__doc__, "*", "sgm,balanced,sgm-learned,banz-sgm,zncc")
    file = DOCS / "measured/reliability.json"
    if options.data:
        file.write_text(json.dumps(measure(options), indent=1) + "\n")
    (DOCS / "images/reliability.svg").write_text(draw(json.loads(file.read_text())))


if __name__ == "__main__":
    main()
