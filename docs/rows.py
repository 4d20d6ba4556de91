#!/usr/bin/env python3
"""Measures the alignment of rows on generated pairs, whose right cameras are moved: errors with right rows, with the rows as they are, and with
aligned rows. Writes docs/measured/rows.json.

    docs/rows.py errors [--method sgm]
    docs/rows.py waves [--method sgm]    right rows, and rows with waves of ±2 px along y and along both sides, and with random rows of ±1 px
    docs/rows.py scenes [--method sgm]   the scenes of STEREOPSIS_DATA, as they are and aligned, with the alignments that have a field
    docs/rows.py step [--device cuda]     the share of the alignment in the time of `sgm` at 1280×960×128; one thread of a CPU

The packages numpy and pillow are required.
"""

import json
import os
import subprocess
import tempfile
from pathlib import Path

import harness
import numpy as np

SCENES = ["table", "street", "interior", "clutter", "garden"]
OFFSETS = [0.25, 0.5, 1, 2, 4]
WAVES = {"480": ("--vertical-period", 480), "240": ("--vertical-period", 240), "160": ("--vertical-period", 160), "80": ("--vertical-period", 80),
         "240, along x 640": ("--vertical-period", 240, "--vertical-period-x", 640)}  # periods in pixels
DISPARITIES = 64
SEEDS = (7,)  # seeds of the pairs with waves


def generated(command, folder, scene, seed=7, *rows):
    out = folder / "-".join(str(part) for part in (scene, seed, *rows))
    call = [command, "synth", "-o", out, "--scene", scene, "--seed", seed, "--width", 640, "--height", 480, "--disparities", DISPARITIES, "--noise", 2, *rows]
    subprocess.run([str(part) for part in call], check=True, stdout=subprocess.DEVNULL)
    return out


def matched(command, method, files, disparities, rows, folder):
    """Returns the disparity of a pair, and the report's rows."""
    out, report = folder / "d.npy", folder / "report.json"
    call = [command, "match", *files, "-o", out, "--disparities", disparities, "--method", method, f"--align-rows={rows}", "--report", report, "--quiet"]
    subprocess.run([str(part) for part in call], check=True)
    return np.load(out), json.loads(report.read_text())["frames"][0]["rows"]


def wrong(command, method, pair, rows):
    """Returns the percentage of wrong or missing non-occluded pixels, and the report's rows."""
    disparity, found = matched(command, method, (pair / "left.png", pair / "right.png"), DISPARITIES, rows, pair)
    counted = harness.stored(pair / "mask_nonocc.png") == 255
    error = np.abs(disparity - harness.pfm(pair / "disp_left.pfm"))
    return 100 * float(np.mean(~(error[counted] <= 1))), found


def errors(command, method, folder):
    scenes = {}
    for scene in SCENES:
        right, _ = wrong(command, method, generated(command, folder, scene), "off")
        scenes[scene] = {"right": right, "moved": {}}
        for offset in OFFSETS:
            pair = generated(command, folder, scene, 7, "--vertical-offset", offset)
            given, _ = wrong(command, method, pair, "off")
            aligned, rows = wrong(command, method, pair, "auto")
            scenes[scene]["moved"][str(offset)] = {"given": given, "aligned": aligned, "offset": rows["offset"], "reason": rows["reason"]}
            removed = (given - aligned) / max(given - right, 1e-9)
            print(f"{scene} {offset}: {right:.2f} → {given:.2f}, aligned {aligned:.2f}: {100 * removed:.0f} % of the added errors", flush=True)
    return {"method": method, "scenes": scenes}


def waves(command, method, folder):
    scenes = {}
    for scene in SCENES:
        def mean(how, *rows):
            found = [wrong(command, method, generated(command, folder, scene, seed, *rows), how) for seed in SEEDS]
            return sum(share for share, _ in found) / len(found), [rows["reason"] or rows["field"] for _, rows in found if rows]

        right, _ = mean("off")
        unchanged, reasons = mean("auto")
        scenes[scene] = {"right": right, "right_auto": unchanged, "reasons": reasons, "waves": {}}
        for name, rows in {**{name: ("--vertical-wave", 2, *period) for name, period in WAVES.items()}, "random": ("--vertical-jitter", 1)}.items():
            given, aligned = mean("off", *rows)[0], mean("auto", *rows)[0]
            scenes[scene]["waves"][name] = {"given": given, "aligned": aligned}
            print(f"{scene} {name}: {right:.2f} → {given:.2f}, aligned {aligned:.2f}: {aligned / right:.2f} times", flush=True)
    return {"method": method, "scenes": scenes}


def scenes(command, method, folder):
    """Measures the scenes of a folder as they are, aligned, and aligned by the plane alone if the alignment has a field."""
    found = {}
    for scene in harness.scenes(os.environ["STEREOPSIS_DATA"]):
        def errors(how, scene=scene):
            disparity, rows = matched(command, method, scene.files, scene.disparities, how, folder)
            return 100 * float(scene.wrong(disparity)[scene.counted].mean()), rows

        given, (aligned, rows) = errors("off")[0], errors("auto")
        found[scene.name] = {"given": given, "aligned": aligned, "reason": rows["reason"], "rms": rows["rms"], "knots": [len(row) for row in rows["field"]]}
        if rows["field"]:
            found[scene.name]["plane"] = errors(",".join(str(rows[name]) for name in ("offset", "roll", "zoom", "keystone")))[0]
        print(scene.name, found[scene.name], flush=True)
    return {"method": method, "scenes": found}


def step(command, folder, device, frames=12):
    """Returns the medians of the times of the step and of the whole match over a sequence, in ms, for grey and RGB images."""
    from PIL import Image

    call = [command, "synth", "-o", folder, "--width", 1280, "--height", 960, "--disparities", 128, "--vertical-offset", 0.5]
    subprocess.run([str(part) for part in call], check=True, stdout=subprocess.DEVNULL)
    found = {}
    for kind, mode in (("grey", "L"), ("RGB", "RGB")):
        views = [folder / f"{side}-{kind}" for side in ("left", "right")]
        for view in views:
            view.mkdir()
            for i in range(frames):
                Image.open(folder / f"{view.name.split('-')[0]}.png").convert(mode).save(view / f"{i:02}.png")
        call = [command, "match", *views, "-o", folder / kind, "--disparities", 128, "--align-rows=-0.5", "--device", device, "--threads", 1,
                "--report", folder / "report.json", "--quiet"]
        subprocess.run([str(part) for part in call], check=True)
        times = [(next(s["ms"] for s in frame["stages"] if s["name"] == "alignment of rows"), sum(s["ms"] for s in frame["stages"]))
                 for frame in json.loads((folder / "report.json").read_text())["frames"]]
        aligning, whole = (float(np.median(values)) for values in zip(*times, strict=True))
        found[kind] = {"step_ms": aligning, "stages_ms": whole, "share": aligning / whole}
        print(kind, found[kind], flush=True)
    return found


def main():
    parser = harness.parser_of(__doc__)
    parser.add_argument("what", choices=("errors", "waves", "scenes", "step"))
    parser.add_argument("--method", default="sgm")
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    results = harness.read("rows")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if options.what == "step":
            measured = step(options.command, folder, options.device)
        else:
            measured = {"errors": errors, "waves": waves, "scenes": scenes}[options.what](options.command, options.method, folder)
    results[options.what if options.device == "cpu" else f"{options.what}-{options.device}"] = {"commit": harness.commit_of(options.command), "processor": harness.processor(), **measured}
    harness.write("rows", results)


if __name__ == "__main__":
    main()
