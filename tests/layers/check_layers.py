#!/usr/bin/env python3
"""Checks the layers: which folders and public headers may include which, that the planner names no stage, the size of files and
functions, that each test has a namespace of its own, and that Highway is included through one header.

Usage: check_layers.py [--count | --update]. With --count it prints the lines of code of the connecting layers, with --update it
writes the table of layers into CONTRIBUTING.md.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

SRC = Path(__file__).resolve().parents[2] / "src"

# The layers from the highest to the lowest: folders, what they contain, and their public headers. A file may include its own
# folder, folders of lower layers, and public headers of its own and of lower layers. CONTRIBUTING.md has this table.
LAYERS = [
    (("apps", "python"), "the program of the command, the Python package", ("opencv.hpp",)),
    (("command",), "the command as a library: options to runs, results to text", ()),
    (("jobs",), "runs: from the pairs of an input to files of results, for every front end", ("live_queue.hpp", "run.hpp")),
    (("sources",), "the pairs of an input: files, lists, videos; scenes of datasets", ("dataset.hpp", "pair_source.hpp")),
    (("io",), "image, calibration and pipeline files", ("calibration.hpp", "io.hpp", "point_cloud_files.hpp", "seed_files.hpp")),
    (
        ("synth", "evaluation", "geometry"),
        "generated scenes; measures; cameras",
        ("evaluation.hpp", "length.hpp", "obstacles.hpp", "point_cloud.hpp", "pose.hpp", "registration.hpp", "render.hpp",
         "rig_refinement.hpp", "rig_tracking.hpp", "seeds.hpp", "synth.hpp", "triangulation.hpp"),
    ),
    (("c",), "the C interface", ("version.h",)),
    (
        ("api",),
        "`Matcher`, checks of arguments, outputs",
        ("arguments.hpp", "async.hpp", "expected.hpp", "formats.hpp", "in_stripes.hpp", "matcher.hpp", "matcher_group.hpp",
         "partition_plan.hpp", "self_test.hpp", "stages.hpp"),
    ),
    (
        ("sparse",),
        "sparse matches of a pair in two dimensions; the check of a pair and the alignment of rows, which need only these",
        ("pair_check.hpp", "pair_judge.hpp", "rows.hpp"),
    ),
    (("methods", "execution"), "default pipelines; engines that run plans on the CPU and on GPUs", ()),
    (("planning",), "the planner: required input, fused steps, memory", ()),
    (("fused",), "fused kernels, each of which replaces several stages", ()),
    (("stages",), "one folder for each stage", ()),
    (
        ("graph",),
        "values, steps, stage descriptors, builder",
        ("argument_rows.hpp", "constant_regions.hpp", "pipeline.hpp", "rectification.hpp", "rig.hpp", "stripe_maps.hpp",
         "user_stage.hpp"),
    ),
    (
        ("device",),
        "CPU, CUDA, OpenCL",
        ("device.hpp", "device_image.hpp", "resources.hpp", "roofs.hpp", "simd.hpp", "stage_time.hpp", "stream_mark.hpp"),
    ),
    (("core",), "images, text, errors", ("disparity.hpp", "error.hpp", "image.hpp", "mask.hpp", "parameter.hpp", "pixel_format.hpp",
                                         "row_alignment.hpp")),
]
HEIGHT = {folder: height for height, (folders, _, _) in enumerate(reversed(LAYERS)) for folder in folders}
PUBLIC = {header: height for height, (_, _, headers) in enumerate(reversed(LAYERS)) for header in headers}
INCLUDE = SRC.parent / "include/stereopsis"
MARKS = ("<!-- layers: begin -->\n", "<!-- layers: end -->\n")
# The folders of a layer must not include each other; these may not include every folder below them.
NOT_INCLUDED = {
    "sparse": {"methods", "execution", "planning", "fused", "stages", "graph", "device"},
    "planning": {"stages", "fused"},
    "execution": {"stages", "fused"},
    "api": {"stages", "fused"},
    "command": {"stages", "fused", "graph", "planning", "execution", "methods"},
    "jobs": {"stages", "fused", "graph", "planning", "execution", "methods"},
}
CONNECTING = ("graph", "planning", "execution", "methods", "api")
WITHOUT_STAGE_NAMES = ("planning", "execution", "api")
MOST_LINES_OF_FILE, MOST_LINES_OF_FUNCTION, MOST_LINES = 300, 60, 6111

# Stages that still include another stage. The list may only become shorter.
STAGES_THAT_INCLUDE_ANOTHER = {
    ("path_costs", "sgm"),
    ("pyramid", "wta"),
    ("reduce", "upsample"),
    ("sgm", "path_costs"),
}


def without_comments(text: str) -> str:
    pattern = r'("(?:\\.|[^"\\\n])*")|//[^\n]*|/\*.*?\*/'
    return re.sub(pattern, lambda m: m[1] or "", text, flags=re.DOTALL)


def sources(folder: str, tests: bool = False) -> list[Path]:
    found = sorted(p for p in (SRC / folder).rglob("*") if p.suffix in (".cpp", ".hpp", ".cu", ".cuh"))
    return [p for p in found if tests or not (p.stem.endswith("_test") or p.stem.startswith("self_test"))]


def lines_of_code(path: Path) -> int:
    return sum(1 for line in without_comments(path.read_text()).splitlines() if line.strip())


def includes(path: Path) -> list[str]:
    return re.findall(r'#include "([a-z_]+/[^"]+)"', path.read_text())


def height_of(name: str) -> int | None:
    """Returns the height of the layer of an included file, such as core/text.hpp or stereopsis/image.hpp; None if it is in no layer."""
    folder, _, file = name.partition("/")
    return PUBLIC.get(file) if folder == "stereopsis" else HEIGHT.get(folder)


def wrong_includes() -> list[str]:
    problems = []
    for path in sources(""):
        folder = path.relative_to(SRC).parts[0]
        if folder not in HEIGHT:
            continue
        for name in includes(path):
            other = name.split("/")[0]
            height = height_of(name)
            is_below = height is None or height < HEIGHT[folder] or other == folder or (other == "stereopsis" and height == HEIGHT[folder])
            if not is_below or other in NOT_INCLUDED.get(folder, ()):
                problems.append(f"{path.relative_to(SRC)} includes {name}, which is not below {folder}")
    for path in sorted(INCLUDE.iterdir()):
        for name in includes(path):
            if path.name in PUBLIC and (height_of(name) or 0) > PUBLIC[path.name]:
                problems.append(f"include/stereopsis/{path.name} includes {name}, which is of a higher layer")
    return problems


def without_layer() -> list[str]:
    """Folders and public headers that no layer names, and names of layers that do not exist."""
    folders = {p.name for p in SRC.iterdir() if p.is_dir()} | {"apps", "python"}
    headers = {p.name for p in INCLUDE.iterdir()}
    problems = [f"the folder src/{name} is in no layer" for name in sorted(folders - set(HEIGHT))]
    problems += [f"include/stereopsis/{name} is in no layer" for name in sorted(headers - set(PUBLIC))]
    return problems + [f"there is no {name}, which a layer names" for name in sorted((set(HEIGHT) - folders) | (set(PUBLIC) - headers))]


def table() -> str:
    """Returns the table of CONTRIBUTING.md."""
    rows = ["| folder | contents |", "|---|---|"]
    for folders, contents, _ in LAYERS:
        paths = ", ".join(f"`{name}/`" if name in ("apps", "python") else f"`src/{name}/`" for name in folders)
        rows.append(f"| {paths} | {contents} |")
    return "\n".join(rows) + "\n"


def stale_table(update: bool) -> list[str]:
    page = SRC.parent / "CONTRIBUTING.md"
    text = page.read_text()
    before, rest = text.split(MARKS[0])
    found, after = rest.split(MARKS[1])
    if found == table():
        return []
    if not update:
        return ["the table of layers in CONTRIBUTING.md is not that of check_layers.py; call check_layers.py --update"]
    page.write_text(before + MARKS[0] + table() + MARKS[1] + after)
    return []


def direct_uses_of_highway() -> list[str]:
    """Files that include Highway and not device/cpu/highway-inl.hpp, so that they would have wrong results with Highway 0.16."""
    files = [*sources("", tests=True), *sources("../tests", tests=True)]
    pattern = re.compile(r"^#include <hwy/highway.h>", re.MULTILINE)
    return [f"{path.relative_to(SRC.parent)} includes hwy/highway.h; include device/cpu/highway-inl.hpp"
            for path in files if path.name != "highway-inl.hpp" and pattern.search(path.read_text())]


def is_stage(name: str) -> bool:
    return any((SRC / "stages" / name).glob("*_entry.cpp"))


def stages_that_include_another() -> set[tuple[str, str]]:
    found = set()
    for path in sources("stages"):
        own = path.relative_to(SRC / "stages").parts[0]
        for name in includes(path):
            parts = name.split("/")
            if parts[0] == "stages" and parts[1] != own and is_stage(parts[1]) and is_stage(own):
                found.add((own, parts[1]))
    return found


def stage_names() -> set[str]:
    """The names of registered stages, without those that are also names of ports: images and maps."""
    names, ports = set(), set()
    for path in [*sources("stages"), *sources("fused")]:
        text = without_comments(path.read_text())
        names |= set(re.findall(r'\.name = "(\w+)"', text))
        ports |= set(re.findall(r'\b(?:in|out|change|wanted|if_there|scratch)\w*\("(\w+)"', text))
    return names - ports


def named_stages() -> list[str]:
    names = stage_names()
    problems = []
    for folder in WITHOUT_STAGE_NAMES:
        for path in sources(folder):
            for literal in re.findall(r'"(\w+)"', without_comments(path.read_text())):
                if literal in names:
                    problems.append(f"{path.relative_to(SRC)} names the stage {literal}")
    return problems


def long_functions(path: Path) -> list[str]:
    """Functions whose body, from the line of its brace to the closing one, is too long."""
    problems = []
    lines = without_comments(path.read_text()).splitlines()
    stack: list[tuple[int, bool]] = []
    for number, line in enumerate(lines, 1):
        plain = re.sub(r'"(?:\\.|[^"\\])*"|\'.\'', "", line)
        for i, char in enumerate(plain):
            if char == "{":
                head = " ".join(lines[max(0, number - 4) : number])[:2000]
                opens_function = bool(re.search(r"\)\s*(const|noexcept|override|try|final|->\s*[\w:<>,&* ]+|:.*)*\s*\{\s*$", head)) and not re.search(
                    r"\b(namespace|struct|class|enum|switch|if|for|while)\b[^{;]*\{\s*$", plain
                )
                stack.append((number, opens_function))
            elif char == "}" and stack:
                first, is_function = stack.pop()
                if is_function and not any(outer for _, outer in stack) and number - first + 1 > MOST_LINES_OF_FUNCTION:
                    problems.append(f"{path.relative_to(SRC)}:{first} has a function of {number - first + 1} lines")
    return problems


def shared_namespaces() -> list[str]:
    """Tests without a namespace of their own. Several sources are compiled as one, so helpers of equal names would collide."""
    toys = SRC.parent / "tests/toy_stage"
    tests = [path for folder in (SRC, toys) for path in sorted(folder.rglob("*_test.cpp")) if path.stem != "self_test"]
    return [
        f"{path.relative_to(SRC.parent)} is not in the namespace stereopsis::{path.stem}"
        for path in tests
        if not re.search(rf"^namespace stereopsis::{path.stem} {{$", path.read_text(), re.MULTILINE)
    ]


def size_problems() -> list[str]:
    problems = []
    for folder in CONNECTING:
        for path in sources(folder):
            if len(path.read_text().splitlines()) > MOST_LINES_OF_FILE:
                problems.append(f"{path.relative_to(SRC)} has more than {MOST_LINES_OF_FILE} lines")
            problems += long_functions(path)
    total = sum(lines_of_code(path) for folder in CONNECTING for path in sources(folder))
    if total > MOST_LINES:
        problems.append(f"{', '.join(CONNECTING)} have {total} lines of code; at most {MOST_LINES} are allowed")
    return problems


def count() -> None:
    total = 0
    for folder in (*CONNECTING, "stages", "fused"):
        lines = sum(lines_of_code(path) for path in sources(folder))
        total += lines if folder in CONNECTING else 0
        print(f"{folder:10} {lines:6}")
    print(f"{'+'.join(CONNECTING)} {total}")


def main() -> int:
    if sys.argv[1:] == ["--count"]:
        count()
        return 0
    problems = without_layer() + wrong_includes() + stale_table(sys.argv[1:] == ["--update"]) + named_stages() + size_problems() + shared_namespaces() + direct_uses_of_highway()
    found = stages_that_include_another()
    problems += [f"stages/{a} includes the stage {b}" for a, b in sorted(found - STAGES_THAT_INCLUDE_ANOTHER)]
    problems += [f"remove ({a}, {b}) from the list" for a, b in sorted(STAGES_THAT_INCLUDE_ANOTHER - found)]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
