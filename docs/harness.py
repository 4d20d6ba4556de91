"""Shared by the scripts that measure: calls of the command, scenes with ground truth, files of results, tables."""

import argparse
import json
import os
import re
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
MEASURED = DOCS / "measured"
COMMAND = ROOT / "build/release/bin/stereopsis"
SIZE = "1280x960x128"


# The command ------------------------------------------------------------------------------------------------------------


def bench(command, *arguments, methods=()):
    """Returns the results of `stereopsis bench`."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "bench.json"
        call = [command, "bench", "--json", file, *arguments, *(part for m in methods for part in ("--method", m))]
        subprocess.run([str(part) for part in call], check=True, stdout=subprocess.DEVNULL)
        return json.loads(file.read_text())


def commit_of(command):
    """Returns the commit that the command was built from."""
    return bench(command, "--device", "cpu", "--no-peers", "--repeat", 1, "--size", "64x64x16")["results"][0]["commit"]


def match(command, scene, method, *arguments, align_rows="off"):
    """Returns the disparity, the validity and the confidence of a scene's left view. The arguments name a pipeline if the method is None."""
    with tempfile.TemporaryDirectory() as folder:
        disparity, validity, confidence = (Path(folder) / name for name in ("d.npy", "v.png", "c.npy"))
        call = [command, "match", *scene.files, "--align-rows", align_rows, "-o", disparity, "--validity", validity, "--confidence", confidence,
                "--disparities", scene.disparities, *(["--method", method] if method else []), "--quiet", *arguments]
        subprocess.run([str(part) for part in call], check=True)
        return np.load(disparity), stored(validity), np.load(confidence)


def processor():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(": ")[2]
    return "an unknown processor"


# Scenes -----------------------------------------------------------------------------------------------------------------


def pfm(file):
    with open(file, "rb") as f:
        assert f.readline().strip() == b"Pf"
        width, height = map(int, f.readline().split())
        kind = "<f4" if float(f.readline()) < 0 else ">f4"
        return np.flipud(np.frombuffer(f.read(), kind).reshape(height, width))


def stored(file):
    from PIL import Image  # only the scripts that measure need it

    return np.asarray(Image.open(file))


@dataclass
class Scene:
    """A pair with ground truth, as `stereopsis evaluate --dataset` reads it. Errors count on non-occluded pixels, on roads on all."""

    folder: Path
    about: dict

    @property
    def dataset(self):
        return self.folder.parent.name

    @property
    def name(self):
        return f"{self.dataset}/{self.folder.name}"

    @property
    def road(self):
        return self.dataset.startswith("kitti")

    @property
    def files(self):
        return [self.folder / self.about.get(side, f"{side}.png") for side in ("left", "right")]

    @property
    def disparities(self):
        return self.about["ndisp"]

    def read_truth(self, name):
        """Returns a map of true disparities, NaN where they are unknown."""
        file = self.folder / name
        if file.suffix == ".pfm":
            truth = pfm(file)
            return np.where(np.isfinite(truth), truth, np.nan)
        values = stored(file).astype(np.float32)
        return np.where(values > 0, values / self.about["gt_scale"], np.nan)

    @cached_property
    def truth(self):
        return self.read_truth(self.about["gt"])

    @cached_property
    def regions(self):
        """Returns the counted pixels of nonocc, all and disc, as far as the scene has them, by the rules of stereopsis/dataset.hpp."""
        known, found = np.isfinite(self.truth), {}
        only_nonocc = self.about.get("gt_kind", "").startswith("noc")
        if "gt_noc" in self.about:
            found["nonocc"] = known & np.isfinite(self.read_truth(self.about["gt_noc"]))
        elif "gt_right" in self.about:
            found["nonocc"] = known & visible(self.truth, self.read_truth(self.about["gt_right"]))
        elif only_nonocc:
            found["nonocc"] = known
        if not only_nonocc:
            found["all"] = known
        for name in self.about.get("masks", {}):
            found[name.removeprefix("mask_").removesuffix(".png")] = known & (stored(self.folder / name) == 255)
        return found

    @property
    def widest(self):
        return "all" if "all" in self.regions else "nonocc"

    @property
    def counted(self):
        return self.regions[self.widest if self.road else "nonocc"]

    def wrong(self, disparity, limit=1):
        """Returns where a disparity is missing or off by more than the limit."""
        return ~(np.abs(disparity - self.truth) <= limit)

    def measures(self, disparity):
        """Returns bad 1.0 and D1 of each region, in percent, as `stereopsis evaluate` does."""
        wrong, d1 = self.wrong(disparity), self.wrong(disparity, np.maximum(3, 0.05 * self.truth))
        return {name: {"bad1.0": 100 * float(wrong[pixels].mean()), "d1": 100 * float(d1[pixels].mean())} for name, pixels in self.regions.items()}


