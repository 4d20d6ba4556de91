"""`evaluate --dataset DIR --method onnx:FILE`, or another method from outside the library."""

from __future__ import annotations

import argparse
from typing import Any

from .._datasets import evaluate_dataset, folder_of, widest
from ._external import METHOD_HELP, NO_REPORT, SET_HELP, Once, add_matching, cell, check_json, note_failures, print_table, settings_of, write_json

__all__ = ["add_arguments", "extra", "help", "not_here", "run"]

help = "Score a network or a program on a folder of scenes"
extra = "onnx"
not_here = {"--html": NO_REPORT}
HEADER = ("scene", "size", "disp.", "ms", "nonocc bad0.5", "bad1.0", "bad2.0", "bad4.0", "all bad1.0", "disc bad1.0", "D1", "avgerr", "density")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--dataset", required=True, metavar="DIR", help="Folder of scenes: all subfolders with a dataset.json, at any depth")
    add("--method", action=Once, required=True, metavar="METHOD", help=METHOD_HELP)
    add("--set", action="append", default=[], metavar="NAME=VALUE", help=SET_HELP)
    add_matching(add)
    add("--json", metavar="FILE.json", help="Write all measures as JSON")
    add("--quiet", action="store_true", help="Suppress progress")


def run(arguments: argparse.Namespace) -> int:
    check_json(arguments.json)
    found = evaluate_dataset(
        folder_of(arguments.dataset), arguments.method, set=settings_of(arguments.set), device=arguments.device,
        threads=arguments.threads, progress=not arguments.quiet,
    )  # fmt: skip
    if arguments.json:
        write_json(arguments.json, found)
    scenes = [row(f"{one['dataset']}/{one['name']}", one) for one in found["scenes"]]
    means = [row(f"average of {dataset}", one) for dataset, one in found["average"].items()]
    if scenes:
        print_table([HEADER, *scenes, *means], rules=(1, len(scenes) + 1))
        print("ms: median of up to 3 runs after one warm-up run. avgerr: over valid nonocc pixels.")
    if "average_of_12" in found:
        print(f"Middlebury v2, average of the 12: {found['average_of_12']:.2f}")
    return note_failures(found["failed"])


def row(name: str, one: dict[str, Any]) -> list[str]:
    measures = one["measures"]
    nonocc, disc = measures.get("nonocc", {}), measures.get("disc", {})
    all_, wide = measures.get("all", {}), widest(measures)
    size = f"{one['width']}×{one['height']}" if "width" in one else ""
    return [
        name, size, str(one.get("disparities", "")), cell(one["ms"], 1),
        *(cell(nonocc.get(f"bad{t}"), 2) for t in ("0.5", "1.0", "2.0", "4.0")),
        cell(all_.get("bad1.0"), 2), cell(disc.get("bad1.0"), 2), cell(wide["d1"], 2),
        cell((nonocc or wide)["valid"]["avgerr"], 3), cell(wide["density"], 1),
    ]  # fmt: skip
