"""The tables of docs/benchmarks.md that have times of a GPU: the part `tables gpu` of docs/measure.py.

The results of each call of `stereopsis bench` are kept in docs/measured/tables-gpu.json. --libsgm names a program that times libSGM
on the same GPU: it takes sizes such as 1280x960x128, and prints {"size": "1280x960x128", "paths": 8, "ms": 2.5} in a line for each
size with 8 and with 4 paths.
"""

import json
import subprocess
import tempfile
from pathlib import Path

from benchmarks import Missing, Over, Runner
from harness import number, read, size_of, table

SIZES = ["640x480x128", "1242x375x128", "1280x960x64", "1280x960x128", "1280x960x256", "1920x1080x256", "2880x1980x256"]
WHOLE = "left_right.enabled=true,select.subpixel=parabola"
METHODS = ["sgm", "sgm-learned-fast", "sgm-learned", "ad-census", "prehn-window", "prehn-pyramid", "zncc", "asw-separable", "realtime-dp",
           "realtime-bp", "segment-support", "esaw", "census-guided", "census-guided:levels.lambda=0.3", "costfilter", "asw"]
METHOD_SIZES = ["450x375x60", "1280x960x128"]
BATCH, BATCH_SIZE = 32, "640x480x128"


def census_pipeline(command, folder):
    """Returns the file of banz-sgm on census words of 62 bits."""
    pipeline = json.loads(subprocess.run([command, "methods", "banz-sgm", "--json"], check=True, capture_output=True, text=True).stdout)
    pipeline["cost"] = {"stage": "census", "window": "9x7"}
    file = Path(folder) / "census.json"
    file.write_text(json.dumps(pipeline))
    return str(file)


def with_census(run):
    """Returns the results of banz-sgm on census costs, with 8 and 4 paths."""
    def measure():
        with tempfile.TemporaryDirectory() as folder:
            census = f"{census_pipeline(run.options.command, folder)}:{WHOLE}"
            aside = Runner("", {}, run.options, save=False)
            return aside.bench([census, f"{census},optimisation.paths=4"], "--repeat", 31, sizes=SIZES)
    return run.stored("census", measure)


def results_of(run):
    """Returns all results, measured or stored."""
    banz = f"banz-sgm:{WHOLE}"
    found = {"sgm": run.bench([banz, f"{banz},optimisation.paths=4", "sgm"], "--repeat", 31, sizes=SIZES), "census": with_census(run),
             "batches": run.bench([banz, f"{banz},optimisation.paths=4"], "--batch", BATCH, "--repeat", 31, sizes=[BATCH_SIZE]),
             "methods": []}
    for method in METHODS:
        found["methods"] += run.bench([method], "--repeat", 11, sizes=METHOD_SIZES)
    found["methods"].sort(key=lambda r: r["width"])
    return found


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


def sgm(results, census, peer):
    """libSGM is compared with the same kind of costs, census."""
    rows = []
    for (size, (eight, four, *_)), censuses in zip(by_size(results).items(), by_size(census).values()):
        row = [size]
        for ours, same, paths in ((eight, censuses[0], "8"), (four, censuses[1], "4")):
            theirs = peer.get(size, {}).get(paths)
            row += [number(ours["median_ms"], 3), number(ours["gde_per_s"], 0), share(ours), number(theirs, 2),
                    number(theirs and theirs / same["median_ms"], 1)]
        rows.append(row)
    header = [f"{what}, {paths}" for paths in ("8 paths", "4 paths")
              for what in ("ms", "GDE/s", "of the roof", "libSGM ms", "census times as fast")]
    return table(["`banz-sgm`"] + header, rows)


def costs(results, census):
    rows = []
    for (size, (eight, four, default)), (census8, census4) in zip(by_size(results).items(), by_size(census).values()):
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


def measure(options, results):
    run = Runner("tables-gpu", results, options)
    results["device"] = options.device
    try:
        results_of(run)
        if options.libsgm:
            run.stored("libSGM", lambda: libsgm(options.libsgm))
    except Over:
        return 3
    return 0


def tables():
    """Returns the tables by the name of their marker, if the results are complete."""
    results = read("tables-gpu")
    try:
        found = results_of(Runner("tables-gpu", results))
    except Missing:
        return {}
    one = by_size(found["sgm"])["1280×960×128"][0]
    roofs = one["roofs"]
    return {"gpu": "\n\n".join([
        f"Measured on `{results['device']}`, {results['machine']}, at commit `{results['commit']}`.\n"
        f"Its roofs: {roofs['bytes_per_s'] * 1e-12:.2f} TB/s copied, {roofs['path_operations_per_s'] * 1e-12:.1f} T/s additions and minima of "
        f"16 bits, {roofs['popcounts_per_s'] * 1e-12:.1f} T/s popcounts, {roofs['operations_per_s'] * 1e-12:.1f} T/s of 32 bits.",
        sgm(found["sgm"], found["census"], results["calls"].get("libSGM", {})), costs(found["sgm"], found["census"]), stages(one),
        batches(found["batches"], found["sgm"]), methods(found["methods"])])}
