#!/usr/bin/env python3
"""Measures the flicker of all methods on generated sequences with exact truth. Writes docs/measured/flicker.json.

    docs/flicker.py [--frames 5] [--device cpu] [--methods sgm,zncc]

A sequence is a part of a wider generated scene that moves by whole pixels from frame to frame, so that the true disparity moves with it
exactly; every frame has its own noise. In the sequence `static` the part stays. A pixel flickers if its disparity differs by more than 1 pixel
from that of the same surface point in the frame before, although the true disparity is the same. Percentages are of the pixels that are
visible in both views. The package stereopsis is required.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import stereopsis as st

SCENES = ("table", "street", "mix")
SIZE, D, NOISE, STEP = (320, 240), 48, 3.0, 3
SLOW = ("asw", "asw-separable", "segment-support", "esaw", "ad-census")


def frames(scene, count, step, seed=0):
    """Yields (left, right, truth, visible, shift in pixels since the frame before)."""
    (width, _), random = SIZE, np.random.default_rng(seed)
    for k in range(count):
        part = slice(k * step, k * step + width)
        left, right = (
            np.clip(np.rint(image[:, part] + random.normal(0, NOISE, image[:, part].shape)), 0, 255).astype(np.uint8)
            for image in (scene.left, scene.right)
        )
        yield left, right, scene.disparity[:, part], scene.nonocc[:, part] == 255, step if k else 0


def measured(method, scene, count, step, device):
    """Returns the percentages of flickering and of wrong pixels, and the mean change of disparity in pixels."""
    flicker, changes, wrong, before = [], [], [], None
    with st.Matcher(method, disparities=D, device=device, warn_of_pair=False) as matcher:
        for left, right, truth, visible, shift in frames(scene, count, step):
            disparity = np.array(matcher(left, right).disparity)
            inside = visible & (np.arange(SIZE[0]) >= D)  # the other view contains all candidates
            wrong.append(100 * np.mean(~(np.abs(disparity - truth) <= 1)[inside]))
            if before is not None:
                now, then = (disparity[:, : SIZE[0] - shift], before[:, shift:])
                there = inside[:, : SIZE[0] - shift] & np.isfinite(now) & np.isfinite(then)
                change = np.abs(now - then)[there]
                flicker.append(100 * np.mean(change > 1))
                changes.append(np.mean(np.minimum(change, 5)))
            before = disparity
    return {"flicker": float(np.mean(flicker)), "change": float(np.mean(changes)), "wrong": float(np.mean(wrong))}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frames", type=int, default=5)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--methods", default=",".join([m.name for m in st.methods() if m.name not in SLOW] + ["balanced"]))
    options = parser.parse_args()
    wide = SIZE[0] + STEP * options.frames
    scenes = {name: st.synth(name, width=wide, height=SIZE[1], disparities=D, seed=3) for name in SCENES}
    report = {"frames": options.frames, "size": [*SIZE, D], "noise": NOISE, "step": STEP, "methods": {}}
    for method in options.methods.split(","):
        found = {}
        for name, step in (("static", 0), ("moving", STEP)):
            values = [measured(method, scene, options.frames, step, options.device) for scene in scenes.values()]
            found[name] = {key: float(np.mean([one[key] for one in values])) for key in values[0]}
        report["methods"][method] = found
        texts = (f"{name}: {one['flicker']:5.2f} % flicker, change {one['change']:.3f} px, {one['wrong']:5.2f} % wrong" for name, one in found.items())
        print(f"{method:18}", "; ".join(texts), flush=True)
    file = Path(__file__).resolve().parent / "measured/flicker.json"
    file.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
