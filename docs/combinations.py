#!/usr/bin/env python3
"""Every matching cost with every aggregation and optimisation: writes docs/combinations.md.

    docs/combinations.py --dataset DIR [--device cuda:0] [--command build/release/bin/stereopsis] [--save FILE.json]
    docs/combinations.py --from FILE.json

DIR holds middlebury_v2. --save keeps the results instead of writing the page.
"""

import argparse
import itertools
import json
import subprocess
import tempfile
from pathlib import Path

from benchmarks import DOCS, number, table

COSTS = ["rank", "census", "census_gradient", "ad_census", "absolute_difference", "squared_difference",
         "colour_difference", "colour_gradient", "window_sad", "zncc"]
AGGREGATIONS = ["none", "box", "shiftable", "multiple_windows", "guided", "esaw", "asw", "asw_separable", "cross_aggregation"]
OPTIMISATIONS = ["none", "sgm", "scanline"]
SIZE = "1280x960x128"


def pipeline(cost, aggregation, optimisation):
    return f"sgm:cost.stage={cost},aggregation.stage={aggregation},optimisation.stage={optimisation}"


def bench(command, device, *more):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "bench.json"
        call = [command, "bench", "--device", device, "--no-peers", "--json", file]
        for combination in itertools.product(COSTS, AGGREGATIONS, OPTIMISATIONS):
            call += ["--method", pipeline(*combination)]
        subprocess.run(call + list(more), check=True, stdout=subprocess.DEVNULL)
        return json.loads(file.read_text())


def measure(options):
    times = bench(options.command, options.device, "--size", SIZE, "--repeat", "5")
    errors = bench(options.command, options.device, "--dataset", options.dataset / "middlebury_v2", "--repeat", "1")
    nonocc = {r["method"]: sum(s["measures"]["nonocc"]["bad1.0"] for s in r["scenes"]) / len(r["scenes"])
              for r in errors["results"]}
    return {"hardware": times["hardware"][options.device],
            "rows": {r["method"]: {"ms": r["median_ms"], "roof": r["roof"]["ms"] / r["median_ms"],
                                   "nonocc": nonocc[r["method"]]} for r in times["results"]}}


def page(results):
    lines = []
    for cost, aggregation in itertools.product(COSTS, AGGREGATIONS):
        row = [f"`{cost}`" if aggregation == "none" else "", f"`{aggregation}`"]
        for optimisation in OPTIMISATIONS:
            r = results["rows"][pipeline(cost, aggregation, optimisation)]
            row += [number(r["ms"], 2), f"{100 * r['roof']:.0f}", number(r["nonocc"], 1)]
        lines.append(row)
    header = ["cost", "aggregation"] + [f"{o}: {what}" for o in OPTIMISATIONS for what in ("ms", "roof %", "nonocc %")]
    return f"""# Every cost with every aggregation and optimisation

Milliseconds of a whole match at {SIZE.replace('x', '×')} on an {results['hardware']}, images there; the share of the least time
that the stages' bytes and operations take on that device; and the pixels off by more than 1 among those that both views see, mean
of the four pairs of middlebury_v2, dense. Everything else is as in `sgm`: selection, left-right check, fill, medians. All stages
have their defaults, the same for all scenes: P1 and P2 are those of `sgm`, whatever the cost, so that a row can be better by a
search of its own.

A pipeline of this page: `stereopsis match left.png right.png -o d.pfm --set cost.stage=census --set aggregation.stage=guided --set
optimisation.stage=sgm`. Made by `docs/combinations.py`.

{table(header, lines)}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", type=Path)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--command", default=DOCS.parent / "build/release/bin/stereopsis")
    parser.add_argument("--save", type=Path)
    parser.add_argument("--from", dest="saved", type=Path)
    options = parser.parse_args()
    if options.saved is None and options.dataset is None:
        parser.error("--dataset DIR or --from FILE.json is needed")
    results = json.loads(options.saved.read_text()) if options.saved else measure(options)
    if options.save:
        options.save.write_text(json.dumps(results))
    else:
        (DOCS / "combinations.md").write_text(page(results))


if __name__ == "__main__":
    main()
