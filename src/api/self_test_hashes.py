#!/usr/bin/env python3
"""Writes the hashes of a report of `stereopsis conformance --implementation oracle` into self_test_hashes.inc; ./dev hashes calls it."""

import json
import pathlib
import sys

cases = {case["name"]: case["hash"] for run in json.load(open(sys.argv[1]))["runs"] for case in run["cases"]}
failed = [name for name, value in cases.items() if not value]
if failed:
    sys.exit(f"these cases have no result: {', '.join(failed)}")
rows = "".join(f'{{"{value}", "{name}"}},\n' for name, value in sorted(cases.items()))
pathlib.Path(__file__).with_name("self_test_hashes.inc").write_text(rows)
