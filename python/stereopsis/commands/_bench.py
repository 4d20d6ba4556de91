"""`bench --method onnx:FILE …`: times of networks and programs, and of the library's methods beside them."""

from __future__ import annotations

import argparse
from typing import Any

from .._datasets import average_of_12, evaluate_dataset, folder_of, timed, widest
from .._errors import CallError
from .._matching import Matcher
from .._options import is_external
from .._pipeline import Pipeline
from .._scenes import synth
from ._external import METHOD_HELP, NO_REPORT, SET_HELP, add_matching, cell, check_json, note_failures, print_table, settings_of, write_json

__all__ = ["add_arguments", "extra", "help", "not_here", "run"]

help = "Measure the run time of networks, programs and the library's methods"
extra = "onnx"
not_here = {"--html": NO_REPORT}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--method", action="append", required=True, metavar="METHOD", help=f"{METHOD_HELP}; or a method's name with settings, as sgm:optimisation.paths=8; repeatable")
    add("--set", action="append", default=[], metavar="NAME=VALUE", help=SET_HELP)
    add_matching(add)
    sizes = parser.add_mutually_exclusive_group()
    sizes.add_argument("--size", action="append", metavar="WxHxD", help="Width, height and number of disparities of a generated pair; repeatable [640x480x64]")
    sizes.add_argument("--dataset", metavar="DIR", help="Folder of scenes with a dataset.json; the accuracy is reported as well")
    add("--repeat", type=int, metavar="N", help="Largest number of timed runs after one warm-up run [7, or 3 with --dataset]")
    add("--no-peers", action="store_true", help="Accepted, because other stereo matchers are not run here")
    add("--json", metavar="FILE.json", help="Write all results as JSON")
    add("--quiet", action="store_true", help="Suppress progress")


def run(arguments: argparse.Namespace) -> int:
    check_json(arguments.json)
    settings = settings_of(arguments.set)
    contenders = {text: contender(text, settings) for text in arguments.method}
    how = {"device": arguments.device, "threads": arguments.threads}
    if arguments.dataset:
        return scenes(contenders, how, arguments)
    return sizes(contenders, how, arguments)


def contender(text: str, settings: dict[str, str]) -> Pipeline:
    """Returns the pipeline of METHOD, with the settings of all methods and then its own, after a colon."""
    name, _, own = (text, "", "") if is_external(text) else text.partition(":")
    return Pipeline(name).update({**settings, **settings_of(own.split(",") if own else [])})


def scenes(contenders: dict[str, Pipeline], how: dict[str, Any], arguments: argparse.Namespace) -> int:
    folder, repeat = folder_of(arguments.dataset), 3 if arguments.repeat is None else arguments.repeat
    results = [
        evaluate_dataset(folder, pipeline=pipeline, repeat=repeat, progress=not arguments.quiet, **how) for pipeline in contenders.values()
    ]
    for dataset in results[0]["average"]:
        rows = [[dataset, "device", "ms", "nonocc bad1.0", "all bad1.0", "D1", *(["average of 12"] if dataset == "middlebury_v2" else [])]]
        for name, found in zip(contenders, results, strict=True):
            rows.append([name, found["device"], *scored(dataset, found)])
        print_table(rows, left=(0, 1))
        print()
    failed = [{**one, "name": f"{one['name']} by {found['method']}"} for found in results for one in found["failed"]]
    if arguments.json:
        write_json(arguments.json, {"results": results, "failed": failed})
    return note_failures(failed)


def scored(dataset: str, found: dict[str, Any]) -> list[str]:
    mean = found["average"].get(dataset)
    if mean is None:
        return ["–"] * (5 if dataset == "middlebury_v2" else 4)
    values = [mean["measures"].get(region, {}).get("bad1.0") for region in ("nonocc", "all")]
    twelve = [cell(average_of_12(found["scenes"]), 2)] if dataset == "middlebury_v2" else []
    return [cell(mean["ms"], 1), *(cell(value, 2) for value in values), cell(widest(mean["measures"])["d1"], 2), *twelve]


def sizes(contenders: dict[str, Pipeline], how: dict[str, Any], arguments: argparse.Namespace) -> int:
    rows, results = [["pair", "method", "device", "ms"]], []
    for text in arguments.size or ["640x480x64"]:
        width, height, disparities = workload(text)
        scene = synth("mix", width, height, disparities)
        for name, pipeline in contenders.items():
            with Matcher(pipeline=pipeline, disparities=disparities, warn_of_pair=False, **how) as matcher:
                _, ms = timed(lambda matcher=matcher, scene=scene: matcher(scene.left, scene.right), arguments.repeat or 7)  # type: ignore[misc]
                rows.append([f"{width}×{height}×{disparities}", name, matcher.device, cell(ms, 2)])
                results.append({"method": name, "device": matcher.device, "width": width, "height": height, "disparities": disparities, "ms": ms})
    print_table(rows, left=(0, 1, 2))
    if arguments.json:
        write_json(arguments.json, {"results": results})
    return 0


def workload(text: str) -> tuple[int, int, int]:
    try:
        width, height, disparities = (int(part) for part in text.split("x"))
    except ValueError:
        raise CallError(f"--size {text} is not allowed; it must be WIDTHxHEIGHTxDISPARITIES, such as 1280x960x128") from None
    return width, height, disparities
