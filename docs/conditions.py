#!/usr/bin/env python3
"""Measures the confidence under the conditions of the field, and writes the table of trust.md.

    docs/conditions.py                measures the conditions, writes docs/measured/conditions.json and the table
    docs/conditions.py --table        writes only the table

Generated scenes get one condition of training/cameras.py each, and the command matches them with its default options,
so that it aligns rows and leaves out black borders. Pixels of the backdrop do not count. A measured pixel is wrong if it
is off by more than 1 pixel, or shows no scene. The shares are those of all scenes together, with that of the worst scene.
"""

import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from harness import DOCS, ROOT, commit_of, match, parser_of, read, replace, table, write

sys.path.insert(0, str(ROOT / "training"))
import cameras  # noqa: E402

SCENES = ("room", "interior", "mix", "traffic")
SURFACES = {"periodic surfaces": "repetitive", "plain surfaces": "textureless"}  # scenes that are conditions themselves
SIZE, DISPARITIES, NOISE, SEED = (640, 480), 64, 1, 1
CONDITIONS = {
    "JPEG, quality 90": "jpeg=90", "JPEG, quality 75": "jpeg=75", "JPEG, quality 50": "jpeg=50",
    "JPEG of 50, then rectified": "rectified_jpeg=50", "video": "video=3",
    "noise that both eyes share, 3 levels": "pattern=3", "noise that both eyes share, 6 levels": "pattern=6",
    "columns that both eyes share, 8 levels": "columns=8", "dust": "dust=0.6", "watermark": "watermark=0.5", "time stamp": "stamp=1",
    "a third clipped white": "white=0.33", "a third black": "black=0.33", "mosaic": "mosaic=1", "one eye out of focus": "defocus=2",
    "black border": "border_black=0.1", "replicated border": "border_replicated=0.1", "round picture": "round=0.85",
    "rows off by 0.15 px": "rows=0.15", "rows off by 1 px": "misaligned=1", "roll of 4 px": "roll=4", "zoom of 5 px": "zoom=5",
    "rolling shutter of 1 px": "shutter=1",
}  # fmt: skip
METHODS = {
    "sgm": ("sgm",), "balanced": ("balanced",), "sgm-learned": ("sgm-learned",),
    "remeasure": ("sgm", "--set", "density.stage=remeasure"),
}  # fmt: skip
SURE = 0.9  # confidence above which a pixel counts as sure
MOST_WRONG = 0.12  # share of wrong ones among the sure pixels of a scene above which a condition is named
FEWEST_SURE = 0.01  # share of sure pixels from which a scene can name a condition
COUNTS = ("counted", "measured", "wrong", "sure", "sure and wrong")  # pixels of a method


@dataclass
class Files:
    """A pair for `harness.match`."""

    folder: Path

    @property
    def files(self):
        return [self.folder / "left.png", self.folder / "right.png"]

    disparities = DISPARITIES


def generate(command, name, folder):
    size = ("--width", SIZE[0], "--height", SIZE[1], "--disparities", DISPARITIES, "--noise", NOISE, "--seed", SEED)
    subprocess.run([str(part) for part in (command, "synth", "-o", folder, "--scene", name, *size, "--quiet")], check=True)
    pair = cameras.read_scene(folder)
    pair.mask -= np.uint8(cameras.BACKDROP) * (pair.truth <= (DISPARITIES - 1) / 20 * 1.00001)
    return pair


def is_found(command, folder):
    """Returns whether `stereopsis check` finds a fault."""
    return subprocess.run([str(command), "check", "--quiet", *Files(folder).files], capture_output=True).returncode == 1


def counts(command, folder, pair, method):
    """Returns the numbers of pixels, of measured and wrong ones, of sure and wrong ones."""
    disparity, validity, confidence = match(command, Files(folder), *method, "--device", "cpu", align_rows="auto")
    counted = (pair.mask != cameras.VISIBLE - cameras.BACKDROP) & (pair.mask != cameras.OCCLUDED - cameras.BACKDROP)
    measured = (validity == 0) & counted
    sure, wrong = measured & (confidence > SURE), ~(np.abs(disparity - pair.truth) <= 1)
    return [int(pixels.sum()) for pixels in (counted, measured, measured & wrong, sure, sure & wrong)]


def measure(command, source, pair, condition, number):
    """Returns whether `check` finds the condition in a scene, and the counts of each method."""
    pair = cameras.Pair(*(np.copy(part) for part in (pair.left, pair.right, pair.truth, pair.mask)))
    cameras.apply(pair, condition, np.random.default_rng((SEED, number)))
    with tempfile.TemporaryDirectory() as folder:
        cameras.write_scene(pair, source, Path(folder))
        results = {name: counts(command, Path(folder), pair, method) for name, method in METHODS.items()}
        return {"found": is_found(command, Path(folder)), **results}


def measure_all(options):
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        pairs = {name: (Path(folder) / name, generate(options.command, name, Path(folder) / name))
                 for name in (*SCENES, *SURFACES.values())}  # fmt: skip
        jobs = {"none": (SCENES, {}), **{label: ([name], {}) for label, name in SURFACES.items()}}
        jobs |= {label: (SCENES, dict([cameras.condition_of(text)])) for label, text in CONDITIONS.items()}
        for label, (names, condition) in jobs.items():
            results[label] = {name: measure(options.command, *pairs[name], condition, i) for i, name in enumerate(names)}
            print(label, {name: share_of(*found["sgm"][3:]) for name, found in results[label].items()}, flush=True)
    about = {"commit": commit_of(options.command), "size": SIZE, "disparities": DISPARITIES, "counts": COUNTS}
    write("conditions", about | {"conditions": results})


def share_of(all_, part):
    return part / all_ if all_ else 0.0


def row_of(label, by_scene):
    """Returns a row of the table, and whether nothing finds that many sure pixels are wrong."""
    percent = lambda all_, part: f"{100 * share_of(all_, part):.0f}"
    of = lambda method: np.sum([found[method] for found in by_scene.values()], 0)
    missed, cells = False, []
    for method in METHODS:
        shares = [share_of(*found[method][3:]) for found in by_scene.values()]
        missed |= any(share > MOST_WRONG and found[method][3] > FEWEST_SURE * found[method][0] and not found["found"]
                      for share, found in zip(shares, by_scene.values()))  # fmt: skip
        cells.append(f"{percent(*of(method)[3:])} ({100 * max(shares):.0f})")
    pixels, measured, wrong, sure, _ = of("sgm")
    own = [percent(pixels, measured), percent(measured, wrong), percent(pixels, sure)]
    return [label, f"{sum(found['found'] for found in by_scene.values())} of {len(by_scene)}", *own, *cells], missed


def text_of(results):
    """Returns the table, and a sentence that names the conditions that nothing finds."""
    rows = {label: row_of(label, by_scene) for label, by_scene in results.items()}
    header = ["condition", "found", "measured", "wrong", "sure", *(f"`{name}`" for name in METHODS)]
    named = "; ".join(label for label, (_, missed) in rows.items() if missed) or "none"
    return (f"{table(header, [row for row, _ in rows.values()])}\n\nIn some scene, nothing finds these conditions although more than "
            f"{100 * MOST_WRONG:.0f} of 100 sure pixels are wrong: {named}.")  # fmt: skip


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--table", action="store_true", help="write only the table, from the results of an earlier call")
    options = parser.parse_args()
    if not options.table:
        measure_all(options)
    page = DOCS / "trust.md"
    page.write_text(replace(page.read_text(), "conditions", text_of(read("conditions")["conditions"])))


if __name__ == "__main__":
    main()
