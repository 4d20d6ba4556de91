"""Writes programs of examples/ into the pages that show them, so that readers of the repository see the code, too. The block behind
`<!-- example: FILE -->` is that file, or its part between the lines "// begin" and "// end". `./dev outputs` calls it.
"""

import re
import textwrap
from pathlib import Path

DOCS = Path(__file__).resolve().parent
BLOCK = re.compile(r"(<!-- example: (\S+) -->\n```cpp\n)(.*?)(?=```\n)", re.DOTALL)


def code_of(file):
    text = (DOCS.parent / "examples" / file).read_text()
    if "// begin\n" in text:
        text = textwrap.dedent(text.partition("// begin\n")[2].rpartition("\n")[0].partition("  // end")[0]).rstrip() + "\n"
    return text


def with_examples(page):
    """Returns a page with the code that its examples have now."""
    return BLOCK.sub(lambda found: found[1] + code_of(found[2]), page)


if __name__ == "__main__":
    for file in sorted(DOCS.rglob("*.md")):
        before = file.read_text()
        if (after := with_examples(before)) != before:
            file.write_text(after)
