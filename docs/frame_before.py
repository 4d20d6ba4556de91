#!/usr/bin/env python3
"""Measures what the frame before changes as a seed: flicker and errors of sequences with it and without it. Writes docs/measured/frame-before.json.

    docs/frame_before.py [--kitti FOLDER] [--frames 8] [--methods sgm,sgm-learned] [--device cpu]

The generated sequences are those of docs/flicker.py: `moving` has the motion as optical flow, and `still` and `not followed` have none, although
the latter moves. In `object`, an ellipse moves in front of a still scene without flow. `long` has 200 frames, in the tenth of which a
quarter of the image is disturbed: `frames until right` is the number of frames after which no error of this frame is left. A folder of KITTI
odometry has left/, right/, calib.txt and poses.txt. There, `differs` is the share of pixels that differ from those of `sgm-learned` by more than 1 pixel.
"""

import argparse
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import stereopsis as st
from flicker import NOISE, SCENES, SIZE, STEP, D, frames

MEASURED = Path(__file__).parent / "measured/frame-before.json"
KITTI_D = 128


def maps_of(pairs, method, device, previous, **options):
    run = st.Run(pairs, method=method, device=device, seed_previous=previous, align_rows="off", **options)
    return [(np.array(done.result.disparity), np.array(done.result.validity) == 0) for done in run]


def changed(now, before, where):
    where = where & np.isfinite(now) & np.isfinite(before)
    return 100 * float(np.mean(np.abs(now - before)[where] > 1))


def bad(disparity, truth, where):
    return 100 * float(np.mean(~(np.abs(disparity - truth) <= 1)[where]))


def with_object(scene, count):
    """Yields the frames of a still scene before which an ellipse moves: (left, right, truth, visible, edges of the ellipse)."""
    random, (width, height), near = np.random.default_rng(0), SIZE, D - 6
    texture = random.integers(0, 256, (100, 80, 3)).astype(np.uint8)
    y, x = np.mgrid[-1:1:100j, -1:1:80j]
    inside, border = x * x + y * y <= 1, np.abs(x * x + y * y - 1) < 0.25
    for k in range(count):
        left, right, truth = (part[:, :width].copy() for part in (scene.left, scene.right, scene.disparity))
        visible, edges = scene.nonocc[:, :width] == 255, np.zeros((height, width), bool)
        for image, first in ((left, 120 + STEP * k), (right, 120 + STEP * k - near)):
            image[70:170, first : first + 80][inside] = texture[inside]
        place = (slice(70, 170), slice(120 + STEP * k, 200 + STEP * k))
        truth[place][inside], edges[place] = near, border
        noisy = [np.clip(np.rint(image + random.normal(0, NOISE, image.shape)), 0, 255).astype(np.uint8) for image in (left, right)]
        yield *noisy, truth, visible, edges


def generated(method, kind, count, device):
    rows, (width, height) = [], SIZE
    inside = np.arange(width) >= D
    for name in SCENES:
        scene = st.synth(name, width=width + STEP * count, height=height, disparities=D, seed=11)
        if kind == "object":
            sequence = [(*frame[:4], 0, frame[4]) for frame in with_object(scene, count)]
        else:
            sequence = [(*frame, np.zeros((height, width), bool)) for frame in frames(scene, count, 0 if kind == "still" else STEP)]
        flow = np.zeros((height, width, 2), np.float32)
        flow[..., 0] = -STEP
        pairs = [SimpleNamespace(left=f[0], right=f[1], flow=flow if kind == "moving" else None) for f in sequence]
        for label, previous in (("without", False), ("with", True)):
            found = maps_of(pairs, method, device, previous, disparities=D)
            for k in range(1, count):
                _, _, truth, visible, shift, edges = sequence[k]
                there, (now, measured) = visible & inside, found[k]
                before = np.roll(found[k - 1][0], -shift, 1)
                steady = there & (np.arange(width) < width - shift) & (np.abs(truth - np.roll(sequence[k - 1][2], -shift, 1)) < 1)
                row = {f"{label} flicker": changed(now, before, steady), f"{label} wrong": bad(now, truth, there)}
                row |= {f"{label} measured": 100 * float(np.mean(measured[there])), f"{label} wrong of the measured": bad(now, truth, there & measured)}
                if edges.any():
                    row[f"{label} wrong at moving edges"] = bad(now, truth, there & edges)
                rows.append(row)
    return means(rows)


