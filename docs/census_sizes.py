#!/usr/bin/env python3
"""The experiment of Reis and Souza 2017: the census transform, and the whole method, by image size and device.

    docs/census_sizes.py [--stereopsis build/release/bin/stereopsis] [--device cpu --device cuda:0] [--disparities 128]
                         [--svg docs/notes/images/census-sizes.svg] [--json FILE]

Prints a table in Markdown and draws it. The CPU is measured on one core, too. Times are the medians of `stereopsis bench`;
the census is its stage "census", the transform of both views, without transfers.
"""
import argparse
import json
import math

from harness import bench

SIZES = [128, 256, 384, 512, 640, 768, 800, 1024, 2048, 4096]
COLOURS = ["#1b6ca8", "#c8553d", "#3a7d44", "#7b4fa3", "#b8860b", "#555555"]


def measure(command, device, threads, size, disparities):
    count = ["--threads", threads] if threads else []
    result = bench(command, "--no-peers", "--device", device, "--size", f"{size}x{size}x{disparities}", "--repeat", 3 if size > 1024 else 9, *count,
                   methods=["census-guided"])["results"][0]
    census = sum(stage["ms"] for stage in result["stages"] if stage["name"] == "census")
    transfers = sum(stage["ms"] for stage in result["stages"] if stage["name"] in ("upload", "download"))
    return {"size": size, "census_ms": census, "whole_ms": result["median_ms"], "transfer_ms": transfers}


def table(rows, key):
    lines = ["| pixels | " + " | ".join(rows) + " |", "|---" * (len(rows) + 1) + "|"]
    for i, size in enumerate(SIZES):
        cells = [f"{series[i][key]:.3g}" if i < len(series) else "" for series in rows.values()]
        lines.append(f"| {size}×{size} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def plot(rows):
    """Time over the side of the image, both logarithmic: the census dashed, the whole method drawn through."""
    width, height, left, bottom, right, top = 760, 460, 70, 50, 200, 20
    values = [row[key] for series in rows.values() for row in series for key in ("census_ms", "whole_ms") if row[key] > 0]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))

    def x(size):
        return left + (math.log2(size) - 7) / 5 * (width - left - right)

    def y(ms):
        return height - bottom - (math.log10(ms) - low) / (high - low) * (height - bottom - top)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="12">',
           '<rect width="100%" height="100%" fill="white"/>']
    for power in range(low, high + 1):
        out.append(f'<path d="M{left} {y(10 ** power):.1f}H{width - right}" stroke="#ddd"/>'
                   f'<text x="{left - 8}" y="{y(10 ** power) + 4:.1f}" text-anchor="end">{10.0 ** power:g} ms</text>')
    for size in (128, 256, 512, 1024, 2048, 4096):
        out.append(f'<path d="M{x(size):.1f} {top}V{height - bottom}" stroke="#eee"/>'
                   f'<text x="{x(size):.1f}" y="{height - bottom + 18}" text-anchor="middle">{size}²</text>')
    if low <= math.log10(500) <= high:
        out.append(f'<path d="M{left} {y(500):.1f}H{width - right}" stroke="#000" stroke-dasharray="2 3"/>'
                   f'<text x="{left + 4}" y="{y(500) - 4:.1f}">0.5 s, the aim of the paper</text>')
    for (name, series), colour in zip(rows.items(), COLOURS):
        for key, dash in (("whole_ms", ""), ("census_ms", ' stroke-dasharray="5 4"')):
            points = " ".join(f"{x(row['size']):.1f},{y(row[key]):.1f}" for row in series if row[key] > 0)
            out.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.6"{dash}/>')
            if points:
                what = "whole" if key == "whole_ms" else "census"
                out.append(f'<text x="{width - right + 6}" y="{float(points.split(",")[-1]) + 4:.1f}" fill="{colour}">{name}, {what}</text>')
    return "\n".join(out + ["</svg>"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stereopsis", default="build/release/bin/stereopsis")
    parser.add_argument("--device", action="append")
    parser.add_argument("--disparities", type=int, default=128)
    parser.add_argument("--largest", type=int, default=4096, help="largest side on the CPU")
    parser.add_argument("--svg", default="docs/notes/images/census-sizes.svg")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    rows = {}
    for device in arguments.device or ["cpu"]:
        for name, threads in (("one core", 1), ("all cores", 0)) if device == "cpu" else ((device, 0),):
            sizes = [size for size in SIZES if device != "cpu" or size <= arguments.largest]
            rows[name] = [measure(arguments.stereopsis, device, threads, size, arguments.disparities) for size in sizes]
    print("Census transform of both views, ms:\n\n" + table(rows, "census_ms"))
    print(f"\nWhole method, {arguments.disparities} disparities, without transfers, ms:\n\n" + table(rows, "whole_ms"))
    with open(arguments.svg, "w") as file:
        file.write(plot(rows))
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
