#!/usr/bin/env python3
"""Measures all methods on one commit, and writes the measured figures into the pages.

    docs/measure.py errors [--dataset DIR] [--roads DIR]        # docs/measured/errors.json
    docs/measure.py times NAME [--device cpu --threads 2]       # docs/measured/times-NAME.json
    docs/measure.py pages [--check]                             # README.md, docs/choosing.md, hardware.md, benchmarks.md

Errors are those of every device, which all give the same bits. Times are of a generated pair of 1280×960 with 128
disparities. OpenCV's matchers and libelas take part in both, where the command was built with them.

In a page, the comment behind a figure names its source: `47 ms<!-- times-cpu/ms/sgm -->` is the value `sgm` in `ms` of
docs/measured/times-cpu.json. `<!-- A / B -->` is the quotient of two values, `<!-- 100 * A -->` a percentage. `pages` writes the measured value with as many
decimals as the page has; `pages --check` prints the figures that differ, and figures without a source.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import mean

import accuracy_time
from benchmarks import DOCS, number, processor, replace, table

ROOT = DOCS.parent
MEASURED = DOCS / "measured"
PAGES = [ROOT / "README.md", DOCS / "choosing.md", DOCS / "hardware.md", DOCS / "benchmarks.md"]
METHODS = ["sgm", "sgm:optimisation.paths=8", "balanced", "sgm-learned", "sgm-learned-fast", "banz-sgm", "zncc", "prehn-window", "prehn-pyramid", "census-guided",
           "costfilter", "esaw", "asw", "asw-separable", "ad-census", "realtime-dp", "realtime-bp", "segment-support"]
TIMED = [*METHODS, "banz-sgm:optimisation.paths=4", "sgm:confidence.decide=true"]
SLOW = {"asw", "ad-census", "realtime-bp", "costfilter", "segment-support", "realtime-dp"}  # a run takes seconds on a CPU
SIZE = "1280x960x128"
PRESETS = {"fast": "sgm", "balanced": "balanced", "accurate": "sgm-learned"}
UNITS = "ms|%|times|×|GB|TB/s|GDE/s|frames"
FIGURE = re.compile(rf"(\d+(?:\.\d+)?)((?:\s*(?:{UNITS}))?)<!-- ((?:100 \* )?[\w.-]+/[^<>]*?) -->")
BARE = re.compile(rf"\d\s?(?:{UNITS})(?![\w<])(?!<!--)")


def bench(options, *more):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "bench.json"
        subprocess.run([options.command, "bench", "--json", file, *map(str, more)], check=True, stdout=subprocess.DEVNULL)
        return json.loads(file.read_text())


def of_methods(methods):
    return [part for m in methods for part in ("--method", m)]


def name_of(result):
    return result["method"].replace("OpenCV Stereo", "OpenCV ")


def measure_errors(options):
    """Returns the errors of each method and peer: the mean of the datasets, each dataset, and the D1 of the roads."""
    found = bench(options, "--device", "cpu", "--dataset", options.dataset, "--repeat", 1, *of_methods(METHODS))
    methods = {}
    for r in found["results"]:
        datasets = {}
        for name, average in r["average"].items():
            m = average["measures"]
            figures = {"nonocc": m.get("nonocc", {}).get("bad1.0"), "all": m.get("all", {}).get("bad1.0"),
                       "d1": next((m[region]["d1"] for region in ("all", "nonocc") if region in m), None)}
            datasets[name] = {key: round(value, 2) for key, value in figures.items() if value is not None}
        methods[name_of(r)] = {"peer": bool(r["peer"]), "bad1.0": round(mean(d["nonocc"] for d in datasets.values()), 2),
                               "average_of_12": r.get("average_of_12"), "datasets": datasets}
    if options.roads:
        for r in bench(options, "--device", "cpu", "--dataset", options.roads, "--repeat", 1, *of_methods(METHODS))["results"]:
            d1 = [next(s["measures"][region]["d1"] for region in ("all", "nonocc") if region in s["measures"]) for s in r["scenes"]]
            methods[name_of(r)]["roads_d1"] = round(mean(d1), 2)
    return {"commit": options.commit, "methods": methods}


def measure_times(options):
    more = ["--device", options.device, "--no-stream", "--size", SIZE]
    more += ["--threads", options.threads] if options.device == "cpu" else ["--no-peers"]
    slow = SLOW if options.device == "cpu" else set()
    found = bench(options, *more, "--repeat", options.repeat, *of_methods(m for m in TIMED if m not in slow))
    results = found["results"]
    if slow:
        results += bench(options, *more, "--no-peers", "--repeat", 1, *of_methods(sorted(slow)))["results"]
    machine = found["hardware"][options.device] if options.device != "cpu" else f"{options.threads} threads of {processor()}"
    return {"machine": machine, "commit": options.commit, "size": SIZE.replace("x", "×"),
            "ms": {name_of(r): float(f"{r['median_ms']:.4g}") for r in results},
            "workspace_gb": {name_of(r): round(r["workspace_bytes"] * 1e-9, 3) for r in results if not r["peer"]}}


def commit_of(command):
    """Returns the commit that the command was built from."""
    options = argparse.Namespace(command=command)
    return bench(options, "--device", "cpu", "--no-peers", "--repeat", 1, "--size", "64x64x16")["results"][0]["commit"]


class Values:
    """The values of docs/measured, by FILE/KEY/…"""

    def __init__(self):
        self.files = {}

    def one(self, path):
        file, *keys = path.strip().split("/")
        if file not in self.files:
            self.files[file] = json.loads((MEASURED / f"{file}.json").read_text())
        value = self.files[file]
        for key in keys:
            value = value[key]
        return value

    def of(self, source):
        factor, _, path = source.rpartition(" * ")
        first, *second = path.split(" / ")
        value = self.one(first) / self.one(second[0]) if second else self.one(first)
        return value * float(factor or 1)


def with_figures(text, values):
    """Returns the page with each figure replaced by the value of its source."""
    def one(match):
        decimals = len(match[1].partition(".")[2])
        return f"{values.of(match[3]):.{decimals}f}{match[2]}<!-- {match[3]} -->"
    return FIGURE.sub(one, text)


def presets(values):
    cpu, gpu, errors = (values.one(f"{f}/{k}") for f, k in (("times-cpu", "ms"), ("times-gpu", "ms"), ("errors", "methods")))
    rows = [[f"`{name}`", f"`{method}`", number(errors[method]["bad1.0"], 2), number(errors[method]["roads_d1"], 2),
             number(cpu[method], 0), number(gpu[method], 2)] for name, method in PRESETS.items()]
    return table(["preset", "method", "bad 1.0, %", "D1 on roads, %", "ms, CPU", "ms, GPU"], rows)


def without_code(text):
    return re.sub(r"```.*?```|<!-- (\w+): begin -->.*?<!-- \1: end -->", "", text, flags=re.DOTALL)


def bare_figures(text):
    """Returns the lines with a figure that names no source; a figure of a definition has <!-- definition --> behind it."""
    return [line for line in without_code(text).splitlines() if BARE.search(line)]


def write_pages(options):
    values, wrong = Values(), []
    for page in PAGES:
        old = page.read_text()
        new = with_figures(old, values)
        if "<!-- presets: begin -->" in new:
            new = replace(new, "presets", presets(values))
        wrong += [f"{page.name}: no source: {line}" for line in bare_figures(new)]
        if new != old and options.check:
            wrong += [f"{page.name}: {a!r} should be {b!r}" for a, b in zip(old.splitlines(), new.splitlines()) if a != b]
        elif new != old:
            page.write_text(new)
    picture = accuracy_time.two_charts()
    file = DOCS / "accuracy-time.svg"
    if options.check and file.read_text() != picture:
        wrong.append(f"{file.name} is not that of docs/measured; call docs/measure.py pages")
    elif not options.check:
        file.write_text(picture)
    for line in wrong:
        print(line)
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", default=ROOT / "build/release/bin/stereopsis")
    jobs = parser.add_subparsers(dest="job", required=True)
    errors = jobs.add_parser("errors")
    errors.add_argument("--dataset", default=os.environ.get("STEREOPSIS_DATA"))
    errors.add_argument("--roads")
    errors.add_argument("--save", type=Path, default=MEASURED / "errors.json")
    times = jobs.add_parser("times")
    times.add_argument("name")
    times.add_argument("--device", default="cpu")
    times.add_argument("--threads", type=int, default=2)
    times.add_argument("--repeat", type=int, default=21)
    times.add_argument("--save", type=Path)
    pages = jobs.add_parser("pages")
    pages.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if options.job == "pages":
        return write_pages(options)
    options.commit = commit_of(options.command)
    found = measure_errors(options) if options.job == "errors" else measure_times(options)
    file = options.save or MEASURED / f"times-{options.name}.json"
    file.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
