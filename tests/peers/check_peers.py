#!/usr/bin/env python3
"""Checks that other stereo matchers run only with the settings of src/command/peers.json, and that this table is complete.

Usage: check_peers.py. A program that compares with a matcher must read the table. Programs that show or test the replacement of
cv::StereoSGBM are listed below with a reason.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CALL = re.compile(r"(?<!st\.)\bcv2\.Stereo(?:SGBM|BM)_create|cv::Stereo(?:SGBM|BM)::create|\bElas(?: elas|::parameters)\b|sgm::StereoSGM")
READ_THE_TABLE = {
    "apps/stereopsis/peers_libelas.cpp": "provide_libelas",
    "apps/stereopsis/peers_opencv.cpp": "make_opencv_matcher",
    "docs/peers.py": "peers.json",
    "python/stereopsis/_opencv_peers.py": "peers.json",
    "tests/opencv/compare.cpp": "opencv_setting",
}
WITHOUT_COMPARISON = {
    "docs/from-opencv.md": "shows how to replace a call",
    "examples/opencv_match.cpp": "the example of the replacement",
    "include/stereopsis/opencv.hpp": "names the function that it replaces",
    "python/stereopsis/cv2.py": "names the function that it replaces",
    "tests/opencv/opencv_drop_in_test.cpp": "tests the interface of the replacement",
    "tests/peers/check_peers.py": "this file",
}
SUFFIXES = {".py", ".cpp", ".hpp", ".md", ".ipynb", ".sh", ".c", ".h"}


def callers() -> set[str]:
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files = (ROOT / name for name in listed.splitlines() if Path(name).suffix in SUFFIXES and name != "CHANGELOG.md")
    return {str(file.relative_to(ROOT)) for file in files if file.is_file() and CALL.search(file.read_text(errors="replace"))}


def problems() -> list[str]:
    known = READ_THE_TABLE.keys() | WITHOUT_COMPARISON.keys()
    found = [f"{name} runs another matcher; it must read src/command/peers.json" for name in sorted(callers() - known)]
    found += [f"{name} no longer runs another matcher; remove it from the list" for name in sorted(known - callers())]
    for name, word in READ_THE_TABLE.items():
        if word not in (ROOT / name).read_text():
            found.append(f"{name} does not read src/command/peers.json")
    table = json.loads((ROOT / "src/command/peers.json").read_text())
    for peer in ("BM", "3WAY", "SGBM", "HH4", "HH"):
        named = table["StereoBM" if peer == "BM" else "StereoSGBM"]["candidates"]
        for name in table["sets"]:
            setting = table["chosen"].get(peer, {}).get(name, {})
            if "bad1.0" not in setting or any(setting.get(key) not in values for key, values in named.items()):
                found.append(f"peers.json has no measured setting of {peer} for {name}; call docs/peers.py choose")
    return found


def main() -> int:
    if not (ROOT / ".git").exists():
        print("ok: not a checkout, so there is no list of the files")
        return 0
    found = problems()
    print("\n".join(found) or "ok")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
