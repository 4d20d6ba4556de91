#!/usr/bin/env python3
"""Yu, Chen and Hoe's Table 3 and Figure 3 with all methods here: docs/notes/table-3.md.

    docs/table_3.py --stereopsis build/release/bin/stereopsis --data DATA/middlebury_v2 --device cpu --results FILE.json -o docs/notes/images

Prints Table 3, a row of the paper's above a row of ours, and what became of its claims; draws, as SVG, error (nonocc, and disc) over the
time per disparity evaluation, parameters that trade one for the other as curves, the authors' points hollow.

Errors are the same on every device: those in docs/measured/table-3.json need no --data. Times are kept in --results by device (--name), so that a
run on another machine adds to those that
are there: with --device cuda:0 --name H200 it fills in that GPU's. --one-thread takes the processor's time of one thread, for
busy machines; --draw measures nothing and draws what --results has.
"""
import argparse
import json
from math import log
from pathlib import Path
from statistics import mean

from esaw import BASES, WINDOWS, command_json, esaw, ticks, two_passes
from frame_time import frame_ms

SCENES = {"tsukuba": (384, 288, 16), "venus": (434, 383, 20), "teddy": (450, 375, 60), "cones": (450, 375, 60)}
REGIONS = ("nonocc", "all", "disc")
COLOURS = ["#1b6ca8", "#c8553d", "#3a7d44", "#7b4b94", "#b8860b", "#2b8c8c", "#a13d63", "#55606e"]

# The paper's: nonocc, all, disc of the four scenes; MDE/s.
PAPER = {
    "ESAW, 5 steps": ([1.8, 3.3, 8.7, 2.9, 4.0, 20.0, 10.1, 16.9, 21.2, 6.8, 14.3, 15.9], 219.2),
    "ESAW, 9 steps": ([2.0, 2.8, 9.9, 2.5, 3.5, 15.7, 10.0, 16.5, 21.3, 6.0, 13.0, 14.4], 140.5),
    "AW [3]": ([2.3, 3.6, 11.2, 3.6, 4.6, 19.8, 10.9, 18.8, 23.2, 5.9, 14.3, 13.8], 104.1),
    "DP [5]": ([2.1, 4.2, 10.6, 1.9, 3.0, 20.3, 7.2, 14.4, 17.6, 6.4, 13.7, 16.5], 52.8),
    "BP [6]": ([1.5, 3.4, 7.9, 0.8, 1.9, 9.0, 8.7, 13.2, 17.2, 4.6, 11.6, 12.4], 19.7),
    "aggregate [7]": ([3.0, 4.4, 13.2, 3.5, 4.6, 25.5, 10.7, 17.5, 23.4, 4.9, 12.7, 11.3], 18.9),
}
OURS = {
    "ESAW, 5 steps": esaw(5, BASES[5]),
    "ESAW, 9 steps": esaw(9, BASES[9]),
    "AW [3]": two_passes(33),
    "DP [5]": "realtime-dp",
    "BP [6]": "realtime-bp",
    "aggregate [7]": "segment-support",
}


def square(window):
    return f"esaw:aggregation.stage=box,box.window_width={window},box.window_height={window}"


def shiftable(window):
    return f"esaw:aggregation.stage=shiftable,shiftable.window={window}"


def nine(window):
    return f"esaw:aggregation.stage=multiple_windows,multiple_windows.windows=9,multiple_windows.window={window}"


CURVES = {
    "ESAW, 3 to 10 steps": [esaw(n, base) for n, base in BASES.items()],
    f"two passes, {WINDOWS[0]} to {WINDOWS[-1]}": [two_passes(w) for w in WINDOWS],
    "square windows, 5 to 21": [square(w) for w in (5, 9, 13, 17, 21)],
    "shiftable windows, 5 to 21": [shiftable(w) for w in (5, 9, 13, 17, 21)],
    "best 5 of 9 windows, 5 to 21": [nine(w) for w in (5, 9, 13, 17, 21)],
    "belief propagation, 1 to 8 iterations": [f"realtime-bp:belief_propagation.iterations={n}" for n in (1, 2, 3, 5, 8)],
}
POINTS = ["realtime-dp", "realtime-bp", "segment-support", "asw", "census-guided", "costfilter", "prehn-window", "prehn-pyramid", "zncc",
          "banz-sgm", "sgm:sgm.paths=4", "ad-census"]


