#!/usr/bin/env python3
"""Every matching cost with every aggregation and optimisation: writes docs/combinations.md.

    docs/combinations.py --dataset DIR --results FILE.json [--device cuda:0] [--command build/release/bin/stereopsis] [--seconds 3600]
    docs/combinations.py --results FILE.json

DIR holds middlebury_v2. Results that FILE.json already holds are not measured again, so that
the next call continues one that ended early.
"""

import argparse
import itertools
import json
import time
from pathlib import Path
from statistics import mean

from harness import COMMAND, DOCS, bench, number, table

COSTS = ["rank", "census", "census_gradient", "ad_census", "learned", "absolute_difference", "squared_difference",
         "colour_difference", "colour_gradient", "window_sad", "zncc"]
AGGREGATIONS = ["none", "box", "shiftable", "multiple_windows", "guided", "esaw", "asw", "asw_separable", "cross_aggregation"]
OPTIMISATIONS = ["none", "sgm", "scanline"]
SIZE, CHUNK = "1280x960x128", 9


def pipeline(cost, aggregation, optimisation):
    return f"sgm:cost.stage={cost},aggregation.stage={aggregation},optimisation.stage={optimisation}"


def measure(options, results):
    until = time.time() + options.seconds
    missing = [p for p in itertools.starmap(pipeline, itertools.product(COSTS, AGGREGATIONS, OPTIMISATIONS))
               if p not in results["rows"]]
    for first in range(0, len(missing), CHUNK):
        if time.time() > until:
            break
        chunk = missing[first:first + CHUNK]
        times = bench(options.command, "--device", options.device, "--no-peers", "--size", SIZE, "--repeat", 5, "--no-stream", methods=chunk)
        errors = bench(options.command, "--device", options.device, "--no-peers", "--dataset", options.dataset / "middlebury_v2", "--repeat", 1, methods=chunk)
        nonocc = {r["method"]: mean(s["measures"]["nonocc"]["bad1.0"] for s in r["scenes"]) for r in errors["results"]}
        results["hardware"] = times["hardware"][options.device]
        results["rows"] |= {r["method"]: {"ms": r["median_ms"], "roof": r["roof"]["ms"] / r["median_ms"],
                                          "nonocc": nonocc[r["method"]]} for r in times["results"]}
        options.results.write_text(json.dumps(results))


def page(results):
    lines = []
    for cost, aggregation in itertools.product(COSTS, AGGREGATIONS):
        row = [f"`{cost}`" if aggregation == "none" else "", f"`{aggregation}`"]
        for optimisation in OPTIMISATIONS:
            r = results["rows"][pipeline(cost, aggregation, optimisation)]
            row += [number(r["ms"], 2), f"{100 * r['roof']:.0f}", number(r["nonocc"], 1)]
        lines.append(row)
    header = ["cost", "aggregation"] + [f"{o}: {what}" for o in OPTIMISATIONS for what in ("ms", "roof %", "nonocc %")]
    return f"""# Eleven costs with nine aggregations and three optimisations

This page is for readers who build their own [pipelines](pipelines.md). Each row has a cost and an aggregation, and is
measured with three optimisations. One of these pipelines is:

```
stereopsis match left.png right.png -o d.pfm \\
  --set cost.stage=census --set aggregation.stage=guided --set optimisation.stage=sgm
```

The columns of each optimisation are:

- *ms*: the time of a whole match of {SIZE.replace('x', '×')} (width, height, disparities), on an {results['hardware']} with images in its memory.
- *roof*: the shortest possible time ([roof](streams.md#time-bounds)), in percent of the measured time.
- *nonocc*: the percentage of the non-occluded pixels with an error above 1 pixel, averaged over the four pairs of
  Middlebury version 2, after filling.

All other stages and all parameters, also P1 and P2, are the defaults of `sgm`. Other parameters can reduce the errors
of a row. The tuned kernels of semi-global matching support costs up to 175 (214 with 64, 128, 256, 512 and 1024
disparities). For larger costs, the portable kernels run, and the match takes 5 ms longer. `docs/combinations.py` makes
this page.

{table(header, lines)}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", type=Path)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--command", default=COMMAND)
    parser.add_argument("--seconds", type=float, default=3600, help="no further ones are begun after these")
    parser.add_argument("--results", type=Path, required=True)
    options = parser.parse_args()
    results = json.loads(options.results.read_text()) if options.results.exists() else {"rows": {}}
    if options.dataset:
        measure(options, results)
    missing = len(COSTS) * len(AGGREGATIONS) * len(OPTIMISATIONS) - len(results["rows"])
    if missing:
        print(f"{missing} are still to be measured: the page waits for them")
    else:
        (DOCS / "combinations.md").write_text(page(results))


if __name__ == "__main__":
    main()
