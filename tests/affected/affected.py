#!/usr/bin/env python3
"""Finds the tests whose result cannot have changed since they passed.

    affected.py skip BUILD [GROUPS]   prints the names of these tests, of all groups or of those as stages|c
    affected.py note BUILD            notes what the tests that passed in the last run of ctest depend on

A test of GoogleTest depends on the object files whose functions it and the programs that it started reached (reached.cpp notes them), on all
object files that have data for others, on all object files of a library of the build that it loaded, on the files of the sources that are not
compiled, and on the machine. Many object files have an inline function: the test depends on one of them, since a change of the header changes
all of them. Every other test runs each time.
"""

import glob
import hashlib
import json
import os
import re
import struct
import subprocess
import sys
import xml.etree.ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
READ = ("CMakeLists.txt", "CMakePresets.json", "apps/", "cmake/", "examples/", "include/", "src/", "tests/")  # other files are not read by tests
COMPILED = (".cpp", ".hpp", ".h", ".cu", ".cuh")  # the object files tell whether these have changed
FUNCTION, DATA, NO_SECTION, GLOBAL, WEAK = 2, 1, 0, 1, 2


def symbols(file):
    """Yields the defined symbols of an ELF file: name, type, binding, address."""
    data = file.read_bytes()
    (start,), (size, count) = struct.unpack_from("<Q", data, 0x28), struct.unpack_from("<HH", data, 0x3A)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, start + i * size) for i in range(count)]
    for section in sections:
        if section[1] != 2:  # SHT_SYMTAB
            continue
        names = sections[section[6]][4]
        for name, info, _, where, value, length in struct.iter_unpack("<IBBHQQ", data[section[4] : section[4] + section[5]]):
            if where != NO_SECTION and length > 0:
                at = names + name
                yield data[at : data.index(b"\0", at)], info & 15, info >> 4, value


class Build:
    """The object files of a build, and the notes about its tests."""

    def __init__(self, folder):
        self.folder = Path(folder).resolve()
        self.reached = self.folder / "reached"
        self.file = self.reached / "tests.json"
        # The name of the commit, which no test checks, would affect all tests.
        objects = [o for o in sorted(self.folder.rglob("*.o")) if "CMakeFiles" in o.parts and o.name != "commit.cpp.o"]
        self.digests = {str(o.relative_to(self.folder)): self._digest(o) for o in objects}
        self.rest = self._rest()

    @staticmethod
    def _digest(file):
        return hashlib.blake2b(file.read_bytes(), digest_size=16).hexdigest()

    def _rest(self):
        """Returns the digest of the machine, and of the files of the sources that are not compiled."""
        listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        parts = [os.environ.get("STEREOPSIS_DATA", ""), *sorted(glob.glob("/etc/OpenCL/vendors/*") + glob.glob("/dev/nvidia*"))]
        parts += [self._digest(file) for file in [Path("/var/lib/dpkg/status")] if file.exists()]  # packages, with their libraries
        parts += re.findall(r"^(?:flags|Features)\s*:.*", Path("/proc/cpuinfo").read_text(), re.MULTILINE)[:1]
        for name in sorted(listed.splitlines()):
            if name.startswith(READ) and not name.endswith(COMPILED) and (ROOT / name).is_file():
                parts += [name, self._digest(ROOT / name)]
        return hashlib.blake2b("\n".join(parts).encode()).hexdigest()

    def state_of(self, objects):
        """Returns a digest of object files, of the machine and of the other sources."""
        return hashlib.blake2b("\n".join([self.rest, *(f"{o} {self.digests.get(o)}" for o in sorted(objects))]).encode()).hexdigest()

    def known(self):
        """Returns the notes: for each test that passed, its object files and their state."""
        return json.loads(self.file.read_text()) if self.file.exists() else {}

    def unaffected(self):
        return sorted(name for name, (objects, state) in self.known().items() if self.state_of(objects) == state)

    def note(self):
        """Adds the tests that passed in the last run, and forgets those that failed."""
        holders, inline, always = {}, {}, set()
        for name in self.digests:
            found = list(symbols(self.folder / name))
            if not any(kind == FUNCTION for _, kind, _, _ in found) or any(kind == DATA and binding == GLOBAL for _, kind, binding, _ in found):
                always.add(name)
            for symbol, kind, binding, _ in found:
                if kind == FUNCTION:
                    (inline if binding == WEAK else holders).setdefault(symbol, set()).add(name)
        tables, notes = {}, self.known()
        for case in xml.etree.ElementTree.parse(self.folder / "test-results/ctest.xml").iter("testcase"):
            name = case.get("name")
            notes.pop(name, None)
            files = list((self.reached / name).glob("*"))
            for file in files:
                if file.name not in tables:
                    tables[file.name] = self._functions(file if file.is_symlink() else self.folder / "bin" / file.name, holders, inline)
            reached = {file.name: [1] * len(tables[file.name]) if file.is_symlink() else file.read_bytes() for file in files}
            # A program that was linked again while its test ran has other functions.
            if case.get("status") != "run" or not files or any(len(hits) != len(tables[file]) for file, hits in reached.items()):
                continue
            objects, of_inline = set(always), []
            for file, hits in reached.items():
                for hit, (definers, of_header) in zip(hits, tables[file], strict=True):
                    if hit:
                        objects |= definers
                        of_inline += [of_header] * bool(of_header and not definers)
            for of_header in of_inline:
                if not of_header & objects:
                    objects.add(min(of_header))
            notes[name] = (sorted(objects), self.state_of(objects))
        self.file.write_text(json.dumps(notes))

    def _functions(self, program, holders, inline):
        """Returns the object files that define each function of a program, itself or inline, in the order of addresses."""
        at = {}
        for symbol, kind, _, value in symbols(program):
            if kind == FUNCTION:
                definers, of_header = at.setdefault(value, (set(), set()))
                definers.update(holders.get(symbol, ()))
                of_header.update(inline.get(symbol, ()))
        return [at[value] for value in sorted(at)]


def main():
    action, build = sys.argv[1], Build(sys.argv[2])
    if action == "note":
        return build.note()
    groups = sys.argv[3] if len(sys.argv) > 3 and sys.argv[3] else r"[^.]+"
    print(*(name for name in build.unaffected() if re.match(rf"({groups})\.", name)), sep="\n")


if __name__ == "__main__":
    main()
