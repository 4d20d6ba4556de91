#!/usr/bin/env python3
"""Measures every figure of the pages, and writes the figures into the pages.

    docs/measure.py errors                 errors of all methods and peers              docs/measured/errors.json
    docs/measure.py confidence             measured pixels, curves, confidence          density.json, curves.json, reliability.json
    docs/measure.py times NAME             NAME: cpu, gpu, opencl                       times-NAME.json
    docs/measure.py tables NAME            other tables of benchmarks.md; cpu or gpu    tables-NAME.json
    docs/measure.py drop-in                st.cv2 beside OpenCV; needs the package      from-opencv.json
    docs/measure.py all                    all of these, without GPU if --device is cpu
    docs/measure.py pages [--check]        writes the figures into the pages

A part that was interrupted, or that ran out of --seconds (exit code 3), continues with the next call. It starts anew if the command
was built from another commit, or (times) if the machine is another one. Results of OpenCV are kept. Errors do not depend on the device: all devices give the same bits.
Times are medians on a generated pair of 1280×960 with 128 disparities. OpenCV's matchers run through the package
opencv-python-headless with the settings of src/command/peers.json (docs/peers.py choose); libelas runs if the command has it.

In a page, the comment behind a figure names its source: `47 ms<!-- times-cpu/ms/sgm -->` is the value `sgm` in `ms` of
docs/measured/times-cpu.json. `<!-- A / B -->` is the quotient of two values, `<!-- 100 * A -->` a percentage. `pages` writes the
measured value with as many decimals as the page has; `pages --check` prints the figures that differ, and figures without a source.
"""

import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import mean

import accuracy_time
from harness import DOCS, MEASURED, ROOT, SIZE, bench, commit_of, number, parser_of, processor, read, replace, scenes, table, write

PAGES = [ROOT / "README.md", *(DOCS / f"{name}.md" for name in ("choosing", "hardware", "benchmarks", "trust", "from-opencv"))]
METHODS = ["sgm", "sgm:optimisation.paths=8", "balanced", "sgm-learned", "accurate", "sgm-learned-fast", "banz-sgm", "zncc", "prehn-window", "prehn-pyramid", "census-guided",
           "costfilter", "esaw", "asw", "asw-separable", "ad-census", "realtime-dp", "realtime-bp", "segment-support"]
SCORED = [*METHODS, "census-guided:levels.lambda=0.3"]
TIMED = [*METHODS, "banz-sgm:optimisation.paths=4"]
WITH_CONFIDENCE = ["sgm", "sgm:optimisation.paths=8", "balanced", "sgm-learned", "accurate", "sgm-learned-fast"]
SLOW = {"asw", "ad-census", "realtime-bp", "costfilter", "segment-support", "realtime-dp"}  # a run takes seconds on a CPU
PRESETS = {"fast": "sgm", "balanced": "balanced", "accurate": "accurate"}
UNITS = "ms|%|times|×|GB|TB/s|GDE/s|frames"
FIGURE = re.compile(rf"(\d+(?:\.\d+)?)((?:\s*(?:{UNITS}))?)<!-- ((?:100 \* )?[\w.-]+/[^<>]*?) -->")
BARE = re.compile(rf"\d\s?(?:{UNITS})(?![\w<])(?!<!--)")
CONTINUE = 3  # exit code: call again


def begin(name, about):
    """Returns the results of an earlier call if they are of the same commit and machine, else none."""
    found = read(name)
    return found if all(found.get(key) == value for key, value in about.items()) else about


class Clock:
    def __init__(self, seconds):
        self.until = time.monotonic() + seconds

    def over(self):
        return time.monotonic() > self.until


# Errors -----------------------------------------------------------------------------------------------------------------


ALIGNED = ["--align-rows", "auto"]  # options of bench, with which all matchers get aligned images


def errors_of(results):
    """Returns the errors of one program from its measures by dataset."""
    datasets = {}
    for name, regions in results.items():
        widest = "all" if "all" in regions else "nonocc"
        figures = {region: regions[region]["bad1.0"] for region in ("nonocc", "all") if region in regions}
        datasets[name] = {key: round(value, 2) for key, value in {**figures, "d1": regions[widest]["d1"]}.items()}
    return {"bad1.0": round(mean(d["nonocc"] for d in datasets.values()), 2), "datasets": datasets}


def bench_of(options, folder, *which):
    """Returns the results of `bench` on the scenes of a folder, by name."""
    found = bench(options.command, "--device", options.device, "--repeat", 1, "--dataset", folder, *which)["results"]
    return {r["method"].replace("OpenCV Stereo", "OpenCV "): r for r in found}


