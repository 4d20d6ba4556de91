#!/usr/bin/env python3
"""A prototype in NumPy of a stage that reads the previous map of a sequence: flicker and errors with it and without it, and how far the previous
map narrows the search. It is no part of the library; docs/notes/flicker.md has the figures.

    docs/temporal.py generated [--frames 4] [--seed 11]          sequences with exact truth; motion by optical flow of the left images
    docs/temporal.py kitti FOLDER [--frames 6]                   a sequence of KITTI odometry with calib.txt and poses.txt; motion by the poses
    docs/temporal.py kitti-methods FOLDER [--methods sgm,zncc]   flicker of methods on it, without the prototype

The packages stereopsis and opencv-python-headless are required. In sequences without truth, "wrong" is the share of pixels that differ from
`sgm-learned`.
"""

import argparse
import dataclasses
import json
from pathlib import Path

import cv2
import numpy as np
import stereopsis as st
from flicker import NOISE, SCENES, SIZE, STEP, D, frames

KITTI_D, TILE = 128, 64


@dataclasses.dataclass(frozen=True)
class Rule:
    """`mean`: weight of the new disparity where both agree within 1 pixel. `margin`: a previous disparity replaces a new one that differs if its
    census cost is at most that of the new one plus the margin (of 31 bits); and, with `confident`, if its confidence is higher.
    """

    mean: float
    margin: float
    confident: bool = False


RULES = [Rule(0.5, 1), Rule(1, 0), Rule(1, -1), Rule(1, 1, confident=True)]
DECAY = 0.95  # a kept confidence is multiplied by it in each frame


def census(grey):
    """Returns 31 bits of each pixel: opposite neighbours in a window of 9×7."""
    padded, bits = cv2.copyMakeBorder(grey, 3, 3, 4, 4, cv2.BORDER_REPLICATE), []
    height, width = grey.shape
    for dy in range(-3, 4):
        for dx in range(-4, 5):
            if (dy, dx) > (0, 0):
                first, second = (padded[3 + s * dy : 3 + s * dy + height, 4 + s * dx : 4 + s * dx + width] for s in (1, -1))
                bits.append(first > second)
    return np.stack(bits, -1)


def cost(left, right, disparity):
    """Returns the Hamming distance at each pixel's disparity, as the mean of 5×5 pixels."""
    rows, columns = np.indices(disparity.shape)
    at = np.clip(np.rint(columns - np.nan_to_num(disparity)), 0, disparity.shape[1] - 1).astype(int)
    return cv2.blur((left != right[rows, at]).sum(-1).astype(np.float32), (5, 5))


def steadied(rule, predicted, disparity, greys):
    """Returns the new map and its confidence. `predicted` and `disparity` are (map, confidence)."""
    (before, trust), (now, confidence) = predicted, disparity
    agree = np.isfinite(before) & (np.abs(before - now) <= 1)
    costs = [census(grey) for grey in greys]
    keep = np.isfinite(before) & ~agree & ((cost(*costs, before) <= cost(*costs, now) + rule.margin) | ~np.isfinite(now))
    if rule.confident:
        keep &= DECAY * trust > confidence
    mixed = np.where(agree, rule.mean * now + (1 - rule.mean) * before, now)
    return np.where(keep, before, mixed).astype(np.float32), np.where(keep, DECAY * trust, np.where(agree, np.maximum(confidence, DECAY * trust), confidence))


def bad(disparity, truth, where, limit=1):
    return 100 * float(np.mean(~(np.abs(disparity - truth) <= limit)[where]))


def changed(now, before, where):
    where = where & np.isfinite(now) & np.isfinite(before)
    return 100 * float(np.mean(np.abs(now - before)[where] > 1))


def means(rows):
    return {name: round(float(np.mean([row[name] for row in rows if name in row])), 2) for name in dict.fromkeys(key for row in rows for key in row)}


# Generated sequences


def with_object(scene, count):
    """Yields the frames of a still scene before which an ellipse moves by 3 pixels per frame: (left, right, truth, visible, object)."""
    random, (width, height), near = np.random.default_rng(0), SIZE, D - 6
    texture = cv2.resize(random.integers(0, 256, (40, 40, 3)).astype(np.uint8), (80, 100))
    y, x = np.mgrid[-1:1:100j, -1:1:80j]
    inside = x * x + y * y <= 1
    rows, columns = np.indices((height, width))
    for k in range(count):
        left, right, truth = (part[:, :width].copy() for part in (scene.left, scene.right, scene.disparity))
        masks = []
        for image, first in ((left, 120 + STEP * k), (right, 120 + STEP * k - near)):
            mask = np.zeros((height, width), bool)
            mask[70:170, first : first + 80] = inside
            image[mask] = texture[inside]
            masks.append(mask)
        visible = (scene.nonocc[:, :width] == 255) & ~masks[1][rows, np.clip(np.rint(columns - truth), 0, width - 1).astype(int)]
        truth[masks[0]], visible[masks[0]] = near, True
        noisy = [np.clip(np.rint(image + random.normal(0, NOISE, image.shape)), 0, 255).astype(np.uint8) for image in (left, right)]
        yield *noisy, truth, visible, masks[0]


