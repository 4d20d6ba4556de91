#!/usr/bin/env python3
"""Runs the benchmarks of a GPU and writes their tables into docs/benchmarks.md, between its markers.

    docs/gpu_benchmarks.py [--device cuda:0] [--command build/release/bin/stereopsis] [--libsgm PROGRAM] [--save FILE.json]
    docs/gpu_benchmarks.py --from FILE.json

--save keeps the results instead of writing the page, for a machine without this folder's history; --from writes the page
from such a file. --libsgm names a program that times libSGM on the same GPU: it takes sizes such as 1280x960x128, and prints
{"size": "1280x960x128", "paths": 8, "ms": 2.5} in a line for each size with 8 and with 4 paths.
"""

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

from benchmarks import DOCS, number, replace, size_of, table

SIZES = ["640x480x128", "1242x375x128", "1280x960x64", "1280x960x128", "1280x960x256", "1920x1080x256", "2880x1980x256"]
WHOLE = "left_right.enabled=true,select.subpixel=parabola"
METHODS = ["sgm", "sgm-learned-fast", "sgm-learned", "ad-census", "prehn-window", "prehn-pyramid", "zncc", "asw-separable", "realtime-dp",
           "realtime-bp", "segment-support", "esaw", "census-guided", "census-guided:levels.lambda=0.3", "costfilter", "asw"]
METHOD_SIZES = ["450x375x60", "1280x960x128"]
BATCH, BATCH_SIZE = 32, "640x480x128"


class Runner:
    def __init__(self, command, device, folder):
        self.command, self.device, self.folder = command, device, Path(folder)

    def bench(self, methods, sizes, *more, repeat=31):
        file = self.folder / "bench.json"
        call = [self.command, "bench", "--device", self.device, "--no-peers", "--repeat", str(repeat), "--json", file]
        call += [part for m in methods for part in ("--method", m)] + [part for s in sizes for part in ("--size", s)]
        subprocess.run(call + list(more), check=True, stdout=subprocess.DEVNULL)
        return json.loads(file.read_text())

    def census(self):
        """banz-sgm on census words of 62 bits, as a pipeline's file."""
        pipeline = json.loads(subprocess.run([self.command, "methods", "banz-sgm", "--json"], check=True,
                                             capture_output=True, text=True).stdout)
        pipeline["cost"] = {"stage": "census", "window": "9x7"}
        file = self.folder / "census.json"
        file.write_text(json.dumps(pipeline))
        return str(file)

    def all(self):
        banz, census = f"banz-sgm:{WHOLE}", f"{self.census()}:{WHOLE}"
        first = self.bench([banz, f"{banz},sgm.paths=4", census, f"{census},sgm.paths=4", "sgm"], SIZES)
        batches = self.bench([banz, f"{banz},sgm.paths=4"], [BATCH_SIZE], "--batch", str(BATCH))
        methods = self.bench(METHODS, METHOD_SIZES, repeat=11)
        return {"device": self.device, "hardware": first["hardware"][self.device], "sgm": first["results"],
                "batches": batches["results"], "methods": methods["results"]}


def libsgm(program):
    """Returns the milliseconds of libSGM by size and number of paths."""
    printed = subprocess.run([program, *SIZES], check=True, capture_output=True, text=True).stdout
    times = {}
    for line in map(json.loads, printed.splitlines()):
        times.setdefault(line["size"].replace("x", "×"), {})[str(line["paths"])] = line["ms"]
    return times


def share(result):
    return f"{100 * result['roof']['ms'] / result['median_ms']:.0f} %"


def by_size(results):
    return {size: [r for r in results if size_of(r) == size] for size in dict.fromkeys(map(size_of, results))}