def errors_of_six(result):
    """Returns the errors of one result of `bench` on the six datasets."""
    return errors_of({d: a["measures"] for d, a in result["average"].items()})


def errors_of_methods(options, *which):
    """Returns the errors of methods, or of the peers in the command, by name."""
    roads, errors = bench_of(options, options.roads, *which), {}
    for name, r in bench_of(options, options.dataset, *which).items():
        errors[name] = {"peer": bool(r["peer"]), **errors_of_six(r), "average_of_12": r.get("average_of_12")}
        errors[name]["roads_d1"] = round(mean(d1_of(s["measures"]) for s in roads[name]["scenes"]), 2)
    return errors


def d1_of(regions):
    return next(regions[region]["d1"] for region in ("all", "nonocc") if region in regions)


def errors_of_opencv(peer, options):
    import peers
    from harness import filled

    def measures(scene):
        return scene.measures(filled(peers.disparity_of(peer, peers.chosen(peer, scene.dataset), scene)))

    datasets, twelve = {}, []
    for scene in scenes(options.dataset):
        datasets.setdefault(scene.dataset, []).append(measures(scene))
    for regions in datasets["middlebury_v2"]:
        twelve += [regions[region]["bad1.0"] for region in ("nonocc", "all", "disc")]
    average = {name: {region: {key: mean(m[region][key] for m in found) for key in ("bad1.0", "d1")} for region in found[0]}
               for name, found in datasets.items()}
    return {"peer": True, **errors_of(average), "average_of_12": mean(twelve),
            "roads_d1": round(mean(d1_of(measures(scene)) for scene in scenes(options.roads)), 2)}


def measure_errors(options):
    import peers
    clock = Clock(options.seconds)
    results = begin("errors", peers.settings())
    methods = results.setdefault("methods", {})
    if results.get("commit") != options.commit:  # the errors of other matchers stay the same
        methods = {name: found for name, found in methods.items() if found["peer"]}
        results = {**peers.settings(), "commit": options.commit, "methods": methods}
    for name in [*SCORED, *peers.NAMES.values()]:
        mode = next((mode for mode, known in peers.NAMES.items() if known == name), None)
        if name not in methods:
            if clock.over():
                return CONTINUE
            methods[name] = errors_of_opencv(mode, options) if mode else errors_of_methods(options, "--no-peers", "--method", name)[name]
            write("errors", results)
        if mode is None and "aligned" not in methods[name]:
            if clock.over():
                return CONTINUE
            methods[name]["aligned"] = errors_of_methods(options, "--no-peers", "--method", name, *ALIGNED)[name]
            write("errors", results)
    if not any("aligned" in found for found in methods.values() if found["peer"]):
        for name, found in errors_of_methods(options, *ALIGNED).items():
            if name in methods and found["peer"]:
                methods[name]["aligned"] = found
        write("errors", results)
    if options.libelas and not any("aligned" in found for name, found in methods.items() if name.startswith("libelas")):
        found, aligned = (errors_of_methods(options, "--method", "sgm", *rows) for rows in ([], ALIGNED))
        methods |= {name: {**found[name], "aligned": aligned[name]} for name in found if name.startswith("libelas")}
        write("errors", results)
    return 0


def measure_confidence(options):
    import confidence
    opencv = begin("peer-curves", {**confidence.peers.settings(), "checks": confidence.CHECKS})
    raw = json.loads(options.raw.read_text()) if options.raw.exists() else {}
    if raw.get("commit") != options.commit:
        raw = {"commit": options.commit, "maps": {}}
    complete = confidence.measure(options, opencv.setdefault("maps", {}), raw["maps"])
    options.raw.write_text(json.dumps(raw))
    write("peer-curves", opencv)
    if not complete:
        return CONTINUE
    confidence.save({**opencv["maps"], **raw["maps"]}, options)
    return 0


# Times ------------------------------------------------------------------------------------------------------------------


def machine_of(options):
    if options.device == "cpu":
        return f"{options.threads} threads of {processor()}"
    return bench(options.command, "--device", options.device, "--no-peers", "--no-stream", "--repeat", 1, "--size", "64x64x16")["hardware"][options.device]


def note(results, suffix, name, result):
    results.setdefault("ms" + suffix, {})[name] = float(f"{result['median_ms']:.4g}")
    results.setdefault("processor_ms" + suffix, {})[name] = float(f"{result['processor_ms']:.4g}")


