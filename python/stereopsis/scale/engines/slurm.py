"""Runs units with Slurm: one array of jobs for each level of units. Each array starts after the previous one. Slurm restarts jobs that
it loses.
"""

import re
import shlex
import subprocess
import time
from collections.abc import Sequence

from ..._errors import Error, UnsupportedError
from ..levels import memory_of, ranges, shares
from ..manifest import Job, Unit
from ..options import OnUnitDone, Options, command, common_words
from ..work import missing, not_made

POLL_SECONDS = 2.0


def run(job: Job, todo: list[Unit], options: Options, on_unit_done: OnUnitDone) -> None:
    """Submits the arrays to Slurm. With `wait`, waits until the arrays have ended, and raises Error if units are missing."""
    (job.folder / "log").mkdir(exist_ok=True)
    arrays: list[str] = []
    before: list[str] = []
    for level in shares(job, todo):
        behind, before = before, []
        for chunk in _chunks(level, _largest_array()):
            before.append(_submitted(job, chunk, behind, options))
        arrays += before
    print(f"Slurm has the arrays {', '.join(arrays)}; stereopsis scale status {job.folder} tells how far they are")
    if options.wait:
        _wait(job, todo, arrays, on_unit_done)


def array_script(job: Job, units: Sequence[Unit], options: Options) -> str:
    """Returns the script that each task of an array runs. Indices begin at 0, because clusters limit the largest index."""
    unit = f"$(( {units[0].number} + SLURM_ARRAY_TASK_ID ))"
    return f"exec {shlex.join(command(job.folder, *common_words(options)))} --unit {unit}"


def array_options(job: Job, units: Sequence[Unit], options: Options) -> list[str]:
    first = units[0].number
    at_a_time = f"%{options.workers}" if options.workers else ""
    return [
        f"--job-name=stereopsis-{units[0].kind}",
        f"--array={ranges([unit.number - first for unit in units])}{at_a_time}",
        f"--mem={memory_of(units)}M",
        *([f"--cpus-per-task={options.threads}"] if options.threads else []),
        "--requeue",
        f"--output={job.folder}/log/%A_%a.log",
        *options.sbatch,
    ]


def _submitted(job: Job, units: Sequence[Unit], behind: Sequence[str], options: Options) -> str:
    words = ["sbatch", "--parsable", *array_options(job, units, options)]
    if behind:
        words.append(f"--dependency=afterok:{':'.join(behind)}")
    return _said(words, "#!/bin/sh\n" + array_script(job, units, options) + "\n").strip().split(";")[0]


def _chunks(level: Sequence[Unit], most: int) -> list[Sequence[Unit]]:
    """Splits numbers into chunks whose members differ by less than `most`."""
    chunks: list[list[Unit]] = []
    for unit in level:
        if not chunks or unit.number - chunks[-1][0].number >= most:
            chunks.append([])
        chunks[-1].append(unit)
    return list(chunks)


def _largest_array() -> int:
    found = re.search(r"MaxArraySize\s*=\s*(\d+)", _said(["scontrol", "show", "config"]))
    return int(found[1]) if found else 1001


def _wait(job: Job, todo: list[Unit], arrays: Sequence[str], on_unit_done: OnUnitDone) -> None:
    left = todo
    while _said(["squeue", "--noheader", "--states=all", "--format=%T", f"--jobs={','.join(arrays)}"], known=False).split():
        now = missing(job, left, contents=False)
        for unit in left:
            if unit not in now:
                on_unit_done(unit)
        left = now
        states = set(_said(["squeue", "--noheader", "--format=%T %r", f"--jobs={','.join(arrays)}"], known=False).splitlines())
        if not states or states <= {"PENDING DependencyNeverSatisfied"}:
            break
        time.sleep(POLL_SECONDS)
    if (error := not_made(job, todo)) is not None:
        raise Error(f"{error}; the output of the tasks is in {job.folder}/log")


def _said(words: Sequence[str], stdin: str = "", known: bool = True) -> str:
    """Returns the output of a command of Slurm. With `known`, an error is raised if the command fails."""
    try:
        done = subprocess.run(words, input=stdin, capture_output=True, text=True)
    except FileNotFoundError as error:
        raise UnsupportedError(f"{words[0]} is not installed on this machine; run this on a machine with Slurm, or use another --engine") from error
    if known and done.returncode != 0:
        raise Error(f"{words[0]} failed: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout
