"""Runs units in processes of this machine. A process that is killed is replaced, and its unit starts again."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from graphlib import TopologicalSorter

from ..._errors import DeviceError
from ..manifest import Job, Unit
from ..options import OnUnitDone, Options, threads_of_each
from ..work import Worker, run_unit


def run(job: Job, todo: list[Unit], options: Options, on_unit_done: OnUnitDone) -> None:
    """Runs the units. Raises the error of the first unit that fails, after the units in flight have ended."""
    if options.workers <= 1:
        worker = Worker(job, options.device, options.threads)
        for unit in todo:
            worker.run(unit)
            on_unit_done(unit)
        return
    fruitless = 0
    while todo:
        done: set[int] = set()
        try:
            for number in _in_pool(job, todo, options):
                done.add(number)
                on_unit_done(job.units[number])
        except BrokenProcessPool:
            fruitless = 0 if done else fruitless + 1
        if fruitless > options.retries:
            raise DeviceError(f"workers were lost {fruitless} times in a row, and no unit was computed; check that there is memory for {options.workers} workers")
        todo = [unit for unit in todo if unit.number not in done]


def _in_pool(job: Job, todo: list[Unit], options: Options) -> Iterator[int]:
    """Yields the numbers of units as they complete."""
    numbers = {unit.number for unit in todo}
    order = TopologicalSorter({unit.number: numbers & set(unit.after) for unit in todo})
    order.prepare()
    threads = threads_of_each(options)
    with ProcessPoolExecutor(options.workers, multiprocessing.get_context("spawn")) as pool:
        running: dict[Future[int], int] = {}
        try:
            while order.is_active():
                for number in order.get_ready():
                    running[pool.submit(run_unit, str(job.folder), number, options.device, threads)] = number
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    number = running.pop(future)
                    future.result()
                    order.done(number)
                    yield number
        finally:
            for future in running:
                future.cancel()
