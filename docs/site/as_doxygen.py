#!/usr/bin/env python3
"""Doxygen's input filter: a header's plain comments become doxygen's, line for line.

A comment above a declaration is its own; at the end of a line it is that of all that the line declares; the first one of a
file is the file's. Functions that follow one another without a line between share the comment above them, as a reader has it.
"""

import re
import sys

TRAILING = re.compile(r"^(?P<code>\s*\S.*?[;,{}\w>)])\s{2,}// (?P<text>.*)$")
SEVERAL = re.compile(r"^(?P<indent>\s*)(?P<type>[\w:<>(), &]*?[\w>]) (?P<names>\w+(?: = [^,;(){]+|\{\}| = \{\})?(?:, \w+(?: = [^,;(){]+|\{\}| = \{\})?)+);$")
FUNCTION = re.compile(r"^[^=]*\w\(.*")
SPECIAL = re.compile(r"operator|= (default|delete);|^\s*(explicit )?~|&&\) noexcept")


def declared(code, text):
    """The line's declarations, each with the text."""
    found = SEVERAL.match(code)
    if not found:
        return f"{code}  ///< {text}" if text else code
    names = found["names"].split(", ")
    about = f" /**< {text} */" if text else ""
    return found["indent"] + " ".join(f"{found['type']} {name};{about}" for name in names)


def convert(text):
    above, depth, inside, begun, told = [], 0, False, False, False  # told: the comment is there, above a template's head
    for number, line in enumerate(text.splitlines()):
        stripped = line.strip()
        if stripped.startswith("//"):
            above = above if inside else []
            inside = True
            above.append(line.replace("//", "///", 1))
            yield ("/// \\file\n" if not begun and number == 0 else "") + above[-1]
            begun = True
            continue
        if inside and not stripped:
            above = []
        shares = above and not inside and FUNCTION.match(line) and not SPECIAL.search(line) and depth_of(line) <= depth
        comment = above
        if above and not inside and stripped.startswith("template <") and depth_of(line) <= depth:
            yield "\n".join([*above, line])
            told = True
            continue
        if inside:
            depth = depth_of(line)
            if not FUNCTION.match(line) and not stripped.startswith("template <"):
                above = []
        inside = False
        if not stripped:
            above = []
        if several := above_several(comment, line):
            yield several
            continue
        found = TRAILING.match(line)
        if found and re.match(r"\s*(struct|class|enum)\b", line) and found["code"].endswith("{"):
            yield " " * depth_of(line) + "/** " + found["text"] + " */ " + found["code"].strip()
            continue
        if shares and not found and not told:
            yield "\n".join(above)
        told = False
        yield declared(found["code"] if found else line, found["text"] if found else "")


def above_several(comment, line):
    """The first of several declarations has the comment above; the others get it, too."""
    found = SEVERAL.match(line)
    if not comment or not found:
        return None
    text = " ".join(c.strip().removeprefix("///").strip() for c in comment)
    first, *others = found["names"].split(", ")
    return found["indent"] + f"{found['type']} {first}; " + " ".join(f"/** {text} */ {found['type']} {name};" for name in others)


def depth_of(line):
    return len(line) - len(line.lstrip())


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as header:
        print("\n".join(convert(header.read())))
