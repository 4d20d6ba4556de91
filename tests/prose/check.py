#!/usr/bin/env python3
"""Checks the prose of the repository: fragments, phrases to avoid, and spelling. `./dev prose` runs it.

The numbers of fragments and phrases of each area may not rise above those in counts.txt.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from fragments import fragment, sentences
from units import Unit, extract

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
COUNTS, PHRASES, WORDS = HERE / "counts.txt", HERE / "phrases.txt", HERE / "words.txt"
COUNTS_IN_GIT = COUNTS.relative_to(ROOT).as_posix()
# Files whose text is not prose of this project, or is made to be wrong.
EXCLUDED = re.compile(r"tests/(?:fuzz/corpus|prose)/|training/weights/|\.(?:abi|json|svg|weights|webp|jpg)$|LICENSE$")
Phrases = list[tuple[re.Pattern[str], str]]
Counts = dict[str, dict[str, int]]  # for each area, the number of findings of each kind
HEADER = """\
# Numbers of fragments and of phrases to avoid in each area. `./dev prose --update` lowers them; they never rise.
# When a folder is renamed, rename its line.
"""


@dataclass(frozen=True)
class Finding:
    kind: str  # "fragment" or "phrase"
    unit: Unit
    sentence: str
    reason: str

    @property
    def key(self) -> tuple[str, str]:
        return self.kind, self.sentence

    def __str__(self) -> str:
        return f"{self.unit.file}:{self.unit.line}: {self.reason}: {self.sentence}"


def area_of(file: str) -> str:
    """Returns the area that `file` counts in: its first folder, and in src/ the first two."""
    folders = file.split("/")[:-1]
    return "/".join(folders[: 2 if folders[:1] == ["src"] else 1]) or "."


def is_public(unit: Unit) -> bool:
    """Returns whether users read the unit: help, Markdown, public headers, and the docstrings of the package."""
    public_docstring = unit.kind == "docstring" and unit.file.startswith(("python/stereopsis/", "python/src/"))
    return unit.kind in ("help", "markdown") or unit.file.startswith("include/") or public_docstring


def read_phrases(text: str) -> Phrases:
    """Returns the patterns of phrases.txt, each with what to write instead."""
    lines = [line.split("  ->  ") for line in text.splitlines() if line and not line.startswith("#")]
    return [(re.compile(pattern, re.IGNORECASE), instead) for pattern, instead in lines]


def examine(unit: Unit, phrases: Phrases) -> Iterable[Finding]:
    for sentence in sentences(unit.text):
        reason = fragment(sentence, unit.kind, unit.trailing)
        if reason:
            yield Finding("fragment", unit, sentence, reason)
        for pattern, instead in phrases if is_public(unit) else ():
            match = pattern.search(sentence)
            if match:
                yield Finding("phrase", unit, sentence, f'instead of "{match[0]}" write {instead}')


def git(*arguments: str) -> str | None:
    """Returns what git prints, or None if it fails."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, errors="replace")
    return done.stdout if done.returncode == 0 else None


def listed_files() -> list[str]:
    listed = git("ls-files", "--cached", "--others", "--exclude-standard")
    if listed is None:
        raise SystemExit("prose: this is not a checkout of git; run it in a clone")
    return [file for file in sorted(set(listed.splitlines())) if not EXCLUDED.search(file) and (ROOT / file).is_file()]


def read_units(file: str, source: str | None = None) -> list[Unit]:
    try:
        return extract(file, (ROOT / file).read_text() if source is None else source)
    except UnicodeDecodeError:
        return []


def read_counts(text: str) -> Counts:
    counts = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            area, fragments, phrases = line.split()
            counts[area] = {"fragment": int(fragments), "phrase": int(phrases)}
    return counts


def written_counts(counts: Counts) -> str:
    rows = [f"{area:<20} {n['fragment']:>5} {n['phrase']:>5}\n" for area, n in sorted(counts.items()) if any(n.values())]
    return HEADER + "".join(rows)


