#!/usr/bin/env python3
"""The tables and figures of the ESAW paper, made again: docs/notes/esaw.md.

    docs/esaw.py --stereopsis build/release/bin/stereopsis --data DATA/middlebury_v2 --device cpu -o docs/notes/images

prints Table 2 (error and speed over the iterations) and what the two passes take for their error, and draws, as SVG, the
paper's Figure 2 (error and speed over iterations and base) and Figure 3 (error over time per disparity evaluation).

Errors come from `stereopsis evaluate` and are the same on all devices. Times come from `stereopsis bench` at the sizes of
the four scenes, the shortest of several runs, on a GPU without transfers and of 16 pairs at a time; their mean per
disparity evaluation, each scene with one vote, is what the paper plots.
"""
import argparse
import json
import math
import subprocess
import tempfile
from pathlib import Path
from statistics import mean

BASES = {3: 3, 4: 2.8, 5: 2.2, 6: 2.2, 7: 1.9, 8: 1.9, 9: 1.9, 10: 1.8}
PAPER_ERROR = {3: 13.24, 4: 11.12, 5: 10.48, 6: 10.22, 7: 10.04, 8: 9.92, 9: 9.80, 10: 9.83}
PAPER_SPEED = {3: 309.6, 4: 256.2, 5: 219.2, 6: 191.2, 7: 170.1, 8: 153.3, 9: 140.5, 10: 127.7}  # MDE/s
FIGURE_2_BASES = (1.5, 1.8, 2.2, 2.6, 3.0)
WINDOWS = (9, 17, 25, 33, 49, 63)
SIZES = {"384x288x16": 1, "434x383x20": 1, "450x375x60": 2}  # scenes of each
COLOURS = ["#1b6ca8", "#c8553d", "#3a7d44", "#7b4b94", "#b8860b"]


def esaw(iterations, base):
    return f"esaw:esaw.iterations={iterations},esaw.base={base}"


def two_passes(window):
    return f"asw-separable:asw_separable.window={window}"


def command_json(command):
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        subprocess.run(command + ["--json", str(report)], check=True, stdout=subprocess.DEVNULL)
        return json.loads(report.read_text())


def errors(arguments, methods):
    """Percent of bad pixels of each region, the average over the scenes, and of the 12 figures."""
    result = {}
    for method in methods:
        name, _, settings = method.partition(":")
        command = [arguments.stereopsis, "evaluate", "--dataset", arguments.data, "--method", name,
                   "--device", arguments.device]
        for setting in settings.split(","):
            command += ["--set", setting]
        scenes = command_json(command)["scenes"]
        bad = {r: mean(s["measures"][r]["bad1.0"] for s in scenes) for r in ("nonocc", "all", "disc")}
        result[method] = {"average": mean(bad.values()), **bad}
    return result


def times(arguments, methods):
    """Nanoseconds per disparity evaluation."""
    batch = 1 if arguments.device == "cpu" else 16
    command = [arguments.stereopsis, "bench", "--no-peers", "--device", arguments.device, "--batch", str(batch)]
    for method in methods:
        command += ["--method", method]
    for size in SIZES:
        command += ["--size", size]
    per_evaluation = {method: [] for method in methods}
    for r in command_json(command)["results"]:
        width, height, disparities = r["width"], r["height"], r["disparities"]
        scenes = SIZES[f"{width}x{height}x{disparities}"]
        per_evaluation[r["method"]] += scenes * [r["min_ms"] * 1e6 / (width * height * disparities * batch)]
    return {method: mean(values) for method, values in per_evaluation.items()}


def ticks(low, high, log):
    if log:
        return [t for e in range(-9, 9) for m in (1, 1.5, 2, 3, 5, 7) if low <= (t := m * 10.0**e) <= high]
    step = next(s for e in range(-3, 9) for s in (10.0**e, 2 * 10.0**e, 5 * 10.0**e) if (high - low) / s <= 9)
    return [i * step for i in range(math.ceil(low / step), math.floor(high / step) + 1)]


