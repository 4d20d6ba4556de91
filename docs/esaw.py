#!/usr/bin/env python3
"""The tables and figures of the ESAW paper, made again: docs/esaw.md.

    docs/esaw.py --stereopsis build/release/bin/stereopsis --data DATA/middlebury_v2 --device cpu --device cuda:0 -o docs/images

prints Table 2 (error and speed over the iterations) and the comparison with the two-pass window, and draws, as SVG, the
paper's Figure 2 (error and speed over iterations and base) and Figure 3 (error over time per disparity evaluation).
"""
import argparse
import json
import subprocess
import tempfile
from pathlib import Path

BASES = {3: 3, 4: 2.8, 5: 2.2, 6: 2.2, 7: 1.9, 8: 1.9, 9: 1.9, 10: 1.8}
PAPER_ERROR = {3: 13.24, 4: 11.12, 5: 10.48, 6: 10.22, 7: 10.04, 8: 9.92, 9: 9.80, 10: 9.83}
PAPER_SPEED = {3: 309.6, 4: 256.2, 5: 219.2, 6: 191.2, 7: 170.1, 8: 153.3, 9: 140.5, 10: 127.7}  # MDE/s
COLOURS = ["#1b6ca8", "#c8553d", "#3a7d44", "#7b4b94", "#b8860b", "#444444", "#008080", "#aa3377"]


def evaluate(arguments, device, method, **settings):
    """Error (average of the 12 figures, and of the 4 of each region) and seconds per disparity evaluation."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [arguments.stereopsis, "evaluate", "--dataset", arguments.data, "--method", method, "--device", device, "--json", str(report)]
        for name, value in settings.items():
            command += ["--set", f"{name.replace('__', '.')}={value}"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        scenes = json.loads(report.read_text())["scenes"]
    bad = {r: sum(s["measures"][r]["bad1.0"] for s in scenes) / len(scenes) for r in ("nonocc", "all", "disc")}
    per_evaluation = sum(s["ms"] * 1e-3 / (s["width"] * s["height"] * s["disparities"]) for s in scenes) / len(scenes)
    return {"average": sum(bad.values()) / 3, "seconds": per_evaluation, "rows": scenes, **bad}


def plot(file, title, x_title, y_title, series, log_x=False):
    """series: (name, [(x, y), …]); one point is a dot, more are a line."""
    import math
    width, height, left, right, top, bottom = 640, 400, 64, 150, 36, 48
    place = (lambda x: math.log10(x)) if log_x else (lambda x: x)
    xs = [place(x) for _, points in series for x, _ in points]
    ys = [y for _, points in series for _, y in points]
    low_x, high_x, low_y, high_y = min(xs), max(xs), min(ys), max(ys)
    margin_x, margin_y = 0.05 * (high_x - low_x or 1), 0.08 * (high_y - low_y or 1)
    low_x, high_x, low_y, high_y = low_x - margin_x, high_x + margin_x, low_y - margin_y, high_y + margin_y
    px = lambda x: left + (place(x) - low_x) / (high_x - low_x) * (width - left - right)
    py = lambda y: height - bottom - (y - low_y) / (high_y - low_y) * (height - top - bottom)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="12">',
           f'<rect width="{width}" height="{height}" fill="white"/>', f'<text x="{left}" y="22" font-size="14">{title}</text>']
    ticks_x = [10.0 ** e * m for e in range(-12, 3) for m in (1, 2, 5)] if log_x else range(0, 40)
    for x in ticks_x:
        if low_x <= place(x) <= high_x:
            out.append(f'<line x1="{px(x):.1f}" x2="{px(x):.1f}" y1="{top}" y2="{height - bottom}" stroke="#ddd"/>'
                       f'<text x="{px(x):.1f}" y="{height - bottom + 16}" text-anchor="middle">{x:g}</text>')
    for i in range(6):
        y = low_y + (high_y - low_y) * i / 5
        out.append(f'<line x1="{left}" x2="{width - right}" y1="{py(y):.1f}" y2="{py(y):.1f}" stroke="#ddd"/>'
                   f'<text x="{left - 6}" y="{py(y) + 4:.1f}" text-anchor="end">{y:.3g}</text>')
    for i, (name, points) in enumerate(series):
        colour = COLOURS[i % len(COLOURS)]
        path = " ".join(f"{px(x):.1f},{py(y):.1f}" for x, y in points)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        out += [f'<circle cx="{px(x):.1f}" cy="{py(y):.1f}" r="3" fill="{colour}"/>' for x, y in points]
        out.append(f'<text x="{width - right + 10}" y="{top + 14 + 17 * i}" fill="{colour}">{name}</text>')
    out += [f'<text x="{(left + width - right) / 2}" y="{height - 12}" text-anchor="middle">{x_title}</text>',
            f'<text transform="translate(16,{(top + height - bottom) / 2}) rotate(-90)" text-anchor="middle">{y_title}</text>', "</svg>"]
    Path(file).write_text("\n".join(out) + "\n")


def table_2(arguments, device):
    print(f"\n{device}\n\n| iterations | base | average bad % | paper | MDE/s | paper, 8800 GTX |\n|---|---|---|---|---|---|")
    results = {}
    for n, base in BASES.items():
        r = results[n] = evaluate(arguments, device, "esaw", esaw__iterations=n, esaw__base=base)
        print(f"| {n} | {base} | {r['average']:.2f} | {PAPER_ERROR[n]:.2f} | {1e-6 / r['seconds']:.0f} | {PAPER_SPEED[n]:.1f} |")
    return results


def figure_2(arguments, device):
    series, speed = [], []
    for base in (1.5, 1.8, 2.2, 2.6, 3.0):
        points = [(n, evaluate(arguments, device, "esaw", esaw__iterations=n, esaw__base=base)) for n in range(3, 11)]
        series.append((f"base {base}", [(n, r["average"]) for n, r in points]))
        speed.append((f"base {base}", [(n, 1e-6 / r["seconds"]) for n, r in points]))
    name = device.replace(":", "")
    plot(arguments.output / f"esaw-error-{name}.svg", "ESAW: error", "iterations", "average bad pixels, %", series)
    plot(arguments.output / f"esaw-speed-{name}.svg", f"ESAW: speed, {device}", "iterations", "MDE/s", speed)


def figure_3(arguments, device, esaw):
    windows = {w: evaluate(arguments, device, "asw-separable", asw_separable__window=w) for w in (9, 17, 25, 33)}
    print(f"\n{device}: asw-separable\n\n| window | average bad % | nonocc | disc | MDE/s |\n|---|---|---|---|---|")
    for w, r in windows.items():
        print(f"| {w} | {r['average']:.2f} | {r['nonocc']:.2f} | {r['disc']:.2f} | {1e-6 / r['seconds']:.0f} |")
    for region in ("nonocc", "disc"):
        series = [("ESAW, 3 to 10 steps", [(r["seconds"] * 1e9, r[region]) for r in esaw.values()]),
                  ("two passes, 9 to 33", [(r["seconds"] * 1e9, r[region]) for r in windows.values()])]
        plot(arguments.output / f"esaw-{region}-{device.replace(':', '')}.svg", f"Error ({region}) over time, {device}",
             "time per disparity evaluation, ns", "bad pixels, %", series, log_x=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stereopsis", required=True)
    parser.add_argument("--data", required=True, help="the folder middlebury_v2")
    parser.add_argument("--device", action="append", required=True)
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder for the figures")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    for device in arguments.device:
        esaw = table_2(arguments, device)
        figure_2(arguments, device)
        figure_3(arguments, device, esaw)


if __name__ == "__main__":
    main()
