#!/usr/bin/env python3
"""Tests affected.py and reached.cpp with a program of four sources: affected_test.py LIBRARY COMPILER, the library for LD_PRELOAD."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

LIBRARY, COMPILER = Path(sys.argv[1]).resolve(), sys.argv[2]
AFFECTED = Path(__file__).with_name("affected.py")
SOURCES = {
    "main": "int used(int); int unused(int); int main(int n, char**) { return n > 9 ? unused(n) : used(n) - n; }",
    "used": "#include \"shared.hpp\"\nint used(int n) { return same(n); }",
    "commit": "extern const int number; const int number = 1;",
    "unused": "#include \"shared.hpp\"\nint unused(int n) { return same(n) + 1; }",
}


def build(folder, change=""):
    """Compiles the sources, one of which may have changed, and links the program."""
    objects = folder / "CMakeFiles/program"
    for sub in (objects, folder / "bin", folder / "test-results", folder / "reached"):
        sub.mkdir(parents=True, exist_ok=True)
    (folder / "shared.hpp").write_text(f"inline int same(int n) {{ return n + (n == {78 if change == 'shared' else 77}); }}")
    for name, text in SOURCES.items():
        (folder / f"{name}.cpp").write_text(text + ("int more(int n) { return n * 3; }" if change == name else ""))
        subprocess.run([COMPILER, "-c", folder / f"{name}.cpp", "-o", objects / f"{name}.cpp.o"], check=True)
    subprocess.run([COMPILER, *sorted(objects.glob("*.o")), "-o", folder / "bin/program"], check=True)


def run(folder, test, *arguments):
    environment = {"LD_PRELOAD": str(LIBRARY), "STEREOPSIS_REACHED": str(folder / "reached"), "STEREOPSIS_REACHED_BUILD": f"{folder}/",
                   "STEREOPSIS_TEST_NAME": test}  # fmt: skip
    code = subprocess.run([folder / "bin/program", *arguments], env={**os.environ, **environment}).returncode
    case = f'<testcase name="{test}" status="{"run" if code == 0 else "fail"}"/>'
    (folder / "test-results/ctest.xml").write_text(f"<testsuite>{case}</testsuite>")
    subprocess.run([AFFECTED, "note", folder], check=True)


def skipped(folder):
    return subprocess.run([AFFECTED, "skip", folder], capture_output=True, text=True, check=True).stdout.split()


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        build(folder)
        assert skipped(folder) == [], "a test that never ran is not skipped"
        run(folder, "tests.one")
        assert skipped(folder) == ["tests.one"]
        build(folder, "unused")
        assert skipped(folder) == ["tests.one"], "a function that the test did not reach has changed"
        build(folder, "commit")
        assert skipped(folder) == ["tests.one"], "the commit has changed"
        build(folder, "used")
        assert skipped(folder) == [], "a function that the test reached has changed"
        build(folder, "shared")
        assert skipped(folder) == [], "an inline function that the test reached has changed"
        build(folder)
        run(folder, "tests.one", *"abcdefghij")
        assert skipped(folder) == [], "a test that failed is not skipped"


if __name__ == "__main__":
    main()
