"""The tables of docs/benchmarks.md that have times of a CPU: the part `tables cpu` of docs/measure.py.

The results of each call of `stereopsis bench` are kept in docs/measured/tables-cpu.json, from which the tables are made.
"""

import importlib.util
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from harness import DOCS, bench, number, read, size_of, table, title, write


SGM_8, SGM_4, BANZ = "sgm:optimisation.paths=8", "sgm:optimisation.paths=4", "banz-sgm"
METHODS = [SGM_8, SGM_4, BANZ]
REFINED = "left_right.enabled=true,speckle.enabled=true,fill.enabled=true"
BANZ_VARIANTS = {
    BANZ: "as in the paper",
    f"{BANZ}:select.subpixel=parabola": "sub-pixel",
    f"{BANZ}:{REFINED}": "check and fill",
    f"{BANZ}:{REFINED},select.subpixel=parabola": "check, fill and sub-pixel",
}
WITH_PEERS = ["banz-sgm", "sgm", "balanced", "sgm-learned-fast", "sgm-learned"]
TARGETS = ["sse4", "avx2", "avx512", "neon"]
OF_TARGETS = ["sgm", BANZ, "balanced", "sgm-learned-fast", "sgm-learned"]
SIZES = ["1280x960x128", "450x375x64", "1242x375x128", "640x480x64"]
GROWTH = ["320x240x32", "640x240x32", "640x480x32", "640x480x64", "1280x960x64", "1280x960x128", "1920x1080x128",
          "2880x1980x256"]

# Each row: the quantity that grows, and the sizes in which only it grows.
SWEEPS = {"width": ((320, 640, 960, 1280), "{}x480x64"), "height": ((240, 480, 720, 960), "640x{}x64"),
          "disparities": ((64, 128, 192, 256, 320), "640x480x{}")}


KEPT = ("method", "simd", "width", "height", "disparities", "median_ms", "min_ms", "processor_ms", "gde_per_s", "workspace_bytes")
KEPT_OF_GPU = (*KEPT, "stages", "transfers", "roof", "roofs", "stream")


class Over(Exception):
    """The seconds of the call are over."""


class Missing(Exception):
    """The stored results lack a call."""


class Runner:
    """Answers calls from the stored results; runs the others, if it has options."""

    def __init__(self, name, results, options=None, save=True):
        self.name, self.results, self.options, self.save = name, results, options, save

    def stored(self, key, run):
        calls = self.results.setdefault("calls", {})
        if key not in calls:
            if not self.options:
                raise Missing(key)
            if self.options.clock.over():
                raise Over
            calls[key] = run()
            if self.save:
                write(self.name, self.results)
        return calls[key]

    def bench(self, methods, *more, sizes=(), threads=None):
        """Returns the results of our methods."""
        more = [*map(str, more), *(part for s in sizes for part in ("--size", s))]

        def run():
            count = ["--threads", threads or self.options.threads] if self.options.device == "cpu" else []
            found = bench(self.options.command, "--device", self.options.device, "--no-peers", *count, *more, methods=methods)
            kept = KEPT if self.options.device == "cpu" else KEPT_OF_GPU
            return [{key: r[key] for key in kept} for r in found["results"]]
        return self.stored(" ".join([*methods, *more, *([f"threads {threads}"] if threads else [])]), run)

    def dataset(self, methods):
        """Returns the results on the datasets: mean time and measures of each."""
        def run():
            found = bench(self.options.command, "--device", self.options.device, "--no-peers", "--threads", self.options.threads, "--repeat", 5,
                          "--dataset", self.options.dataset, methods=methods)
            return [{"method": r["method"], "average": r["average"]} for r in found["results"]]
        return self.stored("dataset " + " ".join(methods), run)

    def peers(self, size):
        """Returns the results of the other matchers on the generated pair of a size."""
        def run():
            from measure import time_peers
            width, height, disparities = map(int, size.split("x"))
            return [{"method": r["name"], "version": r["version"], "median_ms": r["median_ms"], "processor_ms": r["processor_ms"], "width": width,
                     "height": height, "disparities": disparities, "gde_per_s": width * height * disparities / r["median_ms"] * 1e-6}
                    for r in time_peers(self.options, size)]
        return self.stored(f"peers {size}", run)

    def networks(self):
        """Returns the results of networks on the generated pair of SIZES[0]; --networks names them."""
        return self.stored("networks", lambda: time_networks(self.options))