def time_method(options, method, *more):
    slow = options.device == "cpu" and method in SLOW
    if options.device == "cpu":
        more = ("--threads", options.threads, *more)
    return bench(options.command, "--device", options.device, "--no-peers", "--no-stream", "--size", SIZE, "--repeat",
                 5 if slow else options.repeat, *more, methods=[method])["results"][0]


def time_peers(options, size=SIZE, threads=None):
    """Returns the times of OpenCV's matchers on the generated pair of `stereopsis bench`, in grey, and of libelas if the command has it."""
    width, height, disparities = size.split("x")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([options.command, "synth", "-o", folder, "--width", width, "--height", height, "--disparities", disparities], check=True,
                       stdout=subprocess.DEVNULL)
        files = [next(Path(folder).rglob(f"{side}*")) for side in ("left", "right")]
        call = [sys.executable, DOCS / "peers.py", "time", "--images", "grey", "--left", files[0], "--right", files[1], "--disparities", disparities,
                "--threads", str(threads or options.threads), "--repeat", str(max(5, options.repeat // 3))]
        results = json.loads(subprocess.run(call, check=True, stdout=subprocess.PIPE, text=True).stdout)
    if options.libelas:
        found = bench(options.command, "--device", "cpu", "--threads", threads or options.threads, "--repeat", 5, "--size", size, methods=["sgm"])
        results += [{"name": r["method"], "version": "", **r} for r in found["results"] if r["method"].startswith("libelas")]
    return results


def measure_times(options):
    clock = Clock(options.seconds)
    name = f"times-{options.name}"
    results = begin(name, {"machine": machine_of(options), "commit": options.commit, "size": SIZE.replace("x", "×")})
    for suffix, methods, more in (("", TIMED, ()), ("_with_confidence", WITH_CONFIDENCE, ("--confidence",))):
        for method in methods:
            if method in results.get("ms" + suffix, {}):
                continue
            if clock.over():
                return CONTINUE
            found = time_method(options, method, *more)
            note(results, suffix, method, found)
            if not suffix:
                results.setdefault("workspace_gb", {})[method] = round(found["workspace_bytes"] * 1e-9, 3)
            write(name, results)
    if options.device == "cpu" and "versions" not in results:
        if clock.over():
            return CONTINUE
        peers = time_peers(options)
        for r in peers:
            note(results, "", r["name"], r)
        results["versions"] = {r["name"]: r["version"] for r in peers}
        write(name, results)
    return 0


def measure_tables(options):
    import benchmarks
    import gpu_benchmarks
    options.clock = Clock(options.seconds)
    about = {"machine": machine_of(options), "commit": options.commit}
    return (gpu_benchmarks if options.name == "gpu" else benchmarks).measure(options, begin(f"tables-{options.name}", about))


def measure_drop_in(options):
    import from_opencv
    if not importlib.util.find_spec("stereopsis"):
        print("drop-in: left out, because the package stereopsis is not installed")
        return 0
    options.machine = machine_of(options)
    return from_opencv.measure(options)


def measure_all(options):
    """Runs the parts one after the other, until one has to continue."""
    parts = [("errors", ""), ("confidence", ""), ("times", "cpu"), ("tables", "cpu"), ("drop-in", "")]
    gpu = options.device
    if gpu != "cpu":
        parts += [("times", "gpu"), ("tables", "gpu")]
    until = time.monotonic() + options.seconds
    for part, name in parts:
        options.name, options.seconds = name, until - time.monotonic()
        options.device = "cpu" if name == "cpu" or part == "drop-in" else gpu
        print(part, name, flush=True)
        if code := JOBS[part](options):
            return code
    return 0


# Pages ------------------------------------------------------------------------------------------------------------------


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
            if key not in value:
                raise SystemExit(f"docs/measured/{file}.json has no {'/'.join(keys)}, which a page shows; continue to measure it, or restore the file")
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
    with_cpu, with_gpu = (values.one(f).get("ms_with_confidence", {}) for f in ("times-cpu", "times-gpu"))

    def both(ms, with_confidence, method, decimals):
        more = f" ({number(with_confidence[method], decimals)})" if method in with_confidence else ""
        return number(ms.get(method), decimals) + more

    rows = [[f"`{name}`", f"`{method}`", number(errors[method]["bad1.0"], 2), number(errors[method]["roads_d1"], 2),
             both(cpu, with_cpu, method, 0), both(gpu, with_gpu, method, 2)] for name, method in PRESETS.items()]
    return table(["preset", "method", "bad 1.0, %", "D1 on roads, %", "ms, CPU", "ms, GPU"], rows)


def speed(values):
    """Returns our times beside those of OpenCV's fastest and best-known modes, at equal threads."""
    times = values.one("times-cpu")
    rows = [["`sgm`", "sgm", 4], ["OpenCV 3WAY", "OpenCV SGBM 3WAY", 3], ["`sgm` with 8 paths", "sgm:optimisation.paths=8", 8], ["OpenCV HH", "OpenCV SGBM HH", 8]]
    kinds = ("ms", "ms_with_confidence", "processor_ms", "processor_ms_with_confidence")
    return table(["", "paths", "ms", "ms with confidence", "processor ms", "processor ms with confidence"],
                 [[title, str(paths), *(number(times.get(kind, {}).get(name), 0) for kind in kinds)] for title, name, paths in rows])


def without_code(text):
    return re.sub(r"```.*?```|<!-- (\w+): begin -->.*?<!-- \1: end -->", "", text, flags=re.DOTALL)


def bare_figures(text):
    """Returns the lines with a figure that names no source; a figure of a definition has <!-- definition --> behind it."""
    return [line for line in without_code(text).splitlines() if BARE.search(line)]


def made_tables(values):
    """Returns the tables of the pages by the name of their markers; those without results stay as they are."""
    import benchmarks
    import from_opencv
    import gpu_benchmarks
    import small_machines
    return {"presets": presets(values), "speed": speed(values), **benchmarks.tables(), **gpu_benchmarks.tables(), **from_opencv.tables(), **small_machines.tables()}


def write_pages(options):
    values, wrong = Values(), []
    tables = made_tables(values)
    for page in PAGES:
        old = page.read_text()
        new = with_figures(old, values)
        for name, text in tables.items():
            if f"<!-- {name}: begin -->" in new:
                new = replace(new, name, text)
        wrong += [f"{page.name}: no source: {line}" for line in bare_figures(new)]
        if new != old and options.check:
            wrong += [f"{page.name}: {a!r} should be {b!r}" for a, b in zip(old.splitlines(), new.splitlines()) if a != b]
        elif new != old:
            page.write_text(new)
    wrong += write_pictures(options.check)
    for line in wrong:
        print(line)
    return 1 if wrong else 0


def write_pictures(check):
    from charts import curves_chart, reliability_chart
    pictures = {"accuracy-time.svg": accuracy_time.two_charts(), "images/reliability.svg": reliability_chart(read("reliability"))}
    if curves := read("curves"):
        pictures["images/curves.svg"] = curves_chart(curves)
    wrong = []
    for name, picture in pictures.items():
        file = DOCS / name
        if not check:
            file.write_text(picture)
        elif not file.exists() or file.read_text() != picture:
            wrong.append(f"{name} is not that of docs/measured; call docs/measure.py pages")
    return wrong


JOBS = {"errors": measure_errors, "confidence": measure_confidence, "times": measure_times, "tables": measure_tables, "drop-in": measure_drop_in,
        "all": measure_all, "pages": write_pages}


def main():
    parser = parser_of(__doc__)
    parser.add_argument("job", choices=JOBS)
    parser.add_argument("name", nargs="?", default="cpu", choices=["cpu", "gpu", "opencl"])
    parser.add_argument("--device", help="device of the methods [cpu; for the names gpu and opencl: cuda:0 and opencl]")
    parser.add_argument("--threads", type=int, default=2, help="threads of the CPU columns")
    parser.add_argument("--repeat", type=int, default=21)
    parser.add_argument("--seconds", type=float, default=1e9, help="after these, no further run is started: exit code 3, call again")
    parser.add_argument("--libelas", action="store_true", help="also run libelas, which the command must have")
    parser.add_argument("--libsgm", metavar="PROGRAM", help="times libSGM (docs/gpu_benchmarks.py)")
    parser.add_argument("--networks", type=Path, nargs="+", default=[], metavar="FILE.onnx", help="networks for the table of other matchers")
    parser.add_argument("--raw", type=Path, default=Path(tempfile.gettempdir()) / f"stereopsis-confidence-{os.getuid()}.json",
                        help="results of the part confidence by scene, for its next call")
    parser.add_argument("--check", action="store_true", help="pages: only print what differs")
    options = parser.parse_args()
    options.device = options.device or {"cpu": "cpu", "gpu": "cuda:0", "opencl": "opencl"}[options.name]
    if options.job == "pages":
        return write_pages(options)
    missing = [f"--{name}" for name in ("dataset", "roads") if not getattr(options, name)]
    if missing and options.job not in ("times",):
        parser.error(f"{options.job} needs {' and '.join(missing)}")
    options.commit = commit_of(options.command)
    return JOBS[options.job](options)


if __name__ == "__main__":
    sys.exit(main())
