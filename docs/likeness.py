#!/usr/bin/env python3
"""Measures how well errors on generated scenes predict those on open ones: rank correlations over the methods.

    docs/likeness.py --data DIR --roads DIR --work DIR [--count 12] [--save docs/measured/likeness.json]

DIR of --data has the indoor sets (middlebury_*), DIR of --roads KITTI's pairs, each with a dataset.json. The
script generates scenes of each mixture of `stereopsis synth --random --like`, and matches them by all methods on the CPU.
KITTI has no truth in the sky, so pixels of the backdrop do not count in generated scenes either. Results of earlier
calls in --work are used again. The share of scenes left out is that of `sgm-learned` with more than 15 % of wrong
visible pixels (bad 1), which training does not use; it is measured with and without the sky.
"""

import argparse
import json
import subprocess
from pathlib import Path
from statistics import mean

import numpy as np

DOCS = Path(__file__).resolve().parent
METHODS = ["sgm", "balanced", "sgm-learned", "sgm-learned-fast", "banz-sgm", "zncc", "census-guided", "prehn-window",
           "prehn-pyramid", "realtime-dp", "esaw", "segment-support", "costfilter", "ad-census"]
# Size of the scenes and of the pictures of which they are parts. Roads are as wide as KITTI's, at half the size.
SIZES = {"varied": (384, 256, 560, 420), "indoor": (384, 256, 560, 420), "plants": (384, 256, 560, 420),
         "road": (621, 188, 621, 188), "mixed": (384, 256, 560, 420)}
DISPARITIES, SEED = 80, 700_000_000
MOST_WRONG = 15  # percent


def read_pfm(file):
    with file.open("rb") as stream:
        header = [stream.readline() for _ in range(3)]
        width, height = map(int, header[1].split())
        return header, np.frombuffer(stream.read(), "<f4").reshape(height, width)


def remove_sky(scene):
    """Marks the truth of the backdrop, which is at the far end of the range, as unknown."""
    disparities = json.loads((scene / "dataset.json").read_text())["ndisp"]
    header, truth = read_pfm(scene / "disp_left.pfm")
    without = np.where(truth <= (disparities - 1) / 20 * 1.00001, np.inf, truth).astype("<f4")
    (scene / "disp_left.pfm").write_bytes(b"".join(header) + without.tobytes())


class Measurement:
    def __init__(self, options):
        self.options = options

    def call(self, *arguments):
        subprocess.run([str(a) for a in (self.options.command, *arguments)], check=True, stdout=subprocess.DEVNULL)

    def bench(self, method, name, folder):
        """Returns the average measures by dataset."""
        file = self.options.work / f"{method}-{name}.json"
        if not file.exists():
            self.call("bench", "--dataset", folder, "--method", method, "--device", "cpu", "--no-peers", "--repeat", 1,
                      "--json", file)
        return json.loads(file.read_text())["results"][0]["average"]

    def left_out(self, name, folder):
        """Returns the share of scenes, in percent, that sgm-learned gets wrong in too many visible pixels."""
        file = self.options.work / f"left-out-{name}.json"
        if not file.exists():
            self.call("evaluate", "--dataset", folder, "--method", "sgm-learned", "--device", "cpu", "--json", file)
        wrong = [s["measures"]["nonocc"]["bad1.0"] for s in json.loads(file.read_text())["scenes"]]
        return round(100 * mean(w > MOST_WRONG for w in wrong), 1)

    def generate(self, mixture):
        folder = self.options.work / mixture
        width, height, picture_width, picture_height = SIZES[mixture]
        if not folder.exists():
            self.call("synth", "-o", folder, "--random", "--like", mixture, "--count", self.options.count,
                      "--width", width, "--height", height, "--picture-width", picture_width,
                      "--picture-height", picture_height, "--disparities", DISPARITIES, "--seed", SEED)
        left_out = {"with the sky": self.left_out(mixture, folder)}
        for scene in folder.iterdir():
            remove_sky(scene)
        return folder, left_out | {"without the sky": self.left_out(f"{mixture}-without-sky", folder)}

    def run(self):
        generated = {mixture: self.generate(mixture) for mixture in self.options.mixtures}
        indoor = sorted(self.options.data.glob("middlebury_*"))
        errors = {}
        for method in self.options.methods:
            d1 = self.bench(method, "roads", self.options.roads)  # by dataset: KITTI 2012 and 2015
            sets = [self.bench(method, folder.name, folder)[folder.name] for folder in indoor]
            own = errors[method] = {
                "indoor sets": mean(a["measures"]["nonocc"]["bad1.0"] for a in sets),
                "roads": mean(d1_of(a) for name, a in d1.items() for _ in (self.options.roads / name).iterdir()),
            }
            for mixture, (folder, _) in generated.items():
                own[mixture] = self.bench(method, mixture, folder)["synth"]["measures"]["nonocc"]["bad1.0"]
            print(method, {k: round(v, 2) for k, v in own.items()}, flush=True)
        return {
            "scenes": self.options.count,
            "errors": {m: {k: round(v, 3) for k, v in own.items()} for m, own in errors.items()},
            "correlation": {m: {real: round(spearman([e[m] for e in errors.values()],
                                                     [e[real] for e in errors.values()]), 3)
                                for real in ("indoor sets", "roads")} for m in generated},
            "left out": {mixture: left_out for mixture, (_, left_out) in generated.items()},
        }


def d1_of(average):
    """D1 of all pixels with truth."""
    return average["measures"].get("all", average["measures"]["nonocc"])["d1"]


def spearman(a, b):
    ranks = [np.argsort(np.argsort(values)) for values in (a, b)]
    return float(np.corrcoef(*ranks)[0, 1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--roads", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--count", type=int, default=12)
    parser.add_argument("--mixtures", nargs="+", default=list(SIZES))
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--command", default=DOCS.parent / "build/release/bin/stereopsis")
    parser.add_argument("--save", type=Path, default=DOCS / "measured/likeness.json")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    results = Measurement(options).run()
    options.save.write_text(json.dumps(results, indent=1) + "\n")
    print(json.dumps({k: results[k] for k in ("correlation", "left out")}, indent=1))


if __name__ == "__main__":
    main()
