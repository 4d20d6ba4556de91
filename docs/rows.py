#!/usr/bin/env python3
"""Measures the alignment of rows on generated pairs, whose right cameras are moved: errors with right rows, with the rows as they are, and with
aligned rows. Writes docs/measured/rows.json.

    docs/rows.py errors [--method sgm]
    docs/rows.py step [--device cuda]     the share of the alignment in the time of `sgm` at 1280×960×128; one thread of a CPU

The packages numpy and pillow are required.
"""

import json
import subprocess
import tempfile
from pathlib import Path

import harness
import numpy as np

SCENES = ["table", "street", "interior", "clutter", "garden"]
OFFSETS = [0.25, 0.5, 1, 2, 4]
DISPARITIES = 64


def generated(command, folder, scene, offset):
    out = folder / f"{scene}-{offset}"
    call = [command, "synth", "-o", out, "--scene", scene, "--seed", 7, "--width", 640, "--height", 480, "--disparities", DISPARITIES, "--noise", 2,
            "--vertical-offset", offset]
    subprocess.run([str(part) for part in call], check=True, stdout=subprocess.DEVNULL)
    return out


def wrong(command, method, pair, rows):
    """Returns the percentage of wrong or missing non-occluded pixels, and the report's rows."""
    out, report = pair / "d.npy", pair / "report.json"
    call = [command, "match", pair / "left.png", pair / "right.png", "-o", out, "--disparities", DISPARITIES, "--method", method,
            "--align-rows", rows, "--report", report, "--quiet"]
    subprocess.run([str(part) for part in call], check=True)
    counted = harness.stored(pair / "mask_nonocc.png") == 255
    error = np.abs(np.load(out) - harness.pfm(pair / "disp_left.pfm"))
    return 100 * float(np.mean(~(error[counted] <= 1))), json.loads(report.read_text())["frames"][0]["rows"]


def errors(command, method, folder):
    scenes = {}
    for scene in SCENES:
        right, _ = wrong(command, method, generated(command, folder, scene, 0), "off")
        scenes[scene] = {"right": right, "moved": {}}
        for offset in OFFSETS:
            pair = generated(command, folder, scene, offset)
            given, _ = wrong(command, method, pair, "off")
            aligned, rows = wrong(command, method, pair, "auto")
            scenes[scene]["moved"][str(offset)] = {"given": given, "aligned": aligned, "offset": rows["offset"], "reason": rows["reason"]}
            removed = (given - aligned) / max(given - right, 1e-9)
            print(f"{scene} {offset}: {right:.2f} → {given:.2f}, aligned {aligned:.2f}: {100 * removed:.0f} % of the added errors", flush=True)
    return {"method": method, "scenes": scenes}


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
    parser.add_argument("what", choices=("errors", "step"))
    parser.add_argument("--method", default="sgm")
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    results = harness.read("rows")
    with tempfile.TemporaryDirectory() as name:
        measured = errors(options.command, options.method, Path(name)) if options.what == "errors" else step(options.command, Path(name), options.device)
    results[options.what if options.device == "cpu" else f"{options.what}-{options.device}"] = {"commit": harness.commit_of(options.command), "processor": harness.processor(), **measured}
    harness.write("rows", results)


if __name__ == "__main__":
    main()
