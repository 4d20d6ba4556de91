"""Writes the units of a job as text, for other engines."""

import re
import shlex

from .levels import memory_of, ranges
from .manifest import Job
from .options import Options, command
from .work import targets


def emitted(job: Job, form: str) -> str:
    return {"list": as_list, "make": as_make, "slurm": as_slurm, "parallel": as_parallel}[form](job)


def as_list(job: Job) -> str:
    """Returns one command per line, in an order in which the commands may run. A comment after each command states its memory and the units
    for which it waits.
    """
    lines = []
    for unit in job.units:
        waits = f", after {ranges(unit.after)}" if unit.after else ""
        lines.append(f"{_command(job)} --unit {unit.number}  # {unit.name}, {memory_of([unit])} MiB{waits}")
    return "\n".join(lines)


def as_make(job: Job) -> str:
    """Returns a makefile for `make --jobs N --file FILE`. The targets are the sidecars, small files that mark units as complete. A sidecar
    is up to date if it exists.
    """
    sidecar = {unit.number: _in_make(str(job.store.sidecar(unit.name))) for unit in job.units}
    called = _command(job).replace("$", "$$")
    lines = [f"all: {' '.join(sidecar[unit.number] for unit in targets(job))}", ".PHONY: all"]
    for unit in job.units:
        lines.append(f"{sidecar[unit.number]}: | {' '.join(sidecar[i] for i in unit.after)}".rstrip(" |"))
        lines.append(f"\t{called} --quiet --unit {unit.number}")
    return "\n".join(lines)


def _in_make(name: str) -> str:
    """
    >>> _in_make("a job/$1")
    'a\\\\ job/$$1'
    """
    return re.sub(r"([ #:%])", r"\\\1", name).replace("$", "$$")


def as_parallel(job: Job) -> str:
    """Returns a shell script with a call of GNU parallel for each level: JOBS=N sh FILE."""
    lines = ["#!/bin/sh -e"]
    for level in job.manifest.levels():
        how = f"parallel --will-cite --jobs ${{JOBS:-1}} --memfree {memory_of(level)}M --retries 3"
        called = shlex.quote(f"{_command(job)} --quiet --unit {{}}")
        lines.append(f"{how} {called} ::: {' '.join(str(unit.number) for unit in level)}")
    return "\n".join(lines)


def as_slurm(job: Job) -> str:
    """Returns a shell script that submits an array of jobs for each level. Each array starts after the previous one."""
    from .engines.slurm import array_options, array_script

    lines = ["#!/bin/sh -e", f"mkdir -p {shlex.quote(str(job.folder / 'log'))}"]
    for k, level in enumerate(job.manifest.levels()):
        behind = " --dependency=afterok:$array" if k else ""
        options = shlex.join(array_options(job, level, Options()))
        lines.append(f"array=$(sbatch --parsable{behind} {options} --wrap {shlex.quote(array_script(job, level, Options()))})")
    return "\n".join(lines)


def _command(job: Job) -> str:
    return shlex.join(command(job.folder))