def sgm(results, peer):
    rows = []
    for size, (eight, four, *_) in by_size(results).items():
        row = [size]
        for ours, paths in ((eight, "8"), (four, "4")):
            theirs = peer.get(size, {}).get(paths)
            row += [number(ours["median_ms"], 3), number(ours["gde_per_s"], 0), share(ours), number(theirs, 2),
                    number(theirs and theirs / ours["median_ms"], 1)]
        rows.append(row)
    header = [f"{what}, {paths}" for paths in ("8 paths", "4 paths")
              for what in ("ms", "GDE/s", "of the roof", "libSGM ms", "times as fast")]
    return table(["`banz-sgm`"] + header, rows)


def costs(results):
    rows = []
    for size, (eight, four, census8, census4, default) in by_size(results).items():
        rows.append([size] + [text for rank, census in ((eight, census8), (four, census4)) for text in (
            number(census["median_ms"], 3), f"{census['median_ms'] / rank['median_ms']:.2f}")]
            + [number(default["median_ms"], 3), number(default["stream"]["ms"], 3)])
    return table(["", "census, 8 paths, ms", "times rank", "census, 4 paths, ms", "times rank", "`sgm`, ms",
                  "`sgm`, stream ms"], rows)


def stages(result):
    rows = []
    for s in result["stages"] + result["transfers"]:
        rows.append([s["name"], number(s["ms"], 3), number(s["bytes"] * 1e-6, 1), number(s["gb_per_s"], 0),
                     s["bound"] or "–"])
    return table([f"`banz-sgm`, 8 paths, {size_of(result)}", "ms", "MB", "GB/s", "bound"], rows)


def batches(results, singles):
    largest = by_size(singles)["2880×1980×256"]
    rows = [[f"{BATCH} pairs of {size_of(r)}, {paths} paths", number(r["median_ms"] / BATCH, 3), number(r["gde_per_s"], 0),
             f"{100 * r['gde_per_s'] / one['gde_per_s']:.0f} %"]
            for paths, r, one in zip((8, 4), results, largest)]
    return table(["", "ms a pair", "GDE/s", "of 2880×1980×256"], rows)


def methods(results):
    small, large = by_size(results).values()
    rows = [[f"`{a['method']}`"] + [text for r in (a, b) for text in (
        number(r["median_ms"], 3), number(r["gde_per_s"], 0), number(r["stream"]["ms"], 3))]
        for a, b in zip(small, large)]
    header = [f"{what}, {size_of(r)}" for r in (small[0], large[0]) for what in ("ms", "GDE/s", "stream ms")]
    return table(["method"] + header, rows)


def tables(all_results):
    one = by_size(all_results["sgm"])["1280×960×128"][0]
    roofs = one["roofs"]
    return "\n\n".join([
        f"Measured on `{all_results['device']}`, {all_results['hardware']}, at commit `{one['commit']}`.\n"
        f"Its roofs: {roofs['bytes_per_s'] * 1e-12:.2f} TB/s copied, {roofs['path_operations_per_s'] * 1e-12:.1f} T/s additions and minima of "
        f"16 bits, {roofs['popcounts_per_s'] * 1e-12:.1f} T/s popcounts, {roofs['operations_per_s'] * 1e-12:.1f} T/s of 32 bits.",
        sgm(all_results["sgm"], all_results.get("libsgm", {})), costs(all_results["sgm"]), stages(one),
        batches(all_results["batches"], all_results["sgm"]), methods(all_results["methods"])])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--command", default=DOCS.parent / "build/release/bin/stereopsis")
    parser.add_argument("--libsgm", metavar="PROGRAM")
    parser.add_argument("--save", metavar="FILE.json")
    parser.add_argument("--from", dest="source", metavar="FILE.json")
    options = parser.parse_args()
    if options.source:
        results = json.loads(Path(options.source).read_text())
    else:
        with tempfile.TemporaryDirectory() as folder:
            results = Runner(options.command, options.device, folder).all()
        if options.libsgm:
            results["libsgm"] = libsgm(options.libsgm)
    if options.save:
        Path(options.save).write_text(json.dumps(results))
        return
    page = DOCS / "benchmarks.md"
    page.write_text(replace(page.read_text(), "gpu", tables(results)))


if __name__ == "__main__":
    main()
