#!/usr/bin/env python3
"""Measures what seeds change, on scenes with ground truth. Writes docs/measured/seeds.json.

    docs/seeds.py DATA [--methods sgm,sgm-learned] [--sets middlebury_2014q,…]
    docs/seeds.py DATA --alternatives     the same seeds by two published definitions, for sgm

Sparse seeds are random pixels of the truth: a share of the known pixels. For "wrong", a fifth of them is uniform in the search range. A dense map
is the truth at a quarter of the size with noise of 1 px, in which a tenth of the blocks of 8×8 pixels is shifted by up to 8 px. Errors are those
of pixels outside the seeds: off by more than 1 px (KITTI: by more than 3 px and 5 %). `measured` is the share of measured pixels among those that
count, and `wrong_measured` the share of wrong ones among the measured.

The alternatives are guided stereo matching (Poggi et al., CVPR 2019: costs at the seeds times 10 (1 − exp(−(d − s)² / 2)), up to 250), and virtual
patterns (Bartolomei et al., ICCV 2023: random patches of 3×3 pixels at a seed and at its match, blended by 0.4, from far to near, without those whose
match a nearer seed hides).
"""

import argparse
import json
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path

import harness
import numpy as np
from PIL import Image

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


def guided(command, scene, method, seeds):
    """Returns the result with modulated costs. Without seeds, it equals that of the method."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        harness.match(command, scene, method, "--save-volume", f"cost={folder / 'costs.npy'}")
        costs = np.load(folder / "costs.npy").astype(np.float32)
        known = np.isfinite(seeds)
        apart = np.arange(costs.shape[2], dtype=np.float32) - seeds[known][:, None]
        costs[known] *= 10 * (1 - np.exp(-(apart**2) / 2))
        np.save(folder / "costs.npy", np.clip(np.rint(costs), 0, 250).astype(np.uint8))
        pipeline = json.loads(subprocess.run([command, "methods", method, "--json"], check=True, capture_output=True, text=True).stdout)
        pipeline["cost"] = {"stage": "volume", "largest": 250}
        pipeline.pop("plus", None), pipeline.pop("sum", None)
        (folder / "pipeline.json").write_text(json.dumps(pipeline))
        return harness.match(command, scene, None, "--pipeline", folder / "pipeline.json", "--cost-volume", folder / "costs.npy")


def painted(command, scene, method, seeds):
    """Returns the result for images with virtual patterns."""
    rng = np.random.default_rng(6)
    left, right = (harness.stored(file).astype(np.float32) for file in scene.files)
    rows, columns = np.nonzero(np.isfinite(seeds))
    order = np.argsort(seeds[rows, columns], kind="stable")
    nearest = np.zeros(seeds.shape, np.float32)  # the largest disparity that meets each pixel of the right view
    matches = np.rint(columns - seeds[rows, columns]).astype(int)
    inside = (matches >= 1) & (matches < seeds.shape[1] - 1) & (rows >= 1) & (rows < seeds.shape[0] - 1) & (columns >= 1) & (columns < seeds.shape[1] - 1)
    for i in order[inside[order]]:
        nearest[rows[i] - 1 : rows[i] + 2, matches[i] - 1 : matches[i] + 2] = seeds[rows[i], columns[i]]
    for i in order[inside[order]]:
        if nearest[rows[i], matches[i]] > seeds[rows[i], columns[i]] + 1:
            continue
        patch = rng.uniform(0, 255, (3, 3) + left.shape[2:]).astype(np.float32)
        for image, x in ((left, columns[i]), (right, matches[i])):
            part = image[rows[i] - 1 : rows[i] + 2, x - 1 : x + 2]
            part += 0.4 * (patch - part)
    with tempfile.TemporaryDirectory() as name:
        files = [Path(name) / f"{side}.png" for side in ("left", "right")]
        for file, image in zip(files, (left, right)):
            Image.fromarray(np.rint(image).astype(np.uint8)).save(file)
        return harness.match(command, replace(scene, about={**scene.about, "left": files[0], "right": files[1]}), method)


def alternatives(command, sets):
    """Returns the errors of sgm with the same seeds by each definition."""
    found = {}
    for name, share in (("middlebury_2014q", 0.03), ("middlebury_2014q", 0.01), ("middlebury_2006_half", 0.03), ("kitti2015", 0.1), ("kitti2012", 0.1)):
        rows = {}
        for some_wrong in (False, True):
            for scene in sets[name]:
                seeds = sparse(scene, share, some_wrong)
                counted = scene.counted & np.isnan(seeds)
                ways = {"without": harness.match(command, scene, "sgm"), "ours": with_seeds(command, scene, "sgm", seeds),
                        "guided": guided(command, scene, "sgm", seeds), "patterns": painted(command, scene, "sgm", seeds)}
                for way, result in ways.items():
                    rows.setdefault(way + (", a fifth wrong" if some_wrong else ""), []).append(errors(scene, result, counted)["wrong"])
        found[f"{name}, {100 * share:g} %"] = {way: round(float(np.mean(values)), 2) for way, values in rows.items()}
        print(name, share, found[f"{name}, {100 * share:g} %"], flush=True)
    return found


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
    parser.add_argument("--alternatives", action="store_true")
    options = parser.parse_args()
    sets = {}
    for scene in harness.scenes(options.data):
        sets.setdefault(scene.dataset, []).append(scene)
    if options.alternatives:
        report = harness.read("seeds")
        report["alternatives"] = {"commit": harness.commit_of(options.command), **alternatives(options.command, sets)}
        (harness.MEASURED / "seeds.json").write_text(json.dumps(report, indent=1) + "\n")
        return
    report = {"commit": harness.commit_of(options.command), "methods": {}}
    for method in options.methods.split(","):
        report["methods"][method] = {name: measured(options.command, sets[name], method) for name in options.sets.split(",")}
    (harness.MEASURED / "seeds.json").write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
