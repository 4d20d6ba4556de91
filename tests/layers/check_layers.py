#!/usr/bin/env python3
"""Checks the layers of src/: which folders may include which, that the planner names no stage, the size of files and functions, that
each test has a namespace of its own, and that Highway is included through one header.

Usage: check_layers.py [--count]. With --count it prints the lines of code of the connecting layers.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

SRC = Path(__file__).resolve().parents[2] / "src"

# A folder may include itself and the folders behind it.
LAYERS = {
    "core": [],
    "device": ["core"],
    "graph": ["device", "core"],
    "stages": ["graph", "device", "core"],
    "fused": ["stages", "graph", "device", "core"],
    "planning": ["graph", "device", "core"],
    "execution": ["planning", "graph", "device", "core"],
    "methods": ["stages", "graph", "device", "core"],
    "sparse": ["core"],
    "api": ["sparse", "methods", "execution", "planning", "graph", "device", "core"],
    "jobs": ["sources", "io", "synth", "evaluation", "geometry", "api", "device", "core"],
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


def wrong_includes() -> list[str]:
    problems = []
    for folder, below in LAYERS.items():
        for path in sources(folder):
            for name in includes(path):
                layer = name.split("/")[0]
                if layer in LAYERS and layer != folder and layer not in below:
                    problems.append(f"{path.relative_to(SRC)} includes {name}, which is not below {folder}")
    for folder in LAYERS["jobs"]:
        for path in sources(folder):
            problems += [f"{path.relative_to(SRC)} includes {name}" for name in includes(path) if name.startswith("jobs/")]
    return problems


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
    for folder in (*CONNECTING, "jobs"):
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
    problems = wrong_includes() + named_stages() + size_problems() + shared_namespaces() + direct_uses_of_highway()
    found = stages_that_include_another()
    problems += [f"stages/{a} includes the stage {b}" for a, b in sorted(found - STAGES_THAT_INCLUDE_ANOTHER)]
    problems += [f"remove ({a}, {b}) from the list" for a, b in sorted(STAGES_THAT_INCLUDE_ANOTHER - found)]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
