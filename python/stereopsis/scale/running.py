"""Runs all units of a job, some of them, or a shard, with one of the engines."""

import sys
import time
from collections.abc import Callable, Sequence

from .._errors import CallError, Error
from .manifest import Job, Unit
from .options import OnUnitDone, Options, only_device
from .store import State
from .work import Worker, missing, targets

POLL_SECONDS = 1.0


class Progress:
    """A progress line on stderr: units, share of the work, rate, and remaining time."""

    def __init__(self, todo: Sequence[Unit], quiet: bool) -> None:
        self._left, self._count = {unit.number for unit in todo}, len(todo)
        self._work, self._done = sum(weight(unit) for unit in todo), 0.0
        self._begin, self._quiet, self._shown = time.monotonic(), quiet, 0.0

    def __call__(self, unit: Unit) -> None:
        if unit.number not in self._left:
            return
        self._left.remove(unit.number)
        self._done += weight(unit)
        now = time.monotonic()
        if self._quiet or (self._left and now - self._shown < (0.1 if sys.stderr.isatty() else 10)):
            return
        self._shown = now
        share, elapsed = self._done / self._work, now - self._begin
        text = f"{self._count - len(self._left)} of {self._count} units, {100 * share:.0f} %, {duration(elapsed / share - elapsed)} left"
        print(f"\r{text}\x1b[K" if sys.stderr.isatty() else text, end="" if sys.stderr.isatty() else "\n", file=sys.stderr, flush=True)

    def end(self) -> None:
        if self._shown and sys.stderr.isatty():
            print(file=sys.stderr)


def weight(unit: Unit) -> float:
    """Estimates the work of the unit relative to the other units of the job."""
    kinds = {"down": 0.25, "up": 0.25, "refine": 0.2, "fill": 0.2, "rate": 0.2, "edges": 0.01}
    return kinds.get(unit.kind, 1.0) * unit.pixels


def duration(seconds: float) -> str:
    """
    >>> duration(7300), duration(125), duration(4)
    ('2 h 2 min', '2 min 5 s', '4 s')
    """
    whole = round(seconds)
    if whole >= 3600:
        return f"{whole // 3600} h {whole % 3600 // 60} min"
    return f"{whole // 60} min {whole % 60} s" if whole >= 60 else f"{whole} s"


def run_all(job: Job, options: Options, quiet: bool = False) -> int:
    """Computes the needed units that are absent or damaged. Returns the number of these units; with Slurm, the units may still be running.
    """
    if options.device and options.engine != "local":
        only_device(options.device, "only the local engine distributes units to devices")
    todo = missing(job, targets(job))
    if todo:
        progress = Progress(todo, quiet)
        try:
            _engine(options.engine)(job, todo, options, progress)
        finally:
            progress.end()
    return len(todo)


def _engine(name: str) -> Callable[[Job, list[Unit], Options, OnUnitDone], None]:
    """Returns the module of an engine. The module is imported on first use, so that only the engine for Dask requires Dask."""
    if name == "local":
        from .engines.local import run
    elif name == "dask":
        from .engines.dask import run
    elif name == "slurm":
        from .engines.slurm import run
    elif name == "parallel":
        from .engines.parallel import run
    else:
        raise CallError(f"--engine {name} is not allowed; it must be local, dask, slurm or parallel")
    return run


def run_units(job: Job, numbers: Sequence[int], options: Options) -> int:
    """Computes these units, and the units that they need, in this process."""
    worker = Worker(job, _one_device(options), options.threads)
    return sum(worker.run(unit) for unit in (unit_of(job, number) for number in numbers))


def _one_device(options: Options) -> str | None:
    return options.device and only_device(options.device, "--unit and --shard compute one unit at a time")


def unit_of(job: Job, number: int) -> Unit:
    """Returns the unit of that number. Raises CallError if there is none."""
    if not 0 <= number < len(job.units):
        raise CallError(f"--unit {number} is not allowed; the job has the units 0 to {len(job.units) - 1}")
    return job.units[number]


def run_shard(job: Job, index: int, count: int, options: Options, patience: float, quiet: bool = False) -> int:
    """Computes every count-th unit in this process, and waits for units of other shards on which these units depend. Returns the number of
    computed units. Raises Error after `patience` seconds without progress.
    """
    if not 1 <= index <= count:
        raise CallError(f"--shard {index}/{count} is not allowed; it must be from 1/{count} to {count}/{count}")
    worker = Worker(job, _one_device(options), options.threads)
    todo = [unit for unit in missing(job, targets(job)) if unit.number % count == index - 1]
    progress, made = Progress(todo, quiet), 0
    for unit in todo:
        _await(job, unit, patience)
        made += worker.run(unit)
        progress(unit)
    progress.end()
    return made


def _await(job: Job, unit: Unit, patience: float) -> None:
    """Waits until all units that `unit` needs exist. Damaged units are computed again together with the unit."""
    began, waited_for = time.monotonic(), -1
    while job.store.state(unit.name, contents=False) is not State.whole:
        absent = [i for i in unit.after if job.store.state(job.units[i].name, contents=False) is State.absent]
        if not absent:
            return
        if len(absent) != waited_for:
            began, waited_for = time.monotonic(), len(absent)
        if time.monotonic() - began > patience:
            raise Error(
                f"unit {unit.number} ({unit.name}) has waited {duration(patience)} for unit {absent[0]}, which no other shard has computed; "
                "run the other shards, or the job without --shard"
            )
        time.sleep(min(POLL_SECONDS, 0.01 + (time.monotonic() - began) / 4))
