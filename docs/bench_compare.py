#!/usr/bin/env python3
"""Compares the run times of two versions on one machine, by turns.

    ./dev bench-compare OLD NEW [--device cpu,cuda:0] [--rounds 7] [--method sgm --method zncc] [--except asw]

OLD and NEW are commits, which are built in build/compare, or built trees (folders with bin/stereopsis). Without Git's history, give two
built trees. In each round, both versions run `stereopsis bench` with all methods that both have; every other round starts with NEW. The
ratio of a method is the median over the rounds of its time in NEW divided by its time in OLD; the spread goes from the lowest to the
highest ratio. Exit code 1 means that a method of NEW is slower by more than --limit percent, and is not in a list --except.

Each call adds its result to docs/measured/speed.json, and draws all of them in docs/images/speed.svg. A call that was interrupted
continues: finished rounds are kept in the folder --work.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from statistics import median

from charts import GREY, INK, OURS, frame, text

ROOT = Path(__file__).resolve().parent.parent


def output_of(*call):
    return subprocess.run([str(part) for part in call], check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT).stdout


def built(version, o):
    """Returns the command of a version: a program, a built tree or a commit, which is built first."""
    for program in (Path(version), Path(version) / "bin/stereopsis"):
        if program.is_file():
            return program.resolve()
    try:
        commit = output_of("git", "rev-parse", "--verify", "--short=8", f"{version}^{{commit}}").strip()
    except (OSError, subprocess.CalledProcessError):
        raise SystemExit(f"bench-compare: '{version}' is neither a commit of this repository nor a folder with bin/stereopsis") from None
    tree = o.work / commit
    if not tree.is_dir():
        output_of("git", "worktree", "add", "--detach", tree, commit)
    output_of("cmake", "--preset", "release", "-Wno-dev", "-S", tree, "-B", tree / "build/release", "-DSTEREOPSIS_TESTS=OFF", *o.cmake)
    output_of("cmake", "--build", tree / "build/release", "--target", "stereopsis_command")
    return tree / "build/release/bin/stereopsis"


def methods_of(command):
    return [method["name"] for method in json.loads(output_of(command, "methods", "--json"))]


def times_of(command, o, methods):
    """Returns the commit, the processor, and the median time of each method on each device."""
    file = o.work / "bench.json"
    call = [command, "bench", "--json", file, "--no-peers", "--no-stream", "--repeat", o.repeat, "--size", o.size]
    if o.threads:
        call += ["--threads", o.threads]
    output_of(*call, *(part for d in o.device for part in ("--device", d)), *(part for m in methods for part in ("--method", m)))
    found = json.loads(file.read_text())
    times = {device: {} for device in o.device}
    for result in found["results"]:
        times[result["device"]][result["method"]] = result["median_ms"]
    return {"commit": found["results"][0]["commit"], "cpu": found["hardware"]["cpu"], "times": times}


def rounds_of(o, commands, methods):
    """Runs the rounds that an earlier call with the same arguments has not run."""
    asked = {"versions": [[str(c), c.stat().st_mtime] for c in commands], "size": o.size, "repeat": o.repeat, "threads": o.threads,
             "devices": o.device, "methods": methods}  # fmt: skip
    kept = o.work / "rounds.json"
    before = json.loads(kept.read_text()) if kept.exists() else {}
    rounds = before["rounds"] if before.get("asked") == asked else []
    while len(rounds) < o.rounds:
        order = (0, 1) if len(rounds) % 2 == 0 else (1, 0)
        pair = {i: times_of(commands[i], o, methods) for i in order}
        rounds.append([pair[0], pair[1]])
        kept.write_text(json.dumps({"asked": asked, "rounds": rounds}))
        print(f"round {len(rounds)} of {o.rounds}", file=sys.stderr)
    return rounds[: o.rounds]


def comparison(o, rounds, descriptions):
    """Returns the ratio, the spread and the times of each method on each device."""
    old, new = rounds[0]
    devices = {}
    for device in o.device:
        methods = devices[device] = {}
        for name in old["times"][device]:
            pairs = [(a["times"][device][name], b["times"][device][name]) for a, b in rounds]
            ratios = [b / a for a, b in pairs]
            methods[name] = {"old_ms": round(median(a for a, _ in pairs), 3), "new_ms": round(median(b for _, b in pairs), 3),
                             "ratio": round(median(ratios), 3), "low": round(min(ratios), 3), "high": round(max(ratios), 3)}  # fmt: skip
    return {"old": old["commit"] or o.old, "new": new["commit"] or o.new, "cpu": old["cpu"],
            "devices": {device: descriptions.get(device, device) for device in o.device},
            "size": o.size, "rounds": len(rounds), "repeat": o.repeat, "threads": o.threads, "methods": devices}  # fmt: skip


def chart(history):
    """Draws a panel for each comparison and device: the ratio and the spread of each method, and a band of 3 %."""
    left, wide, row = 190, 420, 18
    svg, y = [], 0
    for entry in history:
        for device, methods in entry["methods"].items():
            heading = f"{entry['new']} against {entry['old']}, {entry['devices'][device]}, {entry['size']}"
            svg.append(text(12, y + 24, heading, more=' font-weight="bold"'))
            y += 36
            bounds = [value for m in methods.values() for value in (m["low"], m["high"])]
            low, high = min([0.9, *bounds]), max([1.1, *bounds])
            at = lambda ratio, low=low, high=high: left + wide * (ratio - low) / (high - low)
            tall = row * len(methods)
            svg.append(f'<rect x="{at(0.97):.1f}" y="{y}" width="{at(1.03) - at(0.97):.1f}" height="{tall}" fill="{GREY}" opacity="0.5"/>')
            svg.append(f'<path d="M{at(1):.1f} {y}v{tall}" stroke="{INK}"/>')
            for i, (name, m) in enumerate(methods.items()):
                middle = y + row * i + row / 2
                svg.append(text(left - 8, middle + 4, name, anchor="end"))
                svg.append(f'<path d="M{at(m["low"]):.1f} {middle}H{at(m["high"]):.1f}" stroke="{OURS}" stroke-width="2"/>')
                svg.append(f'<circle cx="{at(m["ratio"]):.1f}" cy="{middle}" r="4" fill="{OURS}"/>')
                svg.append(text(left + wide + 12, middle + 4, f"{m['ratio']:.3f}"))
            y += tall + 20
            svg += [text(at(value), y - 4, f"{value:.2f}", anchor="middle") for value in (low, 1, high)]
    svg.append(text(12, y + 20, "time of the new version divided by that of the old one: median (dot) and range of the rounds; grey: ±3 %"))
    return frame(left + wide + 70, y + 36, svg)


def slower(entry, o):
    """Returns sentences about the methods that are slower than allowed."""
    return [f"{name} on {device} takes {100 * (m['ratio'] - 1):.1f} % more time ({m['old_ms']} ms before, {m['new_ms']} ms now)"
            for device, methods in entry["methods"].items() for name, m in methods.items()
            if m["ratio"] > 1 + o.limit / 100 and name not in o.exempt]  # fmt: skip


def options():
    parser = argparse.ArgumentParser(prog="./dev bench-compare", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", metavar="OLD")
    parser.add_argument("new", metavar="NEW")
    parser.add_argument("--device", default="cpu", type=lambda s: s.split(","), help="devices, with commas [cpu]")
    parser.add_argument("--method", action="append", help="a method; repeatable [all that both versions have]")
    parser.add_argument("--except", action="append", default=[], dest="exempt", metavar="METHOD", help="a method that may be slower; repeatable")
    parser.add_argument("--limit", type=float, default=3, metavar="PERCENT", help="largest loss of speed [3]")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--repeat", type=int, default=5, help="timed runs in each round [5]")
    parser.add_argument("--size", default="1280x960x128")
    parser.add_argument("--threads", type=int, help="number of CPU threads [all]")
    parser.add_argument("--cmake", action="append", default=[], metavar="-DOPTION=VALUE", help="an option for the builds of commits; repeatable")
    parser.add_argument("--results", type=Path, default=ROOT / "docs", help="folder of measured/speed.json and images/speed.svg [docs]")
    parser.add_argument("--work", type=Path, default=ROOT / "build/compare", help="folder of builds and finished rounds [build/compare]")
    return parser.parse_args()


def main():
    o = options()
    o.work.mkdir(parents=True, exist_ok=True)
    commands = [built(version, o) for version in (o.old, o.new)]
    both = [name for name in methods_of(commands[0]) if name in methods_of(commands[1])]
    found = {d["name"]: d["description"] for d in json.loads(output_of(commands[1], "devices", "--json"))["devices"]}
    entry = comparison(o, rounds_of(o, commands, o.method or both), found)
    stored, picture = o.results / "measured/speed.json", o.results / "images/speed.svg"
    key = lambda e: (e["old"], e["new"], e["cpu"], e["size"], list(e["devices"].items()))
    history = [e for e in (json.loads(stored.read_text()) if stored.exists() else []) if key(e) != key(entry)] + [entry]
    for file, content in ((stored, json.dumps(history, indent=1, ensure_ascii=False) + "\n"), (picture, chart(history))):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
    for device, methods in entry["methods"].items():
        for name, m in methods.items():
            print(f"{device:8} {name:20} {m['old_ms']:10.3f} ms {m['new_ms']:10.3f} ms   {m['ratio']:.3f} ({m['low']:.3f} to {m['high']:.3f})")
    lost = slower(entry, o)
    print("\n".join(lost) or f"no method takes more than {o.limit:g} % more time")
    sys.exit(bool(lost))


if __name__ == "__main__":
    main()