def plot(file, title, x_title, y_title, series, log_x=False):
    """series: (name, [(x, y), …])."""
    width, height, left, right, top, bottom = 640, 380, 64, 160, 36, 48
    place = math.log10 if log_x else float
    xs = [x for _, points in series for x, _ in points]
    ys = [y for _, points in series for _, y in points]
    low_x, high_x = (min(xs) / 1.1, max(xs) * 1.1) if log_x else (min(xs) - 0.3, max(xs) + 0.3)
    margin = 0.08 * (max(ys) - min(ys))
    low_y, high_y = min(ys) - margin, max(ys) + margin

    def px(x):
        return left + (place(x) - place(low_x)) / (place(high_x) - place(low_x)) * (width - left - right)

    def py(y):
        return height - bottom - (y - low_y) / (high_y - low_y) * (height - top - bottom)

    def text(x, y, string, more='text-anchor="middle"'):
        return f'<text x="{x:.1f}" y="{y:.1f}" {more}>{string}</text>'

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
           ' font-family="Helvetica, Arial, sans-serif" font-size="12">',
           f'<rect width="{width}" height="{height}" fill="white"/>', text(left, 22, title, 'font-size="14"')]
    for x in ticks(low_x, high_x, log_x):
        out += [f'<path d="M{px(x):.1f} {top}V{height - bottom}" stroke="#ddd"/>',
                text(px(x), height - bottom + 16, f"{x:g}")]
    for y in ticks(low_y, high_y, False):
        out += [f'<path d="M{left} {py(y):.1f}H{width - right}" stroke="#ddd"/>',
                text(left - 6, py(y) + 4, f"{y:g}", 'text-anchor="end"')]
    for i, (name, points) in enumerate(series):
        colour = COLOURS[i % len(COLOURS)]
        path = " ".join(f"{px(x):.1f},{py(y):.1f}" for x, y in points)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        out += [f'<circle cx="{px(x):.1f}" cy="{py(y):.1f}" r="3" fill="{colour}"/>' for x, y in points]
        out.append(text(width - right + 10, top + 14 + 17 * i, name, f'fill="{colour}"'))
    upright = f'text-anchor="middle" transform="translate(18 {(top + height - bottom) / 2}) rotate(-90)"'
    out += [text((left + width - right) / 2, height - 12, x_title), text(0, 0, y_title, upright), "</svg>"]
    Path(file).write_text("\n".join(out) + "\n")


def table_2(error, time):
    print("| iterations | base | average bad % | paper | MDE/s | paper, 8800 GTX |\n|---|---|---|---|---|---|")
    for n, base in BASES.items():
        method = esaw(n, base)
        bad, speed = error[method]["average"], 1e3 / time[method]
        print(f"| {n} | {base} | {bad:.2f} | {PAPER_ERROR[n]:.2f} | {speed:.0f} | {PAPER_SPEED[n]:.1f} |")


def figure_2(folder, device, error, time):
    def series(value):
        return [(f"base {base}", [(n, value(esaw(n, base))) for n in BASES]) for base in FIGURE_2_BASES]

    plot(folder / "esaw-error.svg", "ESAW: error", "iterations", "average bad pixels, %",
         series(lambda m: error[m]["average"]))
    plot(folder / f"esaw-speed-{device}.svg", f"ESAW: speed, {device}", "iterations", "MDE/s",
         series(lambda m: 1e3 / time[m]))


def figure_3(folder, device, error, time):
    """Also, for each window of the two passes, the fewest steps with no larger error and how much less time they take."""
    print("\n| two passes, window | average bad % | nonocc | disc | MDE/s "
          "| ESAW of no larger error | its MDE/s | times faster |\n|---|---|---|---|---|---|---|---|")
    for window in WINDOWS:
        own = two_passes(window)
        e, speed = error[own], 1e3 / time[own]
        steps = next((n for n, base in BASES.items() if error[esaw(n, base)]["average"] <= e["average"]), None)
        other = "– | – | –"
        if steps is not None:
            other_speed = 1e3 / time[esaw(steps, BASES[steps])]
            other = f"{steps} steps | {other_speed:.0f} | {other_speed / speed:.2f}"
        print(f"| {window} | {e['average']:.2f} | {e['nonocc']:.2f} | {e['disc']:.2f} | {speed:.0f} | {other} |")
    for region in ("nonocc", "disc"):
        def points(methods):
            return [(time[m], error[m][region]) for m in methods]

        series = [("ESAW, 3 to 10 steps", points(esaw(n, base) for n, base in BASES.items())),
                  (f"two passes, {WINDOWS[0]} to {WINDOWS[-1]}", points(map(two_passes, WINDOWS)))]
        plot(folder / f"esaw-{region}-{device}.svg", f"Error ({region}) over time, {device}",
             "time per disparity evaluation, ns", "bad pixels, %", series, log_x=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stereopsis", required=True)
    parser.add_argument("--data", required=True, help="the folder middlebury_v2")
    parser.add_argument("--device", required=True)
    parser.add_argument("--name", help="of the device, in the pictures and their files")
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder for the figures")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    steps = [esaw(n, b) for n, b in BASES.items()] + [esaw(n, b) for b in FIGURE_2_BASES for n in BASES]
    methods = list(dict.fromkeys(steps + [two_passes(w) for w in WINDOWS]))
    error, time = errors(arguments, methods), times(arguments, methods)
    device = arguments.name or arguments.device.replace(":", "")
    table_2(error, time)
    figure_2(arguments.output, device, error, time)
    figure_3(arguments.output, device, error, time)


if __name__ == "__main__":
    main()
