"""CHANGELOG.md as Debian has it: changelog.py FILE VERSION MAINTAINER OUT.gz. The newest entry must be VERSION's."""

import datetime
import gzip
import pathlib
import re
import sys
import textwrap


def entries(text: str) -> list[tuple[str, str, list[str]]]:
    """Version, day, and what is said, of each heading `## 0.1.0 (2026-11-23)`."""
    parts = re.split(r"^## (\S+) \((\d{4}-\d\d-\d\d)\)$", text, flags=re.MULTILINE)[1:]
    return [(version, day, re.findall(r"^- (.*(?:\n  .*)*)", said, flags=re.MULTILINE))
            for version, day, said in zip(parts[::3], parts[1::3], parts[2::3], strict=True)]


def debian(version: str, day: str, said: list[str], maintainer: str) -> str:
    when = datetime.datetime.strptime(day, "%Y-%m-%d").strftime("%a, %d %b %Y 12:00:00 +0000")
    lines = [f"stereopsis ({version}) stable; urgency=medium", ""]
    for point in said:
        lines += textwrap.wrap(" ".join(point.split()).replace("`", "'"), 79, initial_indent="  * ", subsequent_indent="    ")
    return "\n".join([*lines, "", f" -- {maintainer}  {when}", ""])


def main(file: str, version: str, maintainer: str, out: str) -> None:
    found = entries(pathlib.Path(file).read_text())
    if not found or found[0][0] != version:
        sys.exit(f"changelog: the newest entry of {file} must be '## {version} (YYYY-MM-DD)'; it is {found[0][0] if found else 'not there'}")
    text = "\n".join(debian(*entry, maintainer) for entry in found)
    pathlib.Path(out).write_bytes(gzip.compress(text.encode(), 9, mtime=0))


if __name__ == "__main__":
    main(*sys.argv[1:])
