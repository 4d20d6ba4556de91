#!/usr/bin/env python3
"""Measures `calibrate --from-scenes` on generated rigs: generated pairs, whose right images are warped as a turned camera with another focal length
would see them. Writes docs/measured/rigs.json.

    docs/rigs.py errors [--pairs 20]        rotation errors of 0.02° to 2°, focal errors of 0.1 to 2 %, few pairs, noise, planes, far scenes
    docs/rigs.py coverage [--rigs 200]      how often the true value lies within the 95 % interval of each correction
    docs/rigs.py real                       the chessboard pairs and a sequence of KITTI odometry of --dataset, which are disturbed
    docs/rigs.py matched [--pairs 20]       errors of disparities with the corrected rig and with the true one
    docs/rigs.py unknown                    one pair of unknown cameras, and OpenCV's stereoRectifyUncalibrated on the same pair

The packages numpy, pillow and opencv-python-headless are required.
"""

import json
import random
import subprocess
import tempfile
from pathlib import Path

import cv2
import harness
import numpy as np

WIDTH, HEIGHT, FOCAL, BASELINE = 640, 480, 500.0, 0.12
CAMERA = np.array([[FOCAL, 0, (WIDTH - 1) / 2], [0, FOCAL, (HEIGHT - 1) / 2], [0, 0, 1]])
SCENES = ["interior", "traffic", "garden", "room", "clutter", "hills", "street", "thicket"]
TERMS = ["pitch", "yaw", "roll", "focal_ratio"]
LEAST_NOISE, FAR_METRES = 2, 20


def generate(command, folder, scene, seed, disparities=64):
    """Returns the folder of a generated pair."""
    out = folder / f"{scene}-{seed}-{disparities}"
    if not (out / "left.png").exists():
        call = [command, "synth", "-o", out, "--scene", scene, "--seed", seed, "--width", WIDTH, "--height", HEIGHT, "--disparities", disparities]
        subprocess.run([str(part) for part in call], check=True, stdout=subprocess.DEVNULL)
    return out


def warp_of(turn, focal):
    """Returns the homography from the ideal right image to that of a camera which is turned by `turn` (degrees about x, y, z)."""
    rotation, _ = cv2.Rodrigues(np.radians(turn))
    lens = CAMERA @ np.diag([1 + focal / 100, 1 + focal / 100, 1])
    lens[2, 2] = 1
    lens[:2, 2] = CAMERA[:2, 2]
    return lens @ rotation @ np.linalg.inv(CAMERA)


def noisy(image, noise, generator):
    return np.clip(image + generator.normal(0, noise, image.shape) + 0.5, 0, 255).astype(np.uint8)


def write_pairs(folder, pairs, turn, focal, noise, seed):
    """Writes the pairs that the disturbed rig sees, and the calibration that it had before."""
    generator, homography = np.random.default_rng(seed), warp_of(turn, focal)
    for i, pair in enumerate(pairs):
        for side in ("left", "right"):
            image = cv2.imread(str(pair / f"{side}.png"), cv2.IMREAD_GRAYSCALE).astype(np.float32)
            if side == "right":
                image = cv2.warpPerspective(image, homography, (WIDTH, HEIGHT), flags=cv2.INTER_LANCZOS4, borderMode=cv2.BORDER_REPLICATE)
            (folder / side).mkdir(exist_ok=True)
            cv2.imwrite(str(folder / side / f"{i:03}.png"), noisy(image, noise, generator))
    (folder / "K.txt").write_text(" ".join(map(str, CAMERA.ravel())) + f"\n{BASELINE}\n")


