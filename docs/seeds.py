#!/usr/bin/env python3
"""Measures what seeds change, on scenes with ground truth. Writes docs/measured/seeds.json.

    docs/seeds.py DATA [--methods sgm,sgm-learned] [--sets middlebury_2014q,…]

Sparse seeds are random pixels of the truth: a share of the known pixels. For "wrong", a fifth of them is uniform in the search range. A dense map
is the truth at a quarter of the size with noise of 1 px, in which a tenth of the blocks of 8×8 pixels is shifted by up to 8 px. Errors are those
of pixels outside the seeds: off by more than 1 px (KITTI: by more than 3 px and 5 %). `measured` is the share of measured pixels among those that
count, and `wrong_measured` the share of wrong ones among the measured.
"""

import argparse
import json
import tempfile
from pathlib import Path

import harness
import numpy as np

CASES = [("sparse", 0.03), ("sparse", 0.01), ("sparse", 0.1), ("dense", 4)]


def sparse(scene, share, some_wrong):
    """Returns seeds at a share of the known pixels."""
    rng, truth = np.random.default_rng(4), scene.truth
    chosen = (rng.random(truth.shape) < share) & np.isfinite(truth)
    seeds = np.where(chosen, truth, np.nan)
    if some_wrong:
        seeds = np.where(chosen & (rng.random(truth.shape) < 0.2), rng.uniform(0, scene.disparities - 1, truth.shape), seeds)
    return seeds.astype(np.float32)


def dense(scene, factor):
    """Returns a coarse map with errors, at the size of the image."""
    rng, truth = np.random.default_rng(5), scene.truth
    coarse = truth[factor // 2 :: factor, factor // 2 :: factor] + 0.0
    coarse += rng.normal(0, 1, coarse.shape)
    blocks = tuple(-(-n // 8) for n in coarse.shape)
    enlarged = lambda values: np.kron(values, np.ones((8, 8)))[: coarse.shape[0], : coarse.shape[1]]
    shifted = enlarged(rng.random(blocks) < 0.1) > 0
    coarse[shifted] += enlarged(rng.uniform(-8, 8, blocks))[shifted]
    rows, columns = (np.minimum(np.arange(n) // factor, m - 1) for n, m in zip(truth.shape, coarse.shape))
    return coarse[rows][:, columns].astype(np.float32)


def errors(scene, result, counted):
    """Returns the percentages of wrong, of measured, and of wrong among the measured pixels."""
    disparity, validity, _ = result
    difference = np.abs(disparity - scene.truth)
    wrong = ~((difference <= 3) | (difference <= 0.05 * scene.truth)) if scene.road else ~(difference <= 1)
    is_measured = counted & (validity == 0)
    return {"wrong": 100 * wrong[counted].mean(), "measured": 100 * is_measured[counted].mean(), "wrong_measured": 100 * wrong[is_measured].mean()}


def with_seeds(command, scene, method, seeds):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "seeds.npy"
        np.save(file, seeds)
        return harness.match(command, scene, method, "--seeds", file)


def mean(rows):
    return {key: round(float(np.mean([row[key] for row in rows])), 3) for key in rows[0]}


def measured(command, scenes, method):
    """Returns the errors with and without the seeds of each case."""
    plain = {scene.name: harness.match(command, scene, method) for scene in scenes}
    found = {}
    for kind, value in CASES:
        rows = {"without": [], "seeds": [], "a fifth wrong": []}
        for scene in scenes:
            given = [sparse(scene, value, False), sparse(scene, value, True)] if kind == "sparse" else [dense(scene, value)]
            counted = scene.counted & np.isnan(given[0]) if kind == "sparse" else scene.counted
            rows["without"].append(errors(scene, plain[scene.name], counted))
            for name, seeds in zip(("seeds", "a fifth wrong"), given):
                rows[name].append(errors(scene, with_seeds(command, scene, method, seeds), counted))
        name = f"{100 * value:g} %" if kind == "sparse" else "dense"
        found[name] = {key: mean(values) for key, values in rows.items() if values}
        ratios = [f"{key} {one['wrong'] / found[name]['without']['wrong']:.3f}" for key, one in found[name].items()]
        print(f"{method:12} {scenes[0].dataset:24} {name:6}", "; ".join(ratios), found[name], flush=True)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--command", type=Path, default=harness.COMMAND)
    parser.add_argument("--methods", default="sgm,sgm-learned")
    parser.add_argument("--sets", default="middlebury_2014q,middlebury_2005_third,middlebury_2006_half,kitti2015,kitti2012")
    options = parser.parse_args()
    sets = {}
    for scene in harness.scenes(options.data):
        sets.setdefault(scene.dataset, []).append(scene)
    report = {"commit": harness.commit_of(options.command), "methods": {}}
    for method in options.methods.split(","):
        report["methods"][method] = {name: measured(options.command, sets[name], method) for name in options.sets.split(",")}
    (harness.MEASURED / "seeds.json").write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
