#!/usr/bin/env python3
"""Measures the alignment of rows on generated pairs, whose right cameras are moved: errors with right rows, with the rows as they are, and with
aligned rows. Writes docs/measured/rows.json.

    docs/rows.py [--method sgm]

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


def main():
    parser = harness.parser_of(__doc__)
    parser.add_argument("--method", default="sgm")
    options = parser.parse_args()
    results = {"method": options.method, "commit": harness.commit_of(options.command), "scenes": {}}
    with tempfile.TemporaryDirectory() as name:
        for scene in SCENES:
            right, _ = wrong(options.command, options.method, generated(options.command, Path(name), scene, 0), "off")
            found = results["scenes"][scene] = {"right": right, "moved": {}}
            for offset in OFFSETS:
                pair = generated(options.command, Path(name), scene, offset)
                given, _ = wrong(options.command, options.method, pair, "off")
                aligned, rows = wrong(options.command, options.method, pair, "auto")
                found["moved"][str(offset)] = {"given": given, "aligned": aligned, "offset": rows["offset"], "reason": rows["reason"]}
                removed = (given - aligned) / max(given - right, 1e-9)
                print(f"{scene} {offset}: {right:.2f} → {given:.2f}, aligned {aligned:.2f}: {100 * removed:.0f} % of the added errors", flush=True)
    harness.write("rows", results)


if __name__ == "__main__":
    main()
