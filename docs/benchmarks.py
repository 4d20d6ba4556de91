#!/usr/bin/env python3
"""Runs the benchmarks and writes their tables into docs/benchmarks.md, between its markers.

    docs/benchmarks.py [--dataset DIR] [--threads N] [--command build/release/bin/stereopsis] [--only TABLE…]
                       [--peers-python PYTHON] [--networks FILE.onnx…]

Without --dataset (or STEREOPSIS_DATA in the environment) the tables of accuracy stay as they are. --peers-python names a
Python with opencv-python-headless, onnxruntime and openvino for the table of the other matchers; --networks names networks
for it, whose inputs have the size of that table.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from accuracy_time import title

DOCS = Path(__file__).resolve().parent
SGM_8, SGM_4, BANZ = "sgm:sgm.paths=8", "sgm:sgm.paths=4", "banz-sgm"
METHODS = [SGM_8, SGM_4, BANZ]
OTHERS = ["prehn-window", "prehn-pyramid", "census-guided", "census-guided:levels.lambda=0.3", "costfilter", "esaw", "asw",
          "asw-separable", "realtime-dp", "realtime-bp", "segment-support", "zncc"]
REFINED = "left_right.enabled=true,speckle.enabled=true,fill.enabled=true"
BANZ_VARIANTS = {
    BANZ: "as in the paper",
    f"{BANZ}:select.subpixel=parabola": "sub-pixel",
    f"{BANZ}:{REFINED}": "check and fill",
    f"{BANZ}:{REFINED},select.subpixel=parabola": "check, fill and sub-pixel",
}
MATCHERS = ["BM", "3WAY", "SGBM", "HH4", "HH"]  # OpenCV's
WITH_PEERS = ["banz-sgm", "sgm", "balanced", "sgm-learned-fast", "sgm-learned"]
TARGETS = ["sse4", "avx2", "avx512", "neon"]
OF_TARGETS = ["sgm", BANZ, "balanced", "sgm-learned-fast", "sgm-learned"]
SIZES = ["1280x960x128", "450x375x64", "1242x375x128", "640x480x64"]
GROWTH = ["320x240x32", "640x240x32", "640x480x32", "640x480x64", "1280x960x64", "1280x960x128", "1920x1080x128",
          "2880x1980x256"]

# Each row: the quantity that grows, and the sizes in which only it grows.
SWEEPS = {"width": ((320, 640, 960, 1280), "{}x480x64"), "height": ((240, 480, 720, 960), "640x{}x64"),
          "disparities": ((64, 128, 192, 256, 320), "640x480x{}")}


class Runner:
    def __init__(self, command, threads, python=sys.executable, networks=()):
        self.command, self.threads, self.python, self.networks = command, threads, python, networks

    def bench(self, methods, *more, sizes=(), threads=None):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "bench.json"
            call = [self.command, "bench", "--device", "cpu", "--threads", str(threads or self.threads), "--json", file]
            call += [part for m in methods for part in ("--method", m)]
            call += [part for s in sizes for part in ("--size", s)]
            subprocess.run(call + list(more), check=True, stdout=subprocess.DEVNULL)
            return json.loads(file.read_text())


def table(header, rows):
    """The first column is text, the others are numbers."""
    lines = [header, ["---"] + ["---:"] * (len(header) - 1)] + rows
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def number(value, decimals):
    return "–" if value is None else f"{value:.{decimals}f}"


def size_of(result):
    return f"{result['width']}×{result['height']}×{result['disparities']}"


def against(run):
    results = run.bench(METHODS, "--repeat", "11", sizes=SIZES)["results"]
    tables = []
    for size in dict.fromkeys(map(size_of, results)):
        here = [r for r in results if size_of(r) == size]
        ours = [r for r in here if r["peer"] is None]
        rows = [[title(r["method"])] + [f"{r['median_ms'] / o['median_ms']:.2f}" for o in ours]
                + [number(r["median_ms"], 1), number(r["gde_per_s"], 2)] for r in here]
        tables.append(table([size] + [title(o["method"]) for o in ours] + ["ms", "GDE/s"], rows))
    return "\n\n".join(tables)


def threads(run):
    size = SIZES[0]
    more = max(2, run.threads)
    times = [[r["median_ms"] for r in run.bench(METHODS, "--no-peers", sizes=[size], threads=n)["results"]]
             for n in (1, more)]
    rows = [[title(m), f"{one / many:.2f}", number(one, 1), number(many, 1)] for m, one, many in zip(METHODS, *times)]
    return table([size.replace("x", "×"), "times as fast", "ms, 1 thread", f"ms, {more} threads"], rows)


def supports(run, target):
    call = [run.command, "bench", "--device", "cpu", "--simd", target, "--method", BANZ, "--size", "64x64x16", "--no-peers",
            "--repeat", "1"]
    return subprocess.run(call, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def simd(run):
    """A row per method, and two columns per SIMD target that the build and the processor have."""
    names = [name for name in TARGETS if supports(run, name)]
    more = [part for name in names for part in ("--simd", name)]
    results = []
    for method in OF_TARGETS:
        peers = ["--no-peers"] if results else []
        results += run.bench([method], "--repeat", "5", *peers, *more, sizes=[SIZES[0]])["results"]
    peer = next((r for r in results if r["peer"] and r["method"].endswith(" HH")), None)
    rows = []
    for method in OF_TARGETS:
        ms = [next(r["median_ms"] for r in results if r["method"] == method and r["simd"] == name) for name in names]
        rows.append([title(method)] + [text for m in ms for text in (
            number(m, 1), number(peer and peer["median_ms"] / m, 1))])
    header = [f"{what}, {name}" for name in names for what in ("ms", "times as fast as HH")]
    first = results[0]
    said = f"Measured on {run.threads} threads of {processor()}, at commit `{first['commit']}`."
    if peer:
        said += f" {peer['method']} took {peer['median_ms']:.0f} ms."
    return said + "\n\n" + table([SIZES[0].replace("x", "×")] + header, rows)


def python_peers(run):
    """The results of the matchers in Python packages, and the names of those that could not run."""
    results, absent = [], []
    size, disparities = SIZES[0].rsplit("x", 1)
    calls = [(f"OpenCV {mode} of the Python package", ["opencv", "--mode", mode]) for mode in MATCHERS]
    calls += [(f"{file.stem}, {title_of}", [runner, "--network", file]) for file in run.networks
              for runner, title_of in (("onnxruntime", "ONNX Runtime"), ("openvino", "OpenVINO"))]
    if not run.networks:
        absent.append("networks")
    with tempfile.TemporaryDirectory() as folder:
        width, height = size.split("x")
        subprocess.run([run.command, "synth", "-o", folder, "--width", width, "--height", height, "--disparities",
                        disparities], check=True, stdout=subprocess.DEVNULL)
        left, right = (next(Path(folder).rglob(f"{side}*")) for side in ("left", "right"))
        for name, call in calls:
            done = subprocess.run([run.python, DOCS / "peers.py", *call, "--left", left, "--right", right, "--disparities",
                                   disparities, "--threads", str(run.threads)], stdout=subprocess.PIPE, text=True)
            if done.returncode == 0:
                results.append(json.loads(done.stdout))
            else:
                absent.append(name)
    return results, absent


def peers(run):
    """A row per matcher: wall-clock time and processor time of a run."""
    results = run.bench(WITH_PEERS, "--repeat", "5", sizes=[SIZES[0]])["results"]
    rows = [{"name": title(r["method"]), "version": r["parameters"].get("version", "") if r["peer"] else "", **r}
            for r in results]
    names = [r["name"] for r in rows]
    absent = [name for name in ("OpenCV", "libelas") if not any(n.startswith(name) for n in names)]
    more, absent_in_python = python_peers(run)
    rows += more
    absent += absent_in_python
    reference = next(r for r in rows if r["name"] == "sgm")
    lines = [[f"{r['name']} {r['version']}".strip(), number(r["median_ms"] / reference["median_ms"], 2),
              number(r["median_ms"], 1), number(r["processor_ms"], 1), number(r["processor_ms"] / r["median_ms"], 2)]
             for r in rows]
    said = f"Measured on {run.threads} threads of {processor()}, at commit `{results[0]['commit']}`. "
    said += f"Absent matchers: {len(absent)}" + (f" ({', '.join(absent)})." if absent else ".")
    header = [SIZES[0].replace("x", "×"), "times the time of sgm", "ms", "processor ms", "cores used"]
    return said + "\n\n" + table(header, lines)


def growth(run):
    methods = [SGM_8, SGM_4]
    results = run.bench(methods, "--no-peers", "--repeat", "3", sizes=GROWTH)["results"]
    rows = []
    for eight, four in zip(results[::2], results[1::2]):
        cells = eight["width"] * eight["height"] * eight["disparities"]
        rows.append([size_of(eight)] + [text for r in (eight, four) for text in (
            number(r["median_ms"], 2), number(r["gde_per_s"], 2), number(r["workspace_bytes"] / cells, 2))])
    header = [f"{what}, {paths} paths" for paths in (8, 4) for what in ("ms", "GDE/s", "bytes per pixel·disparity")]
    return table(["`sgm`"] + header, rows)


def line_through(xs, ys):
    """The line a + b x of least squares, and the largest distance from it as a part of y."""
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    slope = (sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys)) / sum((x - mean_x) ** 2 for x in xs))
    offset = mean_y - slope * mean_x
    return offset, slope, max(abs(offset + slope * x - y) / y for x, y in zip(xs, ys))


def lines(run):
    rows = []
    for what, (values, pattern) in SWEEPS.items():
        sizes = [pattern.format(v) for v in values]
        results = run.bench([SGM_8, SGM_4], "--no-peers", "--repeat", "21", sizes=sizes)["results"]
        for paths, here in ((8, results[::2]), (4, results[1::2])):
            ms = [r["min_ms"] for r in here]
            offset, slope, distance = line_through(values, ms)
            rows.append([f"{what} {', '.join(map(str, values))} of {pattern.format('…').replace('x', '×')}, {paths} paths",
                         ", ".join(number(m, 1) for m in ms), f"{offset:.2f} + {slope:.4f} n", f"{100 * distance:.0f}"])
    return table(["n", "ms, fastest run", "line", "% away from it at most"], rows)


def of_datasets(results, name_of, measure):
    """A row per program, a column per dataset; measure(program, dataset) is the text of a cell."""
    datasets = list(results[0]["average"])
    return table([""] + datasets, [[name_of(r)] + [measure(r, d) for d in datasets] for r in results])


def value(key, *regions):
    """The percentage over the first of these regions that the dataset has."""
    def of(result, dataset):
        measures = result["average"][dataset]["measures"]
        return number(next((measures[r][key] for r in regions if r in measures), None), 2)
    return of


def relative_time(reference):
    return lambda r, d: f"{r['average'][d]['ms'] / reference['average'][d]['ms']:.2f} ({r['average'][d]['ms']:.1f} ms)"


def accuracy(results):
    def name(r):
        return title(r["method"])
    parts = [f"Time, times that of {name(results[0])}:", of_datasets(results, name, relative_time(results[0]))]
    for text, measure in (("Bad 1.0, non-occluded, %:", value("bad1.0", "nonocc")),
                          ("Bad 1.0, all, %:", value("bad1.0", "all")),
                          ("D1, all, else non-occluded, %:", value("d1", "all", "nonocc"))):
        parts += [text, of_datasets(results, name, measure)]
    if "average_of_12" in results[0]:
        rows = [[name(r), number(r["average_of_12"], 2)] for r in results]
        parts.append(table(["Middlebury version 2", "average of 12"], rows))
    return "\n\n".join(parts)


def banz(run, dataset):
    results = run.bench(BANZ_VARIANTS, "--no-peers", "--dataset", dataset)["results"]

    def name(r):
        return BANZ_VARIANTS[r["method"]]
    parts = ["Time, times that of the first:", of_datasets(results, name, relative_time(results[0]))]
    for text, measure in (("Bad 0.5, non-occluded, %:", value("bad0.5", "nonocc")),
                          ("Bad 1.0, non-occluded, %:", value("bad1.0", "nonocc")),
                          ("Bad 1.0, all, %:", value("bad1.0", "all"))):
        parts += [text, of_datasets(results, name, measure)]
    return "\n\n".join(parts)


def processor():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(": ")[2]
    return "an unknown processor"


def replace(page, name, text):
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    found = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    if not found.search(page):
        raise SystemExit(f"benchmarks.md lacks the markers {begin} and {end}")
    return found.sub(lambda _: f"{begin}\n{text}\n{end}", page)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", default=os.environ.get("STEREOPSIS_DATA"))
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--command", default=DOCS.parent / "build/release/bin/stereopsis")
    tables_of_times = {"against": against, "threads": threads, "simd": simd, "peers": peers,
                       "growth": growth, "lines": lines}
    parser.add_argument("--only", nargs="+", choices=tables_of_times, metavar="TABLE",
                        help=f"make these tables alone: {', '.join(tables_of_times)}")
    parser.add_argument("--peers-python", default=sys.executable, metavar="PYTHON")
    parser.add_argument("--networks", type=Path, nargs="+", default=[], metavar="FILE.onnx")
    options = parser.parse_args()
    run = Runner(options.command, options.threads, options.peers_python, options.networks)

    tables = {name: make(run) for name, make in tables_of_times.items() if name in (options.only or tables_of_times)}
    if options.dataset and not options.only:
        everyone = run.bench(METHODS, "--dataset", options.dataset)
        others = run.bench(OTHERS, "--no-peers", "--repeat", "1", "--dataset", options.dataset)
        everyone["results"][len(METHODS):len(METHODS)] = others["results"]
        tables["accuracy"] = accuracy(everyone["results"])
        tables["banz"] = banz(run, options.dataset)
    if not options.only:
        commit = run.bench([BANZ], "--no-peers", "--repeat", "1", sizes=["64x64x16"])["results"][0]["commit"]
        tables["measured"] = f"Measured on {options.threads} threads of {processor()}, at commit `{commit}`."

    page = DOCS / "benchmarks.md"
    text = page.read_text()
    for name, content in tables.items():
        text = replace(text, name, content)
    page.write_text(text)


if __name__ == "__main__":
    main()
