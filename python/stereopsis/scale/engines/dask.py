"""Runs units with Dask distributed, on workers of this machine, of hosts reached by SSH, or of a running scheduler. A unit is a
task, whose arguments are the units for which it waits. Dask replaces lost workers and retries units.
"""

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

MEMORY = "stereopsis_memory"  # a resource of workers; if all have it, a unit is only sent to a worker whose resource is free
RECONNECT_SECONDS = 60.0
LOST_WORKERS = 10  # number of lost workers after which a unit fails


def run(job: Job, todo: list[Unit], options: Options, on_unit_done: OnUnitDone) -> None:
    """Raises the error of the first unit that fails. Connects again if the scheduler was lost."""
    fruitless = 0
    while todo:
        before = len(todo)
        try:
            with _client(job, options) as client:
                _submit(client, job, todo, options, on_unit_done)
            return
        except Error:
            raise
        except Exception as lost:  # Dask reports a lost scheduler with many types of errors
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
    """Limits each worker to one unit at a time."""
    if options.ssh:
        workers = {"nthreads": 1, "n_workers": options.workers or 1}  # options of the workers of each host
        return distributed.SSHCluster(list(options.ssh), worker_options=workers, remote_python=sys.executable)
    return distributed.LocalCluster(n_workers=options.workers or 1, threads_per_worker=1, memory_limit=0, dashboard_address=":0")


def _submit(client: Any, job: Job, todo: list[Unit], options: Options, on_unit_done: OnUnitDone) -> None:
    as_completed = importlib.import_module("distributed").as_completed
    elsewhere = options.scheduler is not None or options.ssh  # each of these workers has all cores of its machine
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