def all_methods():
    return list(dict.fromkeys(list(OURS.values()) + [m for c in CURVES.values() for m in c] + POINTS))


def errors_of(arguments, method):
    """The 12 figures."""
    name, _, settings = method.partition(":")
    call = [arguments.stereopsis, "evaluate", "--dataset", arguments.data, "--method", name, "--device", arguments.device]
    for setting in filter(None, settings.split(",")):
        call += ["--set", setting]
    found = {Path(s["name"]).name: s["measures"] for s in command_json(call)["scenes"]}
    return [found[scene][region]["bad1.0"] for scene in SCENES for region in REGIONS]


def nanoseconds(arguments, method):
    """Returns the nanoseconds of a disparity evaluation, the mean over the sizes of the scenes."""
    per_size = {}
    for size in set(SCENES.values()):
        ms = frame_ms(arguments.stereopsis, method, size, arguments.device, arguments.one_thread)
        per_size[size] = 1e6 * ms / (size[0] * size[1] * size[2])
    return mean(per_size[size] for size in SCENES.values())


def measure(arguments, results, device):
    for method in all_methods():
        if method not in results["errors"]:
            results["errors"][method] = errors_of(arguments, method)
        times = results["times"].setdefault(device, {})
        if method not in times or arguments.again:
            times[method] = nanoseconds(arguments, method)
        arguments.results.write_text(json.dumps(results, indent=1) + "\n")


def region_mean(errors, region):
    return mean(errors[REGIONS.index(region)::3])


def table_3(results):
    devices = list(results["times"])
    print("| | tsukuba | venus | teddy | cones | average of 12 | MDE/s |")
    print("|---|---|---|---|---|---|---|")
    for row, (errors, speed) in PAPER.items():
        own = results["errors"][OURS[row]]
        speeds = ", ".join(f"{1e3 / results['times'][d][OURS[row]]:.0f} {d}" for d in devices)
        for name, e, s in ((f"{row}, the paper's", errors, f"{speed:g}"), (f"`{OURS[row]}`", own, speeds)):
            scenes = " | ".join(" / ".join(f"{v:.1f}" for v in e[i:i + 3]) for i in range(0, 12, 3))
            print(f"| {name} | {scenes} | {mean(e):.2f} | {s} |")


def claims(results):
    """ "ESAW can achieve comparable accuracy of adaptive-weight [3] at iteration 5 and accuracy of semi-global one [5] at iteration 9, with
    2.1x and 2.7x speed up" """
    print("\n| claim | device | errors here | times faster here |\n|---|---|---|---|")
    for row, other, claim in (("ESAW, 5 steps", "AW [3]", 2.1), ("ESAW, 9 steps", "DP [5]", 2.7)):
        a, b = OURS[row], OURS[other]
        for device, times in results["times"].items():
            print(f"| {row} {claim} times faster than {other} | {device} | {mean(results['errors'][a]):.2f}, "
                  f"{mean(results['errors'][b]):.2f} | {times[b] / times[a]:.2f} |")


def short(method):
    return method.partition(":")[0]


