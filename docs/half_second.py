#!/usr/bin/env python3
"""Reis and Souza's aim, "under 0.5 s": the largest picture that each method matches in that time, on each device.

    docs/half_second.py [--stereopsis build/release/bin/stereopsis] [--device cpu --device cuda:0] [--disparities 128]
                        [--json FILE]

Prints a table in Markdown: the width and height of the largest pictures of 4:3, in steps of 32 pixels, whose shortest run is within
0.5 s, and the milliseconds that it takes. --one-thread takes the processor's time of one thread, for busy machines. With --json, what the
file has of other devices stays, and is printed beside.
"""
import argparse
import json
import subprocess
from pathlib import Path

from frame_time import bench, frame_ms

LIMIT, STEP, LARGEST = 500.0, 32, 16384
METHODS = ["census-guided", "sgm", "sgm-learned", "sgm-learned-fast", "banz-sgm", "ad-census", "prehn-window", "prehn-pyramid", "zncc", "costfilter", "esaw", "asw",
           "asw-separable", "realtime-dp", "realtime-bp", "segment-support"]
CENSUS = "census alone"  # the stage "census" of census-guided, for both views


def milliseconds(arguments, device, method, width):
    size = (width, width * 3 // 4, arguments.disparities)
    if method == CENSUS:  # its time does not depend on the disparities
        run = bench(arguments.stereopsis, "census-guided", (*size[:2], 1), device, "--repeat", "3",
                    *(["--threads", "1"] if arguments.one_thread else []))
        return sum(stage["ms"] for stage in run["stages"] if stage["name"] == "census")
    return frame_ms(arguments.stereopsis, method, size, device, arguments.one_thread, repeat=2, pairs=1)


def largest(arguments, device, method):
    """Finds the width by trials: the next one is where the time, growing with the pixels, would reach the limit; halfway if memory ends first."""
    best, above, width, bound = (0, 0.0), LARGEST + STEP, 320 if device == "cpu" else 2048, "size"
    for _ in range(12):
        try:
            ms = milliseconds(arguments, device, method, width)
            guess = int(width * (LIMIT / ms) ** 0.5)
        except subprocess.CalledProcessError:  # no memory for it
            ms = guess = float("inf")
        if ms <= LIMIT:
            best = (width, ms)
        else:
            above, bound = width, "time" if ms < float("inf") else "memory"
        if above - best[0] <= STEP:
            break
        if guess >= above and above <= LARGEST:
            guess = (best[0] + above) // 2
        width = max(best[0] + STEP, min(guess // STEP * STEP, above - STEP))
    return (*best, bound) if best[0] else None


def cell(found):
    if not found:
        return "–"
    width, ms, bound = found
    return f"{width}×{width * 3 // 4}, {ms:.0f} ms" + {"time": "", "size": " (largest tried)", "memory": " (memory)"}[bound]


def table(found):
    devices = list(found)
    lines = ["| method | " + " | ".join(devices) + " |", "|---" * (len(devices) + 1) + "|"]
    for method in [CENSUS] + METHODS:
        lines.append(f"| {method} | " + " | ".join(cell(found[d].get(method)) for d in devices) + " |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stereopsis", default="build/release/bin/stereopsis")
    parser.add_argument("--device", action="append")
    parser.add_argument("--disparities", type=int, default=128)
    parser.add_argument("--method", action="append", help="these alone; repeatable")
    parser.add_argument("--one-thread", action="store_true")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    found = json.loads(arguments.json.read_text()) if arguments.json and arguments.json.exists() else {}
    for device in ["cpu"] if arguments.one_thread else arguments.device or ["cpu"]:
        name = "cpu, one thread" if arguments.one_thread else device
        for method in arguments.method or [CENSUS] + METHODS:
            found.setdefault(name, {})[method] = largest(arguments, device, method)
            if arguments.json:
                arguments.json.write_text(json.dumps(found, indent=1) + "\n")
    print(table(found))


if __name__ == "__main__":
    main()
