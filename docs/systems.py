#!/usr/bin/env python3
"""Writes the table of systems in docs/support.md from the records of tests/systems/record.py.

    python3 docs/systems.py [--check]

A record of a run that failed, or that counted no test, is an error: the table shows what worked. With --check, the page
stays as it is, and the script fails if the page has another table.
"""

import json
import re
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent
PAGE = DOCS / "support.md"
RECORDS = DOCS / "measured/systems.json"
BEGIN, END = "<!-- made by docs/systems.py from docs/measured/systems.json -->\n", "<!-- end -->\n"
COLUMNS = ["system", "compiler", "commit", "command", "exit code", "tests", "date"]


def row_of(name, about):
    """Returns the cells of a record."""
    record = f"the record {name} of {RECORDS}"
    if missing := [column for column in COLUMNS if column not in about]:
        sys.exit(f"{record} has no '{missing[0]}'; make the record again by tests/systems/record.py")
    about = {column: str(value) for column, value in about.items()}
    if about["exit code"] != "0" or not re.match(r"[1-9]\d* passed, 0 failed,", about["tests"]):
        sys.exit(f"{record} has exit code {about['exit code']} and {about['tests']}; the code must be 0, with tests that "
                 "passed and none that failed; mend it and record the run again, or remove the record")
    about["command"] = f"`{about['command']}`"
    # The records have the code name of the system, and the version of the compiler's package.
    about["system"] = re.sub(r"GNU/Linux ([\w/]+)( \(\w+\))?", r"\1", about["system"])
    about["compiler"] = re.sub(r"^Debian | version| \((Debian [^)]*|\d+)\)", "", about["compiler"])
    return [about[column].replace("|", "\\|") for column in COLUMNS]


def table():
    rows = [COLUMNS] + [row_of(*record) for record in sorted(json.loads(RECORDS.read_text()).items())]
    lines = [f"|{'|'.join(row)}|\n" for row in rows]
    return "".join([lines[0], f"{'|---' * len(COLUMNS)}|\n", *lines[1:]])


def main():
    page = PAGE.read_text()
    if BEGIN not in page or END not in page:
        sys.exit(f"{PAGE} has no lines '{BEGIN.strip()}' and '{END.strip()}', between which the table belongs; add them")
    before, rest = page.split(BEGIN, 1)
    made = before + BEGIN + "\n" + table() + "\n" + END + rest.split(END, 1)[1]
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(made)
    elif made != page:
        sys.exit(f"the table in {PAGE} is not the one of the records; run python3 docs/systems.py")


if __name__ == "__main__":
    main()
