#!/usr/bin/env python3
"""Checks that the files that contain the project's version number agree with CMakeLists.txt."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILES = {
    "CITATION.cff": r"^version: (.+)$",
    "include/stereopsis/version.h": r'#define STEREOPSIS_VERSION "(.+)"',
    "packages/conda/recipe.yaml": r'^  version: "(.+)"$',
    "packages/vcpkg/vcpkg.json": r'"version": "(.+)"',
    "ros/ros1/package.xml": r"<version>(.+)</version>",
    "ros/ros2/stereopsis_ros/package.xml": r"<version>(.+)</version>",
    "ros/ros2/stereopsis_vendor/package.xml": r"<version>(.+)</version>",
}


def version_in(file: str, pattern: str) -> str:
    found = re.search(pattern, (ROOT / file).read_text(), re.MULTILINE)
    return found[1] if found else "no version"


def main() -> int:
    due = version_in("CMakeLists.txt", r"project\(stereopsis VERSION ([0-9.]+)")
    wrong = {file: version for file, pattern in FILES.items() if (version := version_in(file, pattern)) != due}
    for file, version in wrong.items():
        print(f"{file} has the version {version}; it must be {due}, as in CMakeLists.txt")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