def visible(left, right):
    """Returns the pixels of the left view that the right truth confirms within 1 pixel, as the command's measure `nonocc` does."""
    y, x = np.indices(left.shape)
    seen = x - np.floor(np.nan_to_num(left) + 0.5).astype(int)
    inside = (seen >= 0) & (seen < left.shape[1])
    return inside & (np.abs(left - right[y, np.clip(seen, 0, left.shape[1] - 1)]) <= 1)


def scenes(*folders):
    """Returns the scenes of DATASET/SCENE folders, in the order of their names."""
    found = []
    for file in sorted(file for folder in folders for file in Path(folder).glob("*/*/dataset.json")):
        about = json.loads(file.read_text())
        if {"left", "right", "gt", "ndisp"} <= about.keys():
            found.append(Scene(file.parent, about))
    return found


def filled(disparity):
    """Fills each run of missing pixels in a row with the smaller of its two neighbours, as `stereopsis bench` fills the maps of peers."""
    out = disparity.copy()
    rows = np.flatnonzero(np.isfinite(out).any(1))
    for y in range(len(out)):  # an empty row takes the values of the nearest row above, or else below
        out[y] = out[rows[max(np.searchsorted(rows, y, side="right") - 1, 0)]] if len(rows) else 0
    for row in out:
        there = np.flatnonzero(np.isfinite(row))
        place = np.searchsorted(there, np.arange(len(row)), side="right") - 1
        left, right = row[there[np.clip(place, 0, None)]], row[there[np.clip(place + 1, None, len(there) - 1)]]
        hole = ~np.isfinite(row)
        row[hole] = np.where(place < 0, right, np.minimum(left, right))[hole]
    return out


# Files and tables ---------------------------------------------------------------------------------------------------------


def read(name):
    """Returns the results in docs/measured/NAME.json; {} if there are none."""
    file = MEASURED / f"{name}.json"
    return json.loads(file.read_text()) if file.exists() else {}


def write(name, results):
    text = json.dumps(results, indent=1, ensure_ascii=False)
    text = re.sub(r"\[[^][{}]*\]", lambda found: " ".join(found[0].split()), text)  # a list of numbers is one line
    (MEASURED / f"{name}.json").write_text(text + "\n")


def table(header, rows):
    """The first column is text, the others are numbers."""
    lines = [header, ["---"] + ["---:"] * (len(header) - 1)] + rows
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def number(value, decimals):
    return "–" if value is None else f"{value:.{decimals}f}"


def size_of(result):
    return f"{result['width']}×{result['height']}×{result['disparities']}"


def title(label):
    """sgm:sgm.paths=8 → sgm, paths 8"""
    name, _, settings = label.partition(":")
    parts = [s.partition(".")[2].replace("=", " ") for s in settings.split(",") if s]
    return ", ".join([name.replace("OpenCV Stereo", "OpenCV ")] + parts)


def replace(page, name, text):
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    found = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    if not found.search(page):
        raise SystemExit(f"the page lacks the markers {begin} and {end}")
    return found.sub(lambda _: f"{begin}\n{text}\n{end}", page)


def parser_of(description):
    """Returns the options that all scripts which measure share."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", default=COMMAND)
    parser.add_argument("--dataset", type=Path, default=os.environ.get("STEREOPSIS_DATA"), help="folder of the six datasets")
    parser.add_argument("--roads", type=Path, default=os.environ.get("STEREOPSIS_ROADS"), help="folder of twelve pairs of KITTI")
    return parser
