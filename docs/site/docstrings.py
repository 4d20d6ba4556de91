"""The package's docstrings, which are for help() first, as reStructuredText: aligned lists become lists of definitions."""

import re

TERM = re.compile(r"^(?P<term>\w[\w, ]*?\w|\w) {2,}(?P<text>\S.*)$")


def plain(line):
    """Stars and bars are themselves; examples stay as they are."""
    if line.lstrip().startswith((">>>", "...")):
        return line
    pieces = re.split(r"(`[^`]+`)", line)
    return "".join(p if p.startswith("`") else re.sub(r"([*|])", r"\\\1", p) for p in pieces)


def process(_app, _what, _name, _object, _options, lines):
    out, in_list = [], False
    for line in map(plain, lines):
        found = TERM.match(line)
        if found:
            out += [""] * (not in_list and bool(out)) + [f"``{found['term']}``", f"    {found['text']}"]
            in_list = True
        elif in_list and line.startswith("   ") and line.strip():
            out.append("    " + line.strip())
        else:
            if in_list and line.strip():
                out.append("")
            in_list = False
            out.append(line)
    lines[:] = out