def new_findings(area: str, findings: list[Finding], phrases: Phrases) -> list[Finding]:
    """Returns the findings that the area did not have in the commit that last changed counts.txt; all of them without history."""
    commit = (git("log", "-1", "--format=%H", "--", COUNTS_IN_GIT) or "").strip()
    if not commit:
        return findings
    old: Counter[tuple[str, str]] = Counter()
    for file in (git("ls-tree", "-r", "--name-only", commit) or "").splitlines():
        if area_of(file) == area and not EXCLUDED.search(file):
            for unit in read_units(file, git("show", f"{commit}:{file}") or ""):
                old.update(finding.key for finding in examine(unit, phrases))
    new = []
    for finding in findings:
        old[finding.key] -= 1
        if old[finding.key] < 0:
            new.append(finding)
    return new


def print_rates(units: list[Unit], findings: list[Finding]) -> None:
    """Prints, for each kind of text, how many units there are and how many of them have a fragment."""
    total = Counter(unit.kind for unit in units)
    bad = Counter(unit.kind for unit in {finding.unit for finding in findings if finding.kind == "fragment"})
    for kind in [*sorted(total), None]:
        n, k = (total[kind], bad[kind]) if kind else (total.total(), bad.total())
        print(f"{kind or 'all':<10} {n:>6} units {k:>5} with a fragment  {100 * k / max(n, 1):5.1f} %")


def rises(by_area: dict[str, list[Finding]], allowed: Counts) -> list[tuple[str, str]]:
    """Returns the areas and kinds of findings that are more than `allowed`."""
    return [
        (area, kind)
        for area, findings in sorted(by_area.items())
        for kind, n in sorted(Counter(finding.kind for finding in findings).items())
        if n > allowed.get(area, {}).get(kind, 0)
    ]


def lowered(by_area: dict[str, list[Finding]], allowed: Counts) -> Counts:
    """Returns the numbers to write: those that fell. A number that rose stays, so that the check continues to fail."""
    found = {area: Counter(finding.kind for finding in findings) for area, findings in by_area.items()}
    return {area: {kind: min(n, found.get(area, Counter())[kind]) for kind, n in counts.items()} for area, counts in allowed.items()}


def check_counts(by_area: dict[str, list[Finding]], phrases: Phrases) -> bool:
    """Returns whether no area has more findings than counts.txt allows; prints the new ones if one has."""
    allowed = read_counts(COUNTS.read_text())
    risen = rises(by_area, allowed)
    for area, kind in risen:
        found = [finding for finding in by_area[area] if finding.kind == kind]
        print(f"prose: {area} has {len(found)} {kind}s, and {allowed.get(area, {}).get(kind, 0)} are allowed; rewrite the new ones:")
        print(*new_findings(area, found, phrases), sep="\n")
    fallen = [area for area, counts in lowered(by_area, allowed).items() if counts != allowed[area]]
    if fallen:
        print(f"prose: {', '.join(fallen)}: fewer than counts.txt allows; run `./dev prose --update` to keep them low")
    return not risen


def check_spelling(files: list[str]) -> bool:
    program = shutil.which("codespell")
    if program is None:
        print("prose: the spelling is not checked, as codespell is not installed (pip install codespell)")
        return True
    done = subprocess.run([program, "-I", str(WORDS), *files], cwd=ROOT, stderr=subprocess.DEVNULL)
    if done.returncode:
        print(f"prose: correct these words, or add the right ones among them to {WORDS.relative_to(ROOT)}")
    return done.returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], allow_abbrev=False)
    parser.add_argument("paths", nargs="*", metavar="PATH", help="with --list: files or folders to list [all]")
    parser.add_argument("--list", action="store_true", help="print the findings and check nothing")
    parser.add_argument("--update", action="store_true", help="write the lower numbers to counts.txt")
    arguments = parser.parse_args()
    phrases = read_phrases(PHRASES.read_text())
    files = listed_files()
    if arguments.list and arguments.paths:
        prefixes = [path.rstrip("/") for path in arguments.paths]
        files = [file for file in files if any(file == p or file.startswith(p + "/") for p in prefixes)]
    units = [unit for file in files for unit in read_units(file)]
    findings = [finding for unit in units for finding in examine(unit, phrases)]
    if arguments.list:
        print(*findings, sep="\n")
        print_rates(units, findings)
        return 0
    by_area: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        by_area[area_of(finding.unit.file)].append(finding)
    if arguments.update:
        COUNTS.write_text(written_counts(lowered(by_area, read_counts(COUNTS.read_text()))))
    print_rates(units, findings)
    spelled = check_spelling(files)
    return 0 if check_counts(by_area, phrases) and spelled else 1


if __name__ == "__main__":
    sys.exit(main())
