"""Dask distributed: workers of this machine, of hosts reached by SSH, or of a scheduler that is there. A unit is a task, what it
waits for are its arguments; workers that are lost, and tries again, are Dask's own matter."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import time
from collections.abc import Iterator
from typing import Any

from ..._errors import DeviceError, Error
from ..manifest import KINDS, Job, Unit
from ..options import OnUnitDone, Options, threads_of_each
from ..work import missing, run_unit

MEMORY = "stereopsis_memory"  # a resource of workers; where all have it, units are only sent where theirs is free
RECONNECT_SECONDS = 60.0
LOST_WORKERS = 10  # a unit fails after it has lost so many workers


def run(job: Job, todo: list[Unit], options: Options, on_unit_done: OnUnitDone) -> None:
    """Raises the error of the first unit that fails. A scheduler that went away is looked for again."""
    fruitless = 0
    while todo:
        before = len(todo)
        try:
            with _client(job, options) as client:
                _submit(client, job, todo, options, on_unit_done)
            return
        except Error:
            raise
        except Exception as lost:  # Dask's errors of a lost scheduler are of many kinds
            todo = missing(job, todo)
            fruitless = 0 if len(todo) < before else fruitless + 1
            if fruitless > options.retries or options.scheduler is None:
                raise DeviceError(f"Dask failed: {lost!r}; finished units are kept, so run again to continue") from lost


@contextlib.contextmanager
def _client(job: Job, options: Options) -> Iterator[Any]:
    distributed = importlib.import_module("distributed")
    importlib.import_module("dask").config.set({"distributed.scheduler.allowed-failures": LOST_WORKERS})
    if options.scheduler is not None:
        with _connected(distributed, options.scheduler) as client:
            yield client
        return
    with _cluster(distributed, job, options) as cluster, distributed.Client(cluster) as client:
        yield client


def _connected(distributed: Any, scheduler: str) -> Any:
    where = {"scheduler_file": scheduler} if os.path.exists(scheduler) else {"address": scheduler}
    end = time.monotonic() + RECONNECT_SECONDS
    while True:
        try:
            return distributed.Client(**where, timeout=5)
        except OSError as error:
            if time.monotonic() > end:
                raise DeviceError(f"no Dask scheduler answers at {scheduler}: {error}; check the address") from error


def _cluster(distributed: Any, job: Job, options: Options) -> Any:
    """One unit at a time in each worker."""
    if options.ssh:
        workers = {"nthreads": 1, "n_workers": options.workers or 1}  # options of the workers of each host
        return distributed.SSHCluster(list(options.ssh), worker_options=workers, remote_python=sys.executable)
    return distributed.LocalCluster(n_workers=options.workers or 1, threads_per_worker=1, memory_limit=0, dashboard_address=":0")


def _submit(client: Any, job: Job, todo: list[Unit], options: Options, on_unit_done: OnUnitDone) -> None:
    as_completed = importlib.import_module("distributed").as_completed
    elsewhere = options.scheduler is not None or options.ssh  # these workers have all of their machine's cores
    threads = options.threads if elsewhere else threads_of_each(options)
    workers = client.scheduler_info()["workers"].values()
    by_memory = bool(workers) and all(MEMORY in worker.get("resources", {}) for worker in workers)
    futures: dict[int, Any] = {}
    # Ready units of an earlier kind run first: they are the critical path, and similar units run one after another.
    for unit in todo:
        futures[unit.number] = client.submit(
            run_unit, str(job.folder), unit.number, options.device, threads, *(futures[i] for i in unit.after if i in futures),
            key=f"{unit.name}-{job.manifest.job[:12]}-{time.time_ns()}", retries=options.retries, pure=False, priority=-KINDS.index(unit.kind),
            resources={MEMORY: unit.memory} if by_memory else None,
        )  # fmt: skip
    numbers = {future.key: number for number, future in futures.items()}
    for future in as_completed(futures.values()):
        future.result()
        on_unit_done(job.units[numbers[future.key]])
