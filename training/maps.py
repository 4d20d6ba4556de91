"""Disparity maps of generated scenes, which the command matches: complete maps, and winners with the validity of the checks."""

import json
import pathlib
import subprocess
import tempfile

import cv2
import numpy as np

# Refinements that never give an invalid pixel a disparity.
CHECKS = ("left_right", "speckle", "median", "outliers")


def pipelines(command, method, learned=None):
    """Returns pipelines of the method, of its winners without refinements, and of its checks without filling.

    `learned` is a file of weights of the cost network, for the methods that have the shipped 32 channels.
    """
    text = subprocess.run([command, "methods", method, "--json"], check=True, capture_output=True, text=True).stdout
    complete = json.loads(text)
    if learned and complete["cost"].get("weights") == "learned32":
        complete["cost"]["weights"] = str(learned)
    others = {name: slot for name, slot in complete.items() if name != "region"}  # the margin of a region depends on the refinements
    winners = {**others, "refinements": []}
    if "uniqueness" in complete["select"]:
        winners["select"] = {**complete["select"], "uniqueness": 0}
    checks = []
    for refinement in complete["refinements"]:
        if refinement["stage"] not in CHECKS:
            break
        checks.append(refinement)
    return complete, winners, {**others, "refinements": checks}


def match(command, folder, pipeline, disparities, device):
    """Returns the disparities and the validity of the pairs in a folder's subfolders `left` and `right`."""
    with tempfile.TemporaryDirectory() as out:
        out = pathlib.Path(out)
        (out / "pipeline.json").write_text(json.dumps(pipeline))
        call = [command, "match", folder / "left", folder / "right", "--pipeline", out / "pipeline.json", "--disparities", disparities,
                "--device", device, "--threads", 1, "--align-rows", "off", "--quiet",
                "-o", out / "d%03d.npy", "--validity", out / "v%03d.npy"]  # fmt: skip
        done = subprocess.run([str(part) for part in call], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"the command could not match the scenes: {done.stderr.strip()}")
        read = lambda name: np.stack([np.load(file) for file in sorted(out.glob(f"{name}*.npy"))])
        return read("d").astype(np.float32), read("v")


def of_scenes(command, methods, left, right, disparities, device="cpu", learned=None):
    """Yields for each method the disparities and the validity of its complete maps, then its winners with the validity of the checks."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for side, images in (("left", left), ("right", right)):
            (folder / side).mkdir()
            for i, image in enumerate(images):
                cv2.imwrite(str(folder / side / f"{i:03}.png"), image[..., ::-1])
        for method in methods:
            made = [match(command, folder, p, disparities, device) for p in pipelines(command, method, learned)]
            yield made[0]
            yield made[1][0], made[2][1]
