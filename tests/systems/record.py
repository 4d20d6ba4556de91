#!/usr/bin/env python3
"""Runs a command and records the run for the table of docs/support.md, which docs/systems.py makes.

    tests/systems/record.py NAME [--root FOLDER] [--on SYSTEM] [--compiler COMMAND] [--with LIBRARY] -- COMMAND…

The record is in docs/measured/systems.json: what ran, where, with which compiler, at which commit, when, how it ended, and
how many tests it ran. A run that counts no test is recorded with 0 tests, which the table rejects.
"""

import argparse
import datetime
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RECORDS = ROOT / "docs/measured/systems.json"


def system_of(root):
    """Returns the name of the system in a folder, with the processor."""
    text = (Path(root) / "etc/os-release").read_text()
    name = re.search(r'^PRETTY_NAME="?([^"\n]*)', text, re.MULTILINE).group(1)
    return f"{name}, {os.uname().machine}"


def tests_in(lines):
    """Returns how many tests passed, failed and were skipped, by the lines of tests/summary.awk, GoogleTest and pytest."""
    summary = [re.match(r"(\d+) passed, (\d+) failed, (\d+) skipped", line) for line in lines]
    if any(summary):
        return [sum(int(found.group(i)) for found in summary if found) for i in (1, 2, 3)]
    of_pytest = "\n".join(line for line in lines if re.match(r"\d+ (passed|failed|skipped)\b.* in [\d.]+s", line))
    if of_pytest:
        return [sum(map(int, re.findall(rf"(\d+) {how}\b", of_pytest))) for how in ("passed", "failed", "skipped")]
    patterns = [r"\[  PASSED  \] (\d+) tests?\b", r"\[  FAILED  \] (\d+) tests?, listed", r"\[  SKIPPED \] (\d+) tests?[.,]"]
    return [sum(int(found.group(1)) for line in lines if (found := re.match(pattern, line))) for pattern in patterns]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name")
    parser.add_argument("--root", help="run the command in this folder by chroot, in /root/stereopsis")
    parser.add_argument("--on", help="the system, where it is not the one of the folder or of this machine")
    parser.add_argument("--compiler", default="g++", help="the compiler, whose --version is recorded (default: g++)")
    parser.add_argument("--with", dest="library", help="a library to name beside the compiler, as libc++ 22")
    split = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    options, command = parser.parse_args(sys.argv[1:split]), sys.argv[split + 1 :]
    if not command:
        parser.error("name the command behind --")
    inside = ["chroot", options.root, "sh", "-c", 'cd /root/stereopsis && exec "$@"', "sh"] if options.root else []

    def output_of(*call):
        return subprocess.run(call, capture_output=True, text=True, cwd=ROOT, check=True).stdout.strip()

    sources = Path(options.root) / "root/stereopsis" if options.root else ROOT

    compiler = output_of(*inside, *options.compiler.split(), "--version").splitlines()[0]
    if options.library:
        compiler += f" with {options.library}"
    commit = output_of("git", "-C", sources, "rev-parse", "--short=8", "HEAD")
    if output_of("git", "-C", sources, "status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs"):
        commit += " and changes"
    lines = []
    with subprocess.Popen([*inside, *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          cwd=ROOT) as process:
        for line in process.stdout:
            sys.stdout.write(line)
            sys.stdout.flush()
            lines.append(line.rstrip().replace(f"{sources}/", ""))
    passed, failed, skipped = tests_in(lines)
    about = {
        "system": options.on or system_of(options.root or "/"),
        "compiler": compiler,
        "commit": commit,
        "command": " ".join(command),
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "exit code": process.returncode,
        "tests": f"{passed} passed, {failed} failed, {skipped} skipped",
    }
    records = json.loads(RECORDS.read_text()) | {options.name: about}
    rows = [f"  {json.dumps(name)}: {json.dumps(row, ensure_ascii=False)}" for name, row in sorted(records.items())]
    RECORDS.write_text("{\n" + ",\n".join(rows) + "\n}\n")
    return process.returncode


if __name__ == "__main__":
    sys.exit(main())
