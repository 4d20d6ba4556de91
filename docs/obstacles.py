"""Counts false obstacles with and without the confidence: obstacles.py FOLDER… of scenes, and SEQUENCE with poses.txt (the last one).

A pixel of an obstacle is wrong if it is lower than 0.3 m above the ground, or farther by more than a fifth, by the ground truth. An
obstacle of a scene is false if most of its pixels with ground truth are wrong. An obstacle of the sequence is false if the car later drives through its nearest point.
"""

import json
import pathlib
import sys

import numpy as np
import stereopsis as st

# The files of KITTI's scenes have no calibration. These are the values of most of its days.
FOCAL, BASELINE, CENTRE = 721.54, 0.5372, (609.56, 172.85)
HALF_WIDTH, LOWEST, NEARER_THAN = 0.8, 0.3, 25.0  # metres; the car is 1.6 m wide


def found_in(pair, rig, disparities, with_confidence):
    result = st.match(*pair, disparities, rig=rig, want=["depth", "confidence"], device="cpu")
    return result.depth, st.obstacles(result.depth, rig, NEARER_THAN, confidence=result.confidence if with_confidence else None)


def images(*files):
    return tuple(st.read_image(file) for file in files)


def in_scene(folder, with_confidence):
    """Returns the numbers of obstacles that are false, true and without ground truth, and of their pixels that are wrong and known."""
    about = json.loads((folder / "dataset.json").read_text())
    left, right = images(folder / "left.png", folder / "right.png")
    cx, cy = CENTRE
    rig = st.Rig(focal=FOCAL, baseline=BASELINE, cx_left=cx, cx_right=cx, cy=cy, unit="m", size=(left.shape[1], left.shape[0]))
    truth = st.read_disparity(folder / "disp_left.png", scale=about["gt_scale"])
    measured, found = found_in((left, right), rig, about["ndisp"], with_confidence)
    depth = rig.focal * rig.baseline / truth
    rows, columns = np.indices(depth.shape)
    rays = np.stack([(columns - rig.cx_left) / rig.focal, (rows - rig.cy) / rig.focal, np.ones_like(depth)], -1)
    height = depth * (rays @ np.array(found.ground.up)) + found.ground.camera_height
    counts = [0, 0, 0, 0, 0]
    for index in range(1, len(found.list) + 1):
        known = (found.labels == index) & np.isfinite(height)
        wrong = (height[known] < LOWEST) | (depth[known] > 1.2 * measured[known])
        counts[3] += int(wrong.sum())
        counts[4] += int(known.sum())
        counts[2 if known.sum() < 5 else int(wrong.mean() <= 0.5)] += 1
    return counts


def in_sequence(folder, with_confidence):
    """Returns the number of false obstacles, of all obstacles and of frames."""
    poses = np.loadtxt(folder / "poses.txt").reshape(-1, 3, 4)
    left = sorted((folder / "left").iterdir())
    right = sorted((folder / "right").iterdir())
    false = every = 0
    for i in range(len(left)):
        pair = images(left[i], right[i])
        rig = st.Rig.read(folder / "calib.txt", size=(pair[0].shape[1], pair[0].shape[0]))
        _, found = found_in(pair, rig, 128, with_confidence)
        to_here = np.linalg.inv(np.vstack([poses[i], [0, 0, 0, 1]]))
        path = np.array([(to_here @ np.append(pose[:, 3], 1))[:3] for pose in poses[i:]])
        for obstacle in found.list:
            x, _, z = obstacle.point
            every += 1
            if len(path) > 1 and z < path[-1, 2]:
                false += abs(np.interp(z, path[:, 2], path[:, 0]) - x) < HALF_WIDTH
    return false, every, len(left)


if __name__ == "__main__":
    *folders, sequence = map(pathlib.Path, sys.argv[1:])
    scenes = [file.parent for folder in folders for file in sorted(folder.glob("*/dataset.json"))]
    print("|input|confidence|false|other|wrong pixels with ground truth|")
    for with_confidence in (False, True):
        counts = np.sum([in_scene(scene, with_confidence) for scene in scenes], axis=0)
        print(f"|{len(scenes)} scenes|{with_confidence}|{counts[0]}|{counts[1]}, and {counts[2]} without ground truth|{counts[3]} of {counts[4]}|", flush=True)
    for with_confidence in (False, True):
        false, every, frames = in_sequence(sequence, with_confidence)
        print(f"|{frames} frames|{with_confidence}|{false}|{every - false}||", flush=True)