def means(rows):
    return {name: round(float(np.mean([row[name] for row in rows if name in row])), 2) for name in dict.fromkeys(key for row in rows for key in row)}


def lasting(method, device, count=200, disturbed=10):
    """Returns the number of frames after a disturbed one until the map is that of a run without the disturbance."""
    scene = st.synth("table", width=SIZE[0], height=SIZE[1], disparities=D, seed=11)
    clean = [SimpleNamespace(left=f[0], right=f[1]) for f in frames(scene, count, 0)]
    broken = list(clean)
    right = np.array(clean[disturbed].right)
    right[: SIZE[1] // 2, : SIZE[0] // 2] = np.roll(right, 17, 1)[: SIZE[1] // 2, : SIZE[0] // 2]
    broken[disturbed] = SimpleNamespace(left=clean[disturbed].left, right=right)
    runs = [maps_of(pairs, method, device, True, disparities=D) for pairs in (clean, broken)]
    inside = (scene.nonocc == 255) & (np.arange(SIZE[0]) >= D)
    shares = [bad(broken_map, scene.disparity, inside) - bad(clean_map, scene.disparity, inside) for (clean_map, _), (broken_map, _) in zip(*runs)]
    after = [k - disturbed for k in range(disturbed, count) if shares[k] > 0.1]
    first, last = (float(np.mean([bad(m, scene.disparity, inside) for m, _ in runs[0][part]])) for part in (slice(1, 20), slice(-20, None)))
    return {"frames until right": max(after, default=0), "wrong, frames 2 to 20": round(first, 2), "wrong, last 20 frames": round(last, 2)}


def kitti(folder, methods, count, device):
    lines = [np.array(line.split()[-12:], float).reshape(3, 4) for line in (folder / "calib.txt").read_text().splitlines()[:2]]
    first, second = lines
    rig = st.Rig(focal=first[0, 0], baseline=f"{-second[0, 3] / second[0, 0]} m", cx_left=first[0, 2], cy=first[1, 2])
    poses = [np.array(pose) for pose in st.read_poses(folder / "poses.txt")]
    pairs, motions = [], [np.linalg.inv(now) @ before for before, now in zip(poses[:count], poses[1:count])]
    for k in range(count):
        left, right = (st.read_image(folder / side / f"{k:06}.png") for side in ("left", "right"))
        pairs.append(SimpleNamespace(left=left, right=right, motion=motions[k - 1] if k else None))
    reference = maps_of(pairs, "sgm-learned", device, False, disparities=KITTI_D)
    found = {}
    for method in methods:
        rows = []
        for label, previous in (("without", False), ("with", True)):
            maps = maps_of(pairs, method, device, previous, disparities=KITTI_D, rig=rig)
            for k in range(1, count):
                inside = np.broadcast_to(np.arange(maps[k][0].shape[1]) >= KITTI_D, maps[k][0].shape)
                before = st.moved_disparities(maps[k - 1][0], rig=rig, motion=motions[k - 1])
                row = {f"{label} flicker": changed(maps[k][0], before, inside), f"{label} measured": 100 * float(np.mean(maps[k][1][inside]))}
                rows.append(row | {f"{label} differs": bad(maps[k][0], reference[k][0], inside)})
        found[method] = means(rows)
        print("kitti", method, found[method], flush=True)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kitti", type=Path)
    parser.add_argument("--frames", type=int, default=8)
    parser.add_argument("--methods", default="sgm,sgm-learned")
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    methods, report = options.methods.split(","), {}
    for method in methods:
        for kind in ("still", "moving", "not followed", "object"):
            report.setdefault(kind, {})[method] = generated(method, kind, options.frames, options.device)
            print(kind, method, report[kind][method], flush=True)
    report["long"] = {"sgm": lasting("sgm", options.device)}
    print("long", report["long"], flush=True)
    if options.kitti:
        report["kitti"] = kitti(options.kitti, methods, options.frames, options.device)
    MEASURED.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