def refined(command, pairs, turn, focal=0, noise=LEAST_NOISE, seed=1):
    """Returns the report of the command; its sentence if it refuses the scenes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_pairs(folder, pairs, turn, focal, noise, seed)
        call = [command, "calibrate", "--from-scenes", folder / "left", "--from-scenes", folder / "right", "--calib", folder / "K.txt",
                "-o", folder / "rig.yml", "--report", folder / "report.json"]
        done = subprocess.run([str(part) for part in call], capture_output=True, text=True)
        if done.returncode:
            return done.stderr.strip()
        return json.loads((folder / "report.json").read_text())


def errors_of(report, turn, focal):
    """Returns the errors of the corrections, in degrees and percent, and their deviations."""
    truth = dict(zip(TERMS, (*turn, focal)))
    found = {name: report["corrections"][name] for name in TERMS}
    return {name: {"error": found[name]["correction"] - truth[name], "deviation": found[name]["deviation"]} for name in TERMS}


def case_of(command, pairs, turn, focal=0, noise=LEAST_NOISE, seed=1):
    report = refined(command, pairs, turn, focal, noise, seed)
    if isinstance(report, str):
        return {"refused": report}
    found = {"turn": turn, "focal": focal, "noise": noise, "pairs": len(pairs), **errors_of(report, turn, focal)}
    found |= {name: report[name] for name in ("points", "rows_before", "rows_after", "rows_deviation", "disparity_deviation")}
    disparity = np.radians(found["yaw"]["error"]) * FOCAL
    found["depth_error_far"] = 100 * disparity / (FOCAL * BASELINE / FAR_METRES)  # percent
    return found


def rectifying(calibration):
    """Returns the mappings of points of both images that a calibration makes."""
    file = cv2.FileStorage(str(calibration), cv2.FILE_STORAGE_READ)
    cameras = [[file.getNode(f"{name}{side}").mat() for name in "MDRP"] for side in (1, 2)]
    file.release()
    return [lambda points, c=c: cv2.undistortPoints(points[:, None], c[0], c[1], R=c[2], P=c[3])[:, 0] for c in cameras]


def bad_of(command, folder, calibration, pair, homography):
    """Returns the share of true points, in percent, that are wrong by more than 1 px after rectification by a calibration."""
    call = [command, "match", folder / "left/000.png", folder / "right/000.png", "--calib", calibration, "--raw", "-o", folder / "d.npy",
            "--align-rows", "off", "--min-disparity", -16, "--disparities", 112, "--device", "cpu", "--quiet"]
    subprocess.run([str(part) for part in call], check=True, stdout=subprocess.DEVNULL)
    found = np.load(folder / "d.npy")
    left, right = (move(points) for move, points in zip(rectifying(calibration), true_points(pair, homography)))
    columns, rows = np.rint(left).astype(int).T
    inside = (columns >= 0) & (rows >= 0) & (columns < found.shape[1]) & (rows < found.shape[0])
    errors = np.abs(found[rows[inside], columns[inside]] - (left[:, 0] - right[:, 0])[inside])
    return float(100 * np.mean(~(errors <= 1)))


def matched(command, folder, count):
    """Compares the errors of pairs that are rectified by the true rig and by the corrected one."""
    pairs = [generate(command, folder, SCENES[i % len(SCENES)], 1 + i // len(SCENES)) for i in range(count)]
    cases = {}
    for size in (0.1, 0.5, 2):
        turn = directions(size, 1, int(1000 * size) + 7)[0]
        homography = warp_of(turn, 0)
        with tempfile.TemporaryDirectory() as name:
            at = Path(name)
            write_pairs(at, pairs, turn, 0, LEAST_NOISE, 1)
            write_rig(at / "true.yml", turn)
            call = [command, "calibrate", "--from-scenes", at / "left", "--from-scenes", at / "right", "--calib", at / "K.txt", "-o", at / "found.yml"]
            subprocess.run([str(part) for part in call], check=True, stdout=subprocess.DEVNULL)
            errors = {"true": [], "found": []}
            for i, pair in enumerate(pairs):
                with tempfile.TemporaryDirectory() as one:
                    for side in ("left", "right"):
                        (Path(one) / side).mkdir()
                        (Path(one) / side / "000.png").write_bytes((at / side / f"{i:03}.png").read_bytes())
                    for rig, list_ in errors.items():
                        list_.append(bad_of(command, Path(one), at / f"{rig}.yml", pair, homography))
        cases[f"{size}°"] = {"turn": turn} | {rig: float(np.mean(list_)) for rig, list_ in errors.items()}
        print(size, cases[f"{size}°"], flush=True)
    return cases


def write_rig(file, turn):
    """Writes the true calibration of the turned cameras, which OpenCV rectifies."""
    rotation = cv2.Rodrigues(np.radians(turn))[0]
    translation = rotation @ np.array([[-BASELINE], [0], [0]])
    none = np.zeros(5)
    r1, r2, p1, p2, q, _, _ = cv2.stereoRectify(CAMERA, none, CAMERA, none, (WIDTH, HEIGHT), rotation, translation, alpha=0)
    out = cv2.FileStorage(str(file), cv2.FILE_STORAGE_WRITE)
    out.write("image_width", WIDTH)
    out.write("image_height", HEIGHT)
    for name, matrix in {"M1": CAMERA, "D1": none, "M2": CAMERA, "D2": none, "R": rotation, "T": translation, "R1": r1, "R2": r2, "P1": p1, "P2": p2, "Q": q}.items():
        out.write(name, matrix)
    out.release()


def directions(size, count, seed):
    """Returns rotations of this size in random directions."""
    generator = np.random.default_rng(seed)
    return [tuple((size * v / np.linalg.norm(v)).round(4).tolist()) for v in generator.normal(size=(count, 3))]


def errors(command, folder, count):
    pairs = [generate(command, folder, SCENES[i % len(SCENES)], 1 + i // len(SCENES)) for i in range(count)]
    planes, far = ([generate(command, folder, scene, 20 + i, disparities) for i in range(6)] for scene, disparities in (("planes", 64), ("hills", 4)))
    little, cases = (0.1, 0.1, 0.1), {}

    def add(name, *how, **more):
        cases[name] = case_of(command, *how, **more)
        print(name, json.dumps(cases[name], ensure_ascii=False), flush=True)

    for size in (0.02, 0.1, 0.5, 2):
        for i, turn in enumerate(directions(size, 2, int(1000 * size))):
            add(f"turned by {size}° ({i + 1})", pairs, turn)
    for focal in (0.1, 0.5, 2):
        add(f"focal length {focal} %", pairs, little, focal)
    add("noise 6", pairs, little, noise=6)
    add("3 pairs", pairs[:3], little)
    add("1 pair", pairs[:1], little)
    add("planes", planes, little)
    add("far", far, little)
    return cases


def coverage(command, folder, count):
    """Returns the share of the rigs in which the truth lies within 1.96 deviations, for each term."""
    bank = [generate(command, folder, scene, seed) for scene in SCENES for seed in (1, 2, 3)]
    choose, inside, refused = random.Random(7), {name: 0 for name in TERMS}, 0
    for i in range(count):
        pairs = choose.sample(bank, 8)
        turn = tuple(round(choose.gauss(0, 0.3), 4) for _ in range(3))
        focal = round(choose.gauss(0, 0.3), 4)
        report = refined(command, pairs, turn, focal, choose.choice((1, 2, 4)), i)
        if isinstance(report, str):
            refused += 1
            continue
        for name, term in errors_of(report, turn, focal).items():
            inside[name] += abs(term["error"]) <= 1.96 * term["deviation"]
        print(i + 1, {name: round(n / (i + 1 - refused), 3) for name, n in inside.items()}, flush=True)
    return {"rigs": count, "refused": refused, "inside": {name: n / max(count - refused, 1) for name, n in inside.items()}}


def difference(command, folder, calibration, turned, images, raw):
    """Returns the rotation that the command finds for a disturbed calibration, less the one for the given calibration, in degrees."""
    found = []
    for file in (calibration, turned):
        call = [command, "calibrate", *(part for name in images for part in ("--from-scenes", name)), "--calib", file, *(["--raw"] if raw else []),
                "-o", folder / "rig.yml", "--report", folder / "report.json"]
        subprocess.run([str(part) for part in call], check=True, capture_output=True)
        found.append(json.loads((folder / "report.json").read_text()))
    given, disturbed = found
    angles = {name: disturbed["corrections"][name]["correction"] - given["corrections"][name]["correction"] for name in TERMS[:3]}
    deviations = {name: given["corrections"][name]["deviation"] for name in TERMS[:3]}
    return angles, deviations, given, disturbed


def real(command, dataset, turn=(0.5, 0.3, -0.4)):
    """The rotation of the right camera in the calibration is disturbed, so that the correction must undo it."""
    cases = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        board = Path(dataset) / "calibration/opencv_chessboard"
        views = [str(board / f"{side}*.jpg") for side in ("left", "right")]
        call = [command, "calibrate", "--left", views[0], "--right", views[1], "--board", "chessboard:9x6:25mm", "-o", folder / "board.yml"]
        subprocess.run([str(part) for part in call], check=True, stdout=subprocess.DEVNULL)
        file = cv2.FileStorage(str(folder / "board.yml"), cv2.FILE_STORAGE_READ)
        matrices = {key: file.getNode(key).mat() for key in ("M1", "D1", "M2", "D2", "R", "T")}
        size = [int(file.getNode(key).real()) for key in ("image_width", "image_height")]
        file.release()
        undo = cv2.Rodrigues(-np.radians(turn))[0]
        matrices["R"], matrices["T"] = undo @ matrices["R"], undo @ matrices["T"]
        turned = cv2.FileStorage(str(folder / "turned.yml"), cv2.FILE_STORAGE_WRITE)
        turned.write("image_width", size[0])
        turned.write("image_height", size[1])
        for key, matrix in matrices.items():
            turned.write(key, matrix)
        turned.release()
        angles, deviations, given, disturbed = difference(command, folder, folder / "board.yml", folder / "turned.yml", views, True)
        cases["chessboard"] = {"turn": turn, "found": angles, "deviations": deviations, "given": given, "disturbed": disturbed}
        cases["kitti"] = kitti(command, folder, Path(dataset) / "kitti_odometry/sequence_2", turn)
    print(json.dumps(cases, ensure_ascii=False))
    return cases


def kitti(command, folder, sequence, turn):
    """Returns the rotation that is found for rectified pairs whose right images are turned, less the one for the given pairs."""
    numbers = np.loadtxt(sequence / "calib.txt")
    focal, cx, cy = numbers[0][0], numbers[0][2], numbers[0][6]
    matrix = np.array([[focal, 0, cx], [0, focal, cy], [0, 0, 1]])
    homography = matrix @ cv2.Rodrigues(np.radians(turn))[0] @ np.linalg.inv(matrix)
    (folder / "turned").mkdir()
    for file in sorted((sequence / "right").iterdir()):
        image = cv2.imread(str(file), cv2.IMREAD_GRAYSCALE)
        turned = cv2.warpPerspective(image, homography, image.shape[::-1], flags=cv2.INTER_LANCZOS4, borderMode=cv2.BORDER_REPLICATE)
        cv2.imwrite(str(folder / "turned" / f"{file.stem}.png"), turned)
    found = []
    for right in (sequence / "right", folder / "turned"):
        call = [command, "calibrate", "--from-scenes", sequence / "left", "--from-scenes", right, "--calib", sequence / "calib.txt",
                "-o", folder / "kitti.yml", "--report", folder / "report.json"]
        subprocess.run([str(part) for part in call], check=True, capture_output=True)
        found.append(json.loads((folder / "report.json").read_text()))
    corrections = [report["corrections"] for report in found]
    return {
        "turn": turn,
        "found": {name: corrections[1][name]["correction"] - corrections[0][name]["correction"] for name in TERMS[:3]},
        "deviations": {name: corrections[0][name]["deviation"] for name in TERMS[:3]},
        **{name: [report[name] for report in found] for name in ("rows_before", "rows_after")},
    }


def true_points(pair, homography):
    """Returns points of the left image, and where the turned camera sees them."""
    truth = cv2.imread(str(pair / "disp_left.pfm"), cv2.IMREAD_UNCHANGED)
    rows, columns = (part.ravel() for part in np.mgrid[10 : HEIGHT - 10 : 10, 10 : WIDTH - 10 : 10])
    disparities = truth[rows, columns]
    seen = np.isfinite(disparities) & (columns - disparities > 0)
    left = np.stack([columns, rows], 1)[seen].astype(np.float64)
    right = left - np.stack([disparities[seen], 0 * disparities[seen]], 1)
    return left, cv2.perspectiveTransform(right[None], homography)[0]


def stretch_of(move):
    """Returns by how much the mapping of points stretches parts of the image more in one direction than in another, at most."""
    worst = 1.0
    for x, y in ((40, 40), (WIDTH - 40, 40), (40, HEIGHT - 40), (WIDTH - 40, HEIGHT - 40), (WIDTH / 2, HEIGHT / 2)):
        at = move(np.array([[x, y], [x + 1, y], [x, y + 1]], np.float64))
        sizes = np.linalg.svd(np.stack([at[1] - at[0], at[2] - at[0]]), compute_uv=False)
        worst = max(worst, float(sizes[0] / sizes[1]))
    return worst


def by_command(command, folder):
    """Returns the rectifying mappings of both images that the command finds, or its sentence."""
    call = [command, "calibrate", "--from-scenes", folder / "left", "--from-scenes", folder / "right", "-o", folder / "rig.yml"]
    done = subprocess.run([str(part) for part in call], capture_output=True, text=True)
    if done.returncode:
        return done.stderr.strip()
    return rectifying(folder / "rig.yml")


def by_opencv(folder):
    """Returns the mappings of stereoRectifyUncalibrated, with SIFT and RANSAC as its documentation shows it."""
    images = [cv2.imread(str(folder / side / "000.png"), cv2.IMREAD_GRAYSCALE) for side in ("left", "right")]
    sift = cv2.SIFT_create(4000)
    (points, first), (others, second) = (sift.detectAndCompute(image, None) for image in images)
    best = [a for a, b in cv2.BFMatcher().knnMatch(first, second, k=2) if a.distance < 0.7 * b.distance]
    left, right = np.array([points[m.queryIdx].pt for m in best]), np.array([others[m.trainIdx].pt for m in best])
    matrix, inside = cv2.findFundamentalMat(left, right, cv2.USAC_MAGSAC, 0.5, 0.9999, 20000)
    if matrix is None:
        return "no fundamental matrix"
    inside = inside.ravel() > 0
    done, *homographies = cv2.stereoRectifyUncalibrated(left[inside], right[inside], matrix, (WIDTH, HEIGHT))
    if not done:
        return "no rectification"
    return [lambda points, h=h: cv2.perspectiveTransform(points[None], h)[0] for h in homographies]


def unknown(command, folder):
    """Rows of true points after rectification, in pixels of the rectified images, and how much these are stretched."""
    cases = {}
    for i, scene in enumerate(SCENES):
        pair = generate(command, folder, scene, 41)
        turn = directions(1 if i % 2 else 5, 1, 70 + i)[0]
        with tempfile.TemporaryDirectory() as name:
            write_pairs(Path(name), [pair], turn, 0, LEAST_NOISE, i)
            left, right = true_points(pair, warp_of(turn, 0))
            for who, moves in (("command", by_command(command, Path(name))), ("opencv", by_opencv(Path(name)))):
                if isinstance(moves, str):
                    case = {"refused": moves}
                else:
                    rows = np.abs(moves[0](left)[:, 1] - moves[1](right)[:, 1])
                    case = {"median": float(np.median(rows)), "p95": float(np.percentile(rows, 95)), "stretch": max(map(stretch_of, moves))}
                cases.setdefault(scene, {"turn": turn})[who] = case
        print(scene, json.dumps(cases[scene], ensure_ascii=False), flush=True)
    return cases


def main():
    parser = harness.parser_of(__doc__)
    parser.add_argument("what", choices=("errors", "coverage", "real", "unknown", "matched"))
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--rigs", type=int, default=200)
    parser.add_argument("--bank", type=Path, help="folder that keeps the generated pairs")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = options.bank or Path(name)
        results = harness.read("rigs")
        if options.what == "errors":
            results["errors"] = errors(options.command, folder, options.pairs)
        elif options.what == "coverage":
            results["coverage"] = coverage(options.command, folder, options.rigs)
        elif options.what == "matched":
            results["matched"] = matched(options.command, folder, options.pairs)
        elif options.what == "unknown":
            results["unknown"] = unknown(options.command, folder)
        else:
            results["real"] = real(options.command, options.dataset)
        results["commit"] = harness.commit_of(options.command)
        harness.write("rigs", results)


if __name__ == "__main__":
    main()
