#!/usr/bin/env python3
"""Measures how well scores without ground truth rank settings by their true error. Writes docs/measured/tuning-proxies.json.

    docs/tuning_proxies.py DATA… [--settings 24] [--device cpu]

The settings are random ones of `sgm`, as `stereopsis tune` tries them, and the defaults of several methods. For each scene, the rank
correlation (Spearman's) between a score and the true error is computed over the settings, and then averaged over the scenes. The package
stereopsis and optuna are required.
"""

import argparse
import json
import random
from pathlib import Path

import numpy as np
import stereopsis as st
from stereopsis import _native
from stereopsis.tune import proxies, space

METHODS = ("sgm", "banz-sgm", "zncc", "census-guided", "prehn-window", "prehn-pyramid")
NAMES = ("views", "photometric", "reference", "mean")


class Random:
    """Suggests values at random."""

    def __init__(self, seed):
        self._random = random.Random(seed)

    def suggest_categorical(self, name, choices):
        return self._random.choice(choices)

    def suggest_int(self, name, low, high, *, step=1):
        return self._random.randrange(low, high + 1, step)

    def suggest_float(self, name, low, high):
        return self._random.uniform(low, high)


def settings(count):
    """Returns pipelines by group."""
    made = [space.sampled(Random(seed), ["sgm"]) for seed in range(count)]
    return {"parameters of sgm": made, "methods": [st.Pipeline(name) for name in METHODS]}


def errors(disparity, loaded):
    return {name: st.evaluate(disparity, loaded["truth"], mask)["bad1.0"] for name, mask in loaded["regions"].items() if name != "disc"}


def measured(scene, pipelines, device):
    """Returns the true errors and the scores of a scene, for each setting."""
    loaded = scene.load()
    images = [np.ascontiguousarray(loaded[name]) for name in ("left", "right")]
    pair = proxies.with_reference(*images, (0, scene.disparities), device=device)
    rows = []
    for pipeline in pipelines:
        with st.Matcher(pipeline=pipeline, disparities=scene.disparities, device=device, warn_of_pair=False) as matcher:

            def match(left, right, matcher=matcher):
                return np.array(matcher(left, right).disparity)

            disparity = match(*images)
            rows.append({**errors(disparity, loaded), **{name: proxies.score(name, pair, disparity, match) for name in NAMES}})
    return rows


def correlation(a, b):
    ranks = [np.argsort(np.argsort(values)).astype(float) for values in (a, b)]
    return float(np.corrcoef(*ranks)[0, 1])


def chosen_error(rows, name, region):
    """Returns the true error of the setting that the score prefers, minus the least true error of all settings."""
    best = min(rows, key=lambda row: row[name])
    return best[region] - min(row[region] for row in rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+")
    parser.add_argument("--settings", type=int, default=24)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    scenes = [scene for folder in options.data for scene in _native.find_scenes(folder)[0]]
    report = {"settings": options.settings, "scenes": [f"{scene.dataset}/{scene.name}" for scene in scenes], "groups": {}}
    for group, pipelines in settings(options.settings).items():
        rows = {f"{scene.dataset}/{scene.name}": measured(scene, pipelines, options.device) for scene in scenes}
        region = {name: "all" if "all" in found[0] else "nonocc" for name, found in rows.items()}
        report["groups"][group] = {
            name: {
                "rank correlation": {scene: correlation([r[region[scene]] for r in found], [r[name] for r in found]) for scene, found in rows.items()},
                "lost": {scene: chosen_error(found, name, region[scene]) for scene, found in rows.items()},
            }
            for name in NAMES
        }
        report["groups"][group]["spread"] = {scene: [min(r[region[scene]] for r in f), float(np.median([r[region[scene]] for r in f]))] for scene, f in rows.items()}
        for name in NAMES:
            found = report["groups"][group][name]
            values, lost = list(found["rank correlation"].values()), list(found["lost"].values())
            print(f"{group:20} {name:12} rank correlation {np.mean(values):.2f} ({min(values):.2f} to {max(values):.2f}), lost {np.mean(lost):.2f} points")
    file = Path(__file__).resolve().parent / "measured/tuning-proxies.json"
    file.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
