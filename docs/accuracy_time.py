"""Draws accuracy against time from docs/measured: a dot per method and peer; further left is faster, further down is more accurate."""

import json
import math
from html import escape
from pathlib import Path

from harness import MEASURED, title

WIDTH, HEIGHT = 860, 520
LEFT, RIGHT, TOP, BOTTOM = 70, 30, 50, 60
OURS, PEER, INK, GRID, NAME, PAPER = "#0b62c4", "#8a8f98", "#24292f", "#e4e7eb", "#57606a", "#ffffff"
COLOURS = {OURS: "ours", PEER: "peer", INK: "ink", GRID: "grid", NAME: "name", PAPER: "paper"}
TITLE = "Accuracy and time; below and to the left is better"
CHARACTER, LINE = 7.2, 15  # size of a label at 12 px; too wide is better than too narrow
README_METHODS = ("sgm", "balanced", "sgm-learned", "banz-sgm", "zncc", "census-guided")


def dots(file):
    """Returns (milliseconds, percent of bad pixels, whether it is ours) of each program of a file of times.

    The errors are those of the file itself, if it has some, else those of errors.json.
    """
    times = json.loads(Path(file).read_text())
    errors = times["methods"] if "methods" in times else json.loads((MEASURED / "errors.json").read_text())["methods"]
    return {title(name): (ms, errors[name]["bad1.0"], not errors[name]["peer"]) for name, ms in times["ms"].items() if name in errors}


def log_ticks(low, high):
    """1, 2 and 5 times the powers of ten in between."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [t for p in powers for t in (10.0**p, 2 * 10.0**p, 5 * 10.0**p) if low <= t <= high]


def linear_step(high):
    return next(s for p in range(-2, 3) for s in (10.0**p, 2 * 10.0**p, 5 * 10.0**p) if high / s <= 8)


def overlaps(a, b):
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def place(points):
    """Returns the box of the label of each (x, y, text): the first free place around its dot."""
    taken = [(x - 7, y - 7, x + 7, y + 7) for x, y, _ in points]
    boxes = []
    for x, y, text in points:
        w = CHARACTER * len(text)
        around = [(dx, dy) for far in range(12, 200, 8)
                  for dx, dy in ((far, -8), (-far - w, -8), (-w / 2, -far - LINE), (-w / 2, far),
                                 (far, -far - 8), (far, far - 8), (-far - w, -far - 8), (-far - w, far - 8))]
        for dx, dy in around:
            box = (x + dx, y + dy, x + dx + w, y + dy + LINE)
            inside = box[0] > LEFT and box[2] < WIDTH - 4 and box[1] > TOP and box[3] < HEIGHT - BOTTOM
            if inside and not any(overlaps(box, other) for other in taken):
                break
        taken.append(box)
        boxes.append(box)
    return boxes


def draw(found):
    """Returns the chart in the colours of a page of the site, by classes of its style sheet."""
    svg = draw_plain(found, TITLE)
    for colour, name in COLOURS.items():
        svg = svg.replace(f'fill="{colour}"', f'class="fill-{name}"').replace(f'stroke="{colour}"', f'class="line-{name}"')
    best = ", ".join(f"{label}: {ms:g} ms, {bad:g} %" for label, (ms, bad, _) in sorted(found.items(), key=lambda f: f[1][0]))
    about = f'role="img" aria-label="{escape(TITLE + ". " + best, quote=True)}"'
    return svg.replace(f' width="{WIDTH}" height="{HEIGHT}" font-family="Helvetica, Arial, sans-serif"', f" {about}", 1)


def two_charts():
    """Returns the README's picture: a CPU beside OpenCV and libelas, and a GPU beside neural networks."""
    cpu = {label: dot for label, dot in dots(MEASURED / "times-cpu.json").items() if not dot[2] or label in README_METHODS}
    charts = [draw_plain(cpu, "CPU, two threads; open datasets"),
              draw_plain(dots(MEASURED / "networks.json"), "GPU; Middlebury 2014, networks as published")]
    parts = [f'<svg x="{i * WIDTH}" width="{WIDTH}" height="{HEIGHT}" ' + svg.partition("<svg ")[2].replace(
        f'width="{WIDTH}" height="{HEIGHT}" ', "", 1) for i, svg in enumerate(charts)]
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * WIDTH} {HEIGHT}" width="{2 * WIDTH}" height="{HEIGHT}">\n'
            + "".join(parts) + "</svg>\n")


def draw_plain(found, heading):
    low, high = min(d[0] for d in found.values()) / 1.5, max(d[0] for d in found.values()) * 1.8
    step = linear_step(max(d[1] for d in found.values()) * 1.1)
    top = step * math.ceil(max(d[1] for d in found.values()) * 1.05 / step)

    def x_of(ms):
        return LEFT + (WIDTH - LEFT - RIGHT) * math.log(ms / low) / math.log(high / low)

    def y_of(bad):
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * bad / top

    def text(x, y, string, colour=INK, anchor="middle", more=""):
        return f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}"{more}>{escape(string)}</text>'

    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
           ' font-family="Helvetica, Arial, sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{PAPER}"/>']
    for tick in log_ticks(low, high):
        x = x_of(tick)
        svg += [f'<path d="M{x:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="{GRID}"/>',
                text(x, HEIGHT - BOTTOM + 18, f"{tick:g}")]
    for i in range(round(top / step) + 1):
        y = y_of(i * step)
        svg += [f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="{GRID}"/>',
                text(LEFT - 8, y + 4, f"{i * step:g}", anchor="end")]
    svg += [f'<path d="M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}" fill="none" stroke="{INK}"/>',
            text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 18, "milliseconds at 1280×960, 128 disparities"),
            text(0, 0, "bad 1.0, % of non-occluded pixels",
                 more=f' transform="translate(22 {(TOP + HEIGHT - BOTTOM) / 2:.0f}) rotate(-90)"'),
            text(LEFT, 28, heading, anchor="start",
                 more=' font-size="15" font-weight="bold"')]
    points = [(x_of(ms), y_of(bad), label) for label, (ms, bad, _) in found.items()]
    for (x, y, label), box in zip(points, place(points)):
        ours = found[label][2]
        nearest = min(max(x, box[0]), box[2]), min(max(y, box[1]), box[3])
        if math.dist((x, y), nearest) > 16:
            svg.append(f'<path d="M{x:.1f} {y:.1f}L{nearest[0]:.1f} {nearest[1]:.1f}" stroke="{PEER}"/>')
        at, anchor = ((box[0], "start") if box[0] > x else (box[2], "end") if box[2] < x else
                      ((box[0] + box[2]) / 2, "middle"))
        ms, bad, _ = found[label]
        tip = f"<title>{escape(label)}: {ms:g} ms, {bad:g} %</title>"
        svg += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5.5" fill="{OURS if ours else PEER}">{tip}</circle>',
                text(at, box[3] - 4, label, OURS if ours else NAME, anchor, ' font-weight="bold"' if ours else "")]
    return "\n".join(svg + ["</svg>", ""])

