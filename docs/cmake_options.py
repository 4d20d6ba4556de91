"""Writes the table of CMake's options into build-options.md, from the files of CMake. `./dev outputs` calls it; with --check, it only
reports whether the table is current.
"""

import re
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent
PAGE = DOCS / "build-options.md"
FILES = ("CMakeLists.txt", "cmake/StereopsisSimd.cmake", "cmake/StereopsisKernels.cmake", "packages/CMakeLists.txt")
MARKS = ("<!-- options: begin -->\n", "<!-- options: end -->\n")
OPTION = re.compile(
    r'^(?:option\((?P<switch>STEREOPSIS_\w+)\s+"(?P<about_switch>[^"]+)"\s+(?P<state>\S+)\)'
    r'|set\((?P<name>STEREOPSIS_\w+)\s+(?P<default>"[^"]*"|\S+)\s+CACHE\s+(?:STRING|PATH)\s+"(?P<about>[^"]+)")',
    re.MULTILINE,
)
DEFAULTS = {'""': "empty", '"${packager}"': "empty", "${PROJECT_IS_TOP_LEVEL}": "`ON`, or `OFF` in another project"}


def rows():
    for file in FILES:
        text = (DOCS.parent / file).read_text()
        expected = len(re.findall(r"^(?:option\(|set\(STEREOPSIS_.*CACHE (?:STRING|PATH))", text, re.MULTILINE))
        found = list(OPTION.finditer(text))
        if len(found) != expected:
            sys.exit(f"{file} has {expected} options, but this program can read only {len(found)} of them")
        for option in found:
            name, default = option["switch"] or option["name"], option["state"] or option["default"]
            about = re.sub(r"\s+", " ", option["about_switch"] or option["about"])
            yield f"| `{name}` | {DEFAULTS.get(default, f'`{default}`')} | {about} |\n"


def with_table(page):
    before, rest = page.split(MARKS[0])
    table = "| option | default | meaning |\n|---|---|---|\n" + "".join(rows())
    return before + MARKS[0] + table + MARKS[1] + rest.split(MARKS[1])[1]


if __name__ == "__main__":
    before = PAGE.read_text()
    after = with_table(before)
    if "--check" in sys.argv and after != before:
        sys.exit("docs/build-options.md differs from the files of CMake; call ./dev outputs")
    PAGE.write_text(after)