def by_flow(before, now, found):
    """Returns the map and the confidence of the previous frame, moved by the optical flow between the left images; NaN where they differ."""
    flow = cv2.DISOpticalFlow_create(cv2.DISOPTICAL_FLOW_PRESET_MEDIUM).calc(now, before, None)
    rows, columns = np.indices(now.shape)
    x, y = columns + flow[..., 0], rows + flow[..., 1]
    usable = (x >= 0) & (x <= now.shape[1] - 1) & (y >= 0) & (y <= now.shape[0] - 1)
    at = tuple(np.clip(np.rint(v), 0, size - 1).astype(int) for v, size in zip((y, x), now.shape, strict=True))
    moved = cv2.remap(before, x.astype(np.float32), y.astype(np.float32), cv2.INTER_LINEAR)
    usable &= np.abs(cv2.blur(moved.astype(np.float32), (3, 3)) - cv2.blur(now.astype(np.float32), (3, 3))) < 20
    return np.where(usable, found[0][at], np.nan), found[1][at]


def generated(method, kind, rule, count, seed):
    rows, (width, height) = [], SIZE
    inside = np.arange(width) >= D
    for name in SCENES:
        scene = st.synth(name, width=width + STEP * count, height=height, disparities=D, seed=seed)
        if kind == "object":
            sequence = ((*frame[:4], 0, frame[4]) for frame in with_object(scene, count))
        else:
            sequence = ((*frame, np.zeros((height, width), bool)) for frame in frames(scene, count, STEP if kind == "moving" else 0))
        last = None
        with st.Matcher(method, disparities=D, device="cpu", warn_of_pair=False, want="confidence") as matcher:
            for left, right, truth, visible, shift, thing in sequence:
                result, greys = matcher(left, right), [cv2.cvtColor(image, cv2.COLOR_RGB2GRAY) for image in (left, right)]
                plain = np.array(result.disparity), np.array(result.confidence)
                steady = steadied(rule, by_flow(last["grey"], greys[0], last["steady"]), plain, greys) if last else plain
                if last:
                    there, edge = visible & inside, cv2.morphologyEx(thing.astype(np.uint8), cv2.MORPH_GRADIENT, np.ones((11, 11), np.uint8)) > 0
                    row = {}
                    for label, maps in (("plain", (plain, last["plain"])), ("steady", (steady, last["steady"]))):
                        now, before = (np.roll(maps[1][0], -shift, 1) if k else maps[0][0] for k in (0, 1))
                        still = there & ~thing & ~last["thing"] & (np.arange(width) < width - shift)
                        row |= {f"{label} flicker": changed(now, before, still), f"{label} wrong": bad(now, truth, there)}
                        if thing.any():
                            row[f"{label} wrong at moving edges"] = bad(now, truth, there & edge)
                    rows.append(row)
                last = {"plain": plain, "steady": steady, "grey": greys[0], "thing": thing}
    return means(rows)


# KITTI odometry


class Sequence:
    def __init__(self, folder):
        first, second = (np.array(line.split(), float).reshape(3, 4) for line in (folder / "calib.txt").read_text().splitlines()[:2])
        self.folder, self.f, self.cx, self.cy, self.fb = folder, first[0, 0], first[0, 2], first[1, 2], -second[0, 3]
        lines = (folder / "poses.txt").read_text().splitlines()
        self.poses = [np.vstack([np.array(line.split(), float).reshape(3, 4), [0, 0, 0, 1]]) for line in lines]

    def read(self, k):
        return [cv2.imread(str(self.folder / side / f"{k:06}.png"), cv2.IMREAD_GRAYSCALE) for side in ("left", "right")]

    def moved(self, found, k):
        """Returns the map and the confidence of frame k − 1 as frame k sees them; the nearest surface wins."""
        disparity, confidence = found
        y, x = np.nonzero(np.isfinite(disparity) & (disparity > 0.5))
        z = self.fb / disparity[y, x]
        points = np.stack([(x - self.cx) / self.f * z, (y - self.cy) / self.f * z, z, np.ones_like(z)])
        points = np.linalg.inv(self.poses[k]) @ self.poses[k - 1] @ points
        front = points[2] > 0.5
        points, trust = points[:, front], confidence[y, x][front]
        columns, rows = (np.rint(self.f * points[i] / points[2] + centre).astype(int) for i, centre in ((0, self.cx), (1, self.cy)))
        seen = (columns >= 0) & (columns < disparity.shape[1]) & (rows >= 0) & (rows < disparity.shape[0])
        nearest = np.argsort(-points[2][seen], kind="stable")
        at, maps = (rows[seen][nearest], columns[seen][nearest]), (np.full_like(disparity, np.nan), np.zeros_like(disparity))
        maps[0][at], maps[1][at] = self.fb / points[2][seen][nearest], trust[seen][nearest]
        return maps