def figure_3(results, device, region, file):
    times, errors = results["times"][device], results["errors"]

    def points(methods):
        return [(times[m], region_mean(errors[m], region)) for m in methods if m in times]

    series = [(name, points(methods)) for name, methods in CURVES.items() if points(methods)]
    dots = [(short(m), *points([m])[0]) for m in POINTS if m in times]
    authors = [(name, 1e3 / speed, region_mean(e, region)) for name, (e, speed) in PAPER.items()]
    width, height, left, right, top, bottom = 860, 520, 60, 250, 36, 48
    xs = [x for _, points in series for x, _ in points] + [x for _, x, _ in dots + authors]
    ys = [y for _, points in series for _, y in points] + [y for _, _, y in dots + authors]
    low_x, high_x, high_y = min(xs) / 1.3, max(xs) * 1.3, max(ys) * 1.05

    def px(x):
        return left + log(x / low_x) / log(high_x / low_x) * (width - left - right)

    def py(y):
        return height - bottom - y / high_y * (height - top - bottom)

    def text(x, y, string, more=""):
        return f'<text x="{x:.1f}" y="{y:.1f}" {more}>{string}</text>'

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
           ' font-family="Helvetica, Arial, sans-serif" font-size="12">',
           f'<rect width="{width}" height="{height}" fill="white"/>',
           text(left, 22, f"Error ({region}) over time, {device}", 'font-size="14"')]
    for x in ticks(low_x, high_x, True):
        if f"{x:e}"[0] in "125" and f"{x:e}"[2] == "0":
            out += [f'<path d="M{px(x):.1f} {top}V{height - bottom}" stroke="#ddd"/>',
                    text(px(x), height - bottom + 16, f"{x:g}", 'text-anchor="middle"')]
    for y in ticks(0, high_y, False):
        out += [f'<path d="M{left} {py(y):.1f}H{width - right}" stroke="#ddd"/>',
                text(left - 6, py(y) + 4, f"{y:g}", 'text-anchor="end"')]
    for i, (name, points) in enumerate(series):
        colour = COLOURS[i % len(COLOURS)]
        path = " ".join(f"{px(x):.1f},{py(y):.1f}" for x, y in points)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        out += [f'<circle cx="{px(x):.1f}" cy="{py(y):.1f}" r="3" fill="{colour}"/>' for x, y in points]
        out.append(text(width - right + 12, top + 14 + 17 * i, name, f'fill="{colour}"'))
    # Dots are numbered, and named beside the figure.
    for i, (name, x, y) in enumerate(dots + authors):
        hollow = i >= len(dots)
        line = top + 24 + 17 * (len(series) + i) + (10 if hollow else 0)
        look = 'fill="white" stroke="#24292f"' if hollow else 'fill="#24292f"'
        out += [f'<circle cx="{px(x):.1f}" cy="{py(y):.1f}" r="4" {look}/>', text(px(x) + 6, py(y) - 4, i + 1, 'font-size="10"'),
                f'<circle cx="{width - right + 16}" cy="{line - 4}" r="4" {look}/>',
                text(width - right + 26, line, f"{i + 1} {name}" + (", the authors'" if hollow else ""))]
    out += [text((left + width - right) / 2, height - 12, "time per disparity evaluation, ns", 'text-anchor="middle"'),
            text(0, 0, "bad pixels, %",
                 f'text-anchor="middle" transform="translate(18 {(top + height - bottom) / 2:.0f}) rotate(-90)"'), "</svg>"]
    file.write_text("\n".join(out) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stereopsis", default="build/release/bin/stereopsis")
    parser.add_argument("--data", help="the folder middlebury_v2")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--name", help="of the device, in the tables, the figures and their files")
    parser.add_argument("--one-thread", action="store_true")
    parser.add_argument("--again", action="store_true", help="measures times that are there, too")
    parser.add_argument("--draw", action="store_true")
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder for the figures")
    arguments = parser.parse_args()
    results = json.loads(arguments.results.read_text()) if arguments.results.exists() else {"errors": {}, "times": {}}
    if not arguments.draw:
        if arguments.data is None and not all(method in results["errors"] for method in all_methods()):
            parser.error("--data names the folder middlebury_v2, as --results lacks errors of some methods; or --draw what there is")
        name = arguments.name or ("cpu, one thread" if arguments.one_thread else arguments.device.replace(":", ""))
        measure(arguments, results, name)
    table_3(results)
    claims(results)
    for device in results["times"]:
        for region in ("nonocc", "disc"):
            figure_3(results, device, region, arguments.output / f"table-3-{region}-{device.replace(', ', '-').replace(' ', '-')}.svg")


if __name__ == "__main__":
    main()
