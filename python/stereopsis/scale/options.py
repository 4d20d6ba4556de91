"""The options of a run, and values that every engine derives from them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .manifest import Unit

OnUnitDone = Callable[[Unit], None]


@dataclass(frozen=True)
class Options:
    """Options of a run. A unit that fails, or whose worker is lost, starts again up to `retries` times."""

    engine: str = "local"  # local, dask, slurm or parallel
    workers: int = 0  # number of units that run at the same time; 0: one, or with Slurm no limit
    threads: int = 0  # threads of each worker; 0: the machine's cores, divided among its workers
    device: str | None = None  # None: the device of the plan
    retries: int = 3
    scheduler: str | None = None  # Dask: the address of a scheduler, or the file that the scheduler writes
    ssh: tuple[str, ...] = ()  # Dask: hosts, the scheduler's first
    sbatch: tuple[str, ...] = ()  # Slurm: additional options of sbatch
    wait: bool = False  # Slurm: return when the arrays have ended


def threads_of_each(options: Options) -> int:
    """Returns the number of threads of each worker: the cores that this process may use, divided among the workers of this
    machine.
    """
    if options.threads:
        return options.threads
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, cores // max(1, options.workers))


def command(folder: Path, *words: str) -> list[str]:
    """Returns the command that runs units of the job in `folder`, for engines that start programs."""
    return [sys.executable, "-m", "stereopsis", "scale", "run", str(folder), *words]


def common_words(options: Options) -> list[str]:
    """Returns the command-line options that a run passes to each unit."""
    words = ["--threads", str(options.threads)] if options.threads else []
    return words + (["--device", options.device] if options.device else [])