def ranges(predicted, more):
    """Returns the lowest and the highest candidate of each pixel: those of its tile, with a quarter of a tile around it, and `more` pixels."""
    low, high = np.zeros(predicted.shape, int), np.full(predicted.shape, KITTI_D - 1)
    for y in range(0, predicted.shape[0], TILE):
        for x in range(0, predicted.shape[1], TILE):
            part = predicted[max(0, y - TILE // 4) : y + TILE + TILE // 4, max(0, x - TILE // 4) : x + TILE + TILE // 4]
            if np.isfinite(part).mean() > 0.5:
                first, last = np.nanpercentile(part, [1, 99])
                low[y : y + TILE, x : x + TILE] = max(0, int(first) - more)
                high[y : y + TILE, x : x + TILE] = min(KITTI_D - 1, int(np.ceil(last)) + more)
    return low, high


def narrowed(pair, low, high):
    def near(call):
        call.made[...] = call.costs
        candidates = np.arange(call.count) + call.first
        call.made[(candidates < low[..., None]) | (candidates > high[..., None])] = 65535

    pipeline = st.Pipeline("sgm").set_stage("aggregation", near, makes="uint16", largest=255, takes="uint8")
    return np.array(st.match(*pair, KITTI_D, pipeline=pipeline, device="cpu", align_rows="off").disparity)


def kitti(folder, count):
    sequence = Sequence(folder)
    matchers = [st.Matcher(name, disparities=KITTI_D, device="cpu", warn_of_pair=False, want="confidence") for name in ("sgm", "sgm-learned")]
    found = []
    for k in range(count):
        pair = sequence.read(k)
        plain, truth = (matcher(*pair) for matcher in matchers)
        found.append((pair, (np.array(plain.disparity), np.array(plain.confidence)), np.array(truth.disparity)))
    inside = np.broadcast_to(np.arange(found[0][2].shape[1]) >= KITTI_D, found[0][2].shape)

    def scores(label, now, predicted, truth):
        return {f"{label} flicker": changed(now, predicted, inside)} | {f"{label} differs by {n}": bad(now, truth, inside, n) for n in (1, 3)}

    for rule in RULES:
        rows, last, steady = [], found[0][1], found[0][1]
        for k, (pair, plain, truth) in list(enumerate(found))[1:]:
            row = scores("plain", plain[0], sequence.moved(last, k)[0], truth)
            predicted = sequence.moved(steady, k)
            last, steady = plain, steadied(rule, predicted, plain, pair)
            rows.append(row | scores("steady", steady[0], predicted[0], truth))
        print(rule, json.dumps(means(rows)), flush=True)
    for more in (4, 8):
        rows = []
        for k, (pair, plain, truth) in list(enumerate(found))[1::2]:
            low, high = ranges(sequence.moved(found[k - 1][1], k)[0], more)
            row = {"percent of the candidates": 100 * float(np.mean(high - low + 1)) / KITTI_D}
            for label, map_ in (("plain", plain[0]), ("narrowed", narrowed(pair, low, high))):
                row |= {f"{label} differs by {n}": bad(map_, truth, inside, n) for n in (1, 3)}
            rows.append(row)
        print(f"narrowed, ±{more} pixels", json.dumps(means(rows)), flush=True)


def kitti_flicker(folder, methods, count):
    """Prints the flicker of methods, and the share of measured pixels."""
    sequence = Sequence(folder)
    for method in methods:
        rows, last = [], None
        with st.Matcher(method, disparities=KITTI_D, device="cpu", warn_of_pair=False) as matcher:
            for k in range(count):
                result = matcher(*sequence.read(k))
                disparity = np.array(result.disparity)
                if last is not None:
                    moved = sequence.moved((last, np.zeros_like(last)), k)[0]
                    inside = np.broadcast_to(np.arange(disparity.shape[1]) >= KITTI_D, disparity.shape)
                    rows.append({"flicker": changed(disparity, moved, inside), "measured": 100 * float(np.mean(np.array(result.validity) == 0))})
                last = disparity
        print(method, json.dumps(means(rows)), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=["generated", "kitti", "kitti-methods"])
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--frames", type=int, default=4)
    parser.add_argument("--methods", default="sgm")
    parser.add_argument("--seed", type=int, default=11)
    given = parser.parse_args()
    if given.kind == "kitti-methods":
        kitti_flicker(given.folder, given.methods.split(","), given.frames)
        return
    if given.kind == "kitti":
        kitti(given.folder, given.frames)
        return
    for rule in RULES:
        for method in given.methods.split(","):
            for kind in ("static", "moving", "object"):
                print(rule, method, kind, json.dumps(generated(method, kind, rule, given.frames, given.seed)), flush=True)


if __name__ == "__main__":
    main()