def time_networks(options):
    """Returns the results of the networks, as far as ONNX Runtime and OpenVINO are installed."""
    width, height, disparities = SIZES[0].split("x")
    results = []
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([options.command, "synth", "-o", folder, "--width", width, "--height", height, "--disparities", disparities], check=True,
                       stdout=subprocess.DEVNULL)
        files = [next(Path(folder).rglob(f"{side}*")) for side in ("left", "right")]
        for file in options.networks:
            for runner in ("onnxruntime", "openvino"):
                if importlib.util.find_spec(runner):
                    call = [sys.executable, DOCS / "peers.py", runner, "--network", file, "--left", files[0], "--right", files[1], "--threads",
                            str(options.threads)]
                    results += json.loads(subprocess.run(call, check=True, stdout=subprocess.PIPE, text=True).stdout)
    return [{"method": r.pop("name"), **r} for r in results]


def against(run):
    tables = []
    for size in SIZES:
        ours = run.bench(METHODS, "--repeat", 11, sizes=[size])
        rows = [[title(r["method"])] + [f"{r['median_ms'] / o['median_ms']:.2f}" for o in ours]
                + [number(r["median_ms"], 1), number(r["gde_per_s"], 2)] for r in [*ours, *run.peers(size)]]
        tables.append(table([size_of(ours[0])] + [title(o["method"]) for o in ours] + ["ms", "GDE/s"], rows))
    return "\n\n".join(tables)


def threads(run):
    size = SIZES[0]
    times = [[r["median_ms"] for r in run.bench(METHODS, "--repeat", 7, sizes=[size], threads=n)] for n in (1, 2)]
    rows = [[title(m), f"{one / two:.2f}", number(one, 1), number(two, 1)] for m, one, two in zip(METHODS, *times)]
    return table([size.replace("x", "×"), "times as fast", "ms, 1 thread", "ms, 2 threads"], rows)


