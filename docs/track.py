#!/usr/bin/env python3
"""Measures `match --track-rig` on sequences whose right camera drifts, and then is hit. Writes docs/measured/track.json.

    docs/track.py --dataset DIR [--pairs 120] [--repeat 3]

The sequences are generated pairs, and the road of KITTI odometry in DIR, forwards and backwards. Each is matched as it is, and with right images that a
turning camera would see. The packages numpy and opencv-python-headless are required.
"""

import argparse
import json
import resource
import subprocess
import tempfile
from pathlib import Path

import cv2
import harness
import numpy as np
import rigs

DELAY = 8  # pairs from an estimate to the first pair that uses it, as RigTracker::delay
DRIFT = np.array([0.0005, 0.0002, -0.0004])  # degrees a pair: pitch, yaw, roll
BUMP = np.array([0.2, -0.15, 0.166])  # 0.3°
WITHIN = 30  # pairs in which a bump should be corrected
ANGLES = ("pitch", "yaw", "roll")


def truth_at(pair, bump):
    """Returns the turn of the right camera at a pair."""
    return DRIFT * pair + (BUMP if pair >= bump else 0)


def homography(camera, turn):
    return camera @ cv2.Rodrigues(np.radians(turn))[0] @ np.linalg.inv(camera)


def rows_apart(camera, size, turn):
    """Returns the root mean square, over the image, of the differences between rows that a turn causes."""
    width, height = size
    x, y = np.meshgrid(np.linspace(0, width - 1, 21), np.linspace(0, height - 1, 21))
    points = np.stack([x.ravel(), y.ravel()], 1)
    moved = cv2.perspectiveTransform(points[None], homography(camera, turn))[0]
    return float(np.sqrt(np.mean((moved - points)[:, 1] ** 2)))


def generated(command, folder, count, noise=2):
    """Returns the pairs of a generated sequence, with noise of their own, its camera, baseline and number of disparities."""
    scenes = [rigs.generate(command, folder, scene, 3) for scene in ("interior", "garden", "street", "clutter")]
    images = [[cv2.imread(str(scene / f"{side}.png"), cv2.IMREAD_GRAYSCALE) for side in ("left", "right")] for scene in scenes]
    generator = np.random.default_rng(11)
    pairs = [[(image.astype(np.float32), generator.normal(0, noise, image.shape)) for image in images[i // 5 % len(images)]] for i in range(count)]
    return pairs, rigs.CAMERA, rigs.BASELINE, 64


def road(dataset, count):
    sequence = Path(dataset) / "kitti_odometry/sequence_2"
    files = sorted(file.name for file in (sequence / "left").iterdir())
    order = [*range(len(files)), *range(len(files) - 2, 0, -1)]
    pairs = []
    for i in range(count):
        name = files[order[i % len(order)]]
        pairs.append([(cv2.imread(str(sequence / side / name), cv2.IMREAD_GRAYSCALE).astype(np.float32), 0) for side in ("left", "right")])
    numbers = np.loadtxt(sequence / "calib.txt")
    focal, cx, cy = numbers[0][0], numbers[0][2], numbers[0][6]
    return pairs, np.array([[focal, 0, cx], [0, focal, cy], [0, 0, 1]]), -numbers[1][3] / focal, 96


def write(folder, pairs, camera, turns):
    for i, (pair, turn) in enumerate(zip(pairs, turns)):
        for side, (image, noise) in zip(("left", "right"), pair):
            (folder / side).mkdir(exist_ok=True)
            if side == "right" and np.any(turn):
                image = cv2.warpPerspective(image, homography(camera, turn), image.shape[::-1], flags=cv2.INTER_LANCZOS4, borderMode=cv2.BORDER_REPLICATE)
            cv2.imwrite(str(folder / side / f"{i:04}.png"), np.clip(image + noise + 0.5, 0, 255).astype(np.uint8))


def run(command, folder, disparities, rig, *more):
    """Matches the pairs of a folder. Returns the report, and the processor time in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    call = [command, "match", folder / "left", folder / "right", "-o", folder / "out", "--disparities", disparities, "--device", "cpu",
            "--calib", rig, "--report", folder / "report.json", "--quiet", *more]
    subprocess.run([str(part) for part in call], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    report = json.loads((folder / "report.json").read_text())
    return report, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def corrections(report, count):
    """Returns the turn that the tracker has corrected at each pair."""
    turns = np.zeros((count, 3))
    for news in report["rig"]:
        if news["kind"] == "corrected":
            turns[news["frame"] + DELAY :] += [news["turn"][name] for name in ANGLES]
    return turns


def measured_of(report):
    return np.array([frame["density"]["measured"] for frame in report["frames"]])


def case_of(command, pairs, camera, baseline, disparities, repeat):
    """Measures one sequence: as it is, and with a camera that turns."""
    count, size = len(pairs), pairs[0][0][0].shape[::-1]
    bump = count // 2
    turns = np.array([truth_at(i, bump) for i in range(count)])
    settled = np.array([i for i in range(WITHIN, count) if not bump <= i < bump + WITHIN])
    case = {"pairs": count, "bump": bump}
    with tempfile.TemporaryDirectory() as name:
        still, moving = (Path(name) / one for one in ("still", "moving"))
        for folder, truth in ((still, np.zeros_like(turns)), (moving, turns)):
            folder.mkdir()
            write(folder, pairs, camera, truth)
        rig = Path(name) / "K.txt"
        rig.write_text(" ".join(map(str, camera.ravel())) + f"\n{baseline}\n")
        follow = ("--track-rig", Path(name) / "rig.yml")
        true_rig, _ = run(command, still, disparities, rig)
        nothing, _ = run(command, still, disparities, rig, *follow)
        given, _ = run(command, moving, disparities, rig)
        report, _ = run(command, moving, disparities, rig, *follow)
        unmoved = corrections(nothing, count)
        found = corrections(report, count)
        case["still"] = {"turn": unmoved[-1].tolist(), "most": float(np.abs(unmoved).max()), "news": nothing["rig"]}
        errors = np.array([rows_apart(camera, size, truth - corrected) for truth, corrected in zip(turns, found)])
        after = [i for i in range(bump, count) if errors[i] <= 0.2]
        case["moving"] = {
            "rows": {"median": float(np.median(errors[settled])), "most": float(errors[settled].max())},
            "rows of the residual": float(np.median([report["frames"][i]["rows"]["rms"] for i in settled])),
            "pairs to correct the bump": after[0] - bump if after else None,
            "turn at the end": found[-1].tolist(), "truth": turns[-1].tolist(), "news": report["rig"],
        }
        case["measured"] = {who: float(measured_of(one)[settled].mean()) for who, one in (("true rig", true_rig), ("tracked", report), ("given rig", given))}
        ratios = []
        for _ in range(repeat):
            times = [run(command, moving, disparities, rig, *more)[1] for more in ((), follow)]
            ratios.append(times[1] / times[0])
        case["time"] = ratios
    return case


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--command", default=harness.COMMAND)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--pairs", type=int, default=120)
    parser.add_argument("--repeat", type=int, default=3)
    o = parser.parse_args()
    cases = {}
    with tempfile.TemporaryDirectory() as name:
        for what, sequence in (("generated", lambda: generated(o.command, Path(name), o.pairs)), ("road", lambda: road(o.dataset, o.pairs))):
            cases[what] = case_of(o.command, *sequence(), o.repeat)
            print(what, json.dumps({key: value for key, value in cases[what].items()}, ensure_ascii=False), flush=True)
    (harness.MEASURED / "track.json").write_text(json.dumps(cases, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