def supported(options):
    """Returns the SIMD targets that the build and the processor have."""
    def runs(target):
        call = [options.command, "bench", "--device", "cpu", "--simd", target, "--method", BANZ, "--size", "64x64x16", "--no-peers", "--repeat", "1"]
        return subprocess.run(call, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
    return [target for target in TARGETS if runs(target)]


def simd(run):
    """A row per method, and a column per SIMD target."""
    names = run.stored("simd", lambda: supported(run.options))
    rows = []
    for method in OF_TARGETS:
        found = run.bench([method], "--repeat", 5, *(part for name in names for part in ("--simd", name)), sizes=[SIZES[0]])
        rows.append([title(method)] + [number(next(r["median_ms"] for r in found if r["simd"] == name), 1) for name in names])
    return table([SIZES[0].replace("x", "×")] + [f"ms, {name}" for name in names], rows)


def peers(run):
    """A row per matcher: wall-clock time and processor time of a run."""
    rows = [*run.bench(WITH_PEERS, "--repeat", 5, sizes=[SIZES[0]]), *run.peers(SIZES[0]), *run.networks()]
    reference = next(r for r in rows if r["method"] == "sgm")
    lines = [[f"{title(r['method'])} {r.get('version', '')}".strip(), number(r["median_ms"] / reference["median_ms"], 2),
              number(r["median_ms"], 1), number(r["processor_ms"], 1), number(r["processor_ms"] / r["median_ms"], 2)] for r in rows]
    return table([SIZES[0].replace("x", "×"), "times the time of sgm", "ms", "processor ms", "cores used"], lines)


def growth(run):
    rows = []
    for size in GROWTH:
        eight, four = run.bench([SGM_8, SGM_4], "--repeat", 5, sizes=[size])
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
        results = run.bench([SGM_8, SGM_4], "--repeat", 21, sizes=[pattern.format(v) for v in values])
        for paths, here in ((8, results[::2]), (4, results[1::2])):
            ms = [r["min_ms"] for r in here]
            offset, slope, distance = line_through(values, ms)
            rows.append([f"{what} {', '.join(map(str, values))} of {pattern.format('…').replace('x', '×')}, {paths} paths",
                         ", ".join(number(m, 1) for m in ms), f"{offset:.2f} + {slope:.4f} n", f"{100 * distance:.0f}"])
    return table(["n", "ms, fastest run", "line", "% away from it at most"], rows)


def by_dataset(rows, cell):
    """A row per program, a column per dataset; cell(row, dataset) is the text of a cell."""
    datasets = list(next(iter(rows.values())))
    return table([""] + datasets, [[name] + [cell(found, d) for d in datasets] for name, found in rows.items()])


def accuracy():
    """The errors by dataset, from errors.json; our methods come first."""
    methods = {title(name): found for name, found in sorted(read("errors")["methods"].items(), key=lambda item: item[1]["peer"])}
    parts = []
    for text, key in (("Bad 1.0, non-occluded, %:", "nonocc"), ("Bad 1.0, all, %:", "all"), ("D1, all, else non-occluded, %:", "d1")):
        parts += [text, by_dataset({name: found["datasets"] for name, found in methods.items()}, lambda found, d: number(found[d].get(key), 2))]
    parts += ["With the rows as they are, and [aligned](how-to/align-rows.md), %:", with_aligned_rows(methods)]
    rows = [[name, number(found.get("average_of_12"), 2)] for name, found in methods.items()]
    return "\n\n".join([*parts, table(["Middlebury version 2", "average of 12"], rows)])


def with_aligned_rows(methods):
    """The errors with the rows of the images as they are, and with aligned rows, for every matcher."""
    columns = {"bad 1.0, mean": lambda e: e["bad1.0"], "Middlebury 2014": lambda e: e["datasets"]["middlebury_2014q"]["nonocc"],
               "KITTI 2015": lambda e: e["datasets"]["kitti2015"]["nonocc"], "roads, D1": lambda e: e["roads_d1"]}
    rows = [[name, *(number(of(errors), 2) for of in columns.values() for errors in (found, found["aligned"]))]
            for name, found in methods.items() if "aligned" in found]
    return table(["", *(title for name in columns for title in (name, "aligned"))], rows)


def settings():
    """The chosen settings of OpenCV's matchers, from src/command/peers.json."""
    rows = []
    for peer, sets in json.loads((DOCS.parent / "src/command/peers.json").read_text())["chosen"].items():
        rows += [["OpenCV " + ("BM" if peer == "BM" else f"SGBM {peer}"), name, found["images"], str(found["blockSize"]), str(found["preFilterCap"]), number(found.get("bad1.0"), 2)] for name, found in sets.items()]
    return table(["matcher", "scenes", "images", "blockSize", "preFilterCap", "bad 1.0, %"], rows)


def banz(run):
    results = {BANZ_VARIANTS[r["method"]]: r["average"] for r in run.dataset(BANZ_VARIANTS)}
    first = results["as in the paper"]
    parts = ["Time, times that of the first:", by_dataset(results, lambda r, d: f"{r[d]['ms'] / first[d]['ms']:.2f} ({r[d]['ms']:.1f} ms)")]
    for text, key, region in (("Bad 0.5, non-occluded, %:", "bad0.5", "nonocc"), ("Bad 1.0, non-occluded, %:", "bad1.0", "nonocc"),
                              ("Bad 1.0, all, %:", "bad1.0", "all")):
        parts += [text, by_dataset(results, lambda r, d: number(r[d]["measures"].get(region, {}).get(key), 2))]
    return "\n\n".join(parts)


TABLES = {"against": against, "threads": threads, "simd": simd, "peers": peers, "growth": growth, "lines": lines, "banz": banz}


def measure(options, results):
    run = Runner(f"tables-{options.name}", results, options)
    try:
        for make in TABLES.values():
            make(run)
    except Over:
        return 3
    return 0


def tables():
    """Returns the tables by the names of their markers: those whose results are complete."""
    results, made = read("tables-cpu"), {"accuracy": accuracy(), "settings": settings()}
    for name, make in TABLES.items():
        try:
            made[name] = make(Runner("tables-cpu", results))
        except Missing:
            continue
    if "machine" in results:
        made["measured"] = f"Measured on {results['machine']}, at commit `{results['commit']}`."
    return made
