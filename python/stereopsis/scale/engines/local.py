"""Runs units in processes of this machine, each of which keeps to one device. A process that is killed is replaced, and its unit
starts again. The units of a device that is lost are computed by the other devices.
"""

import multiprocessing
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from graphlib import TopologicalSorter
from multiprocessing.queues import SimpleQueue

from ..._errors import DeviceError
from ..manifest import Job, Unit
from ..options import OnUnitDone, Options, devices_of, threads_of_each
from ..work import Worker, run_unit

_device: list[str] = []  # the device of this process


class _Lost(Exception):
    """A device was lost: its name, and the sentence of the error."""


def run(job: Job, todo: list[Unit], options: Options, on_unit_done: OnUnitDone) -> None:
    """Runs the units. Raises the error of the first unit that fails, after the units in flight have ended."""
    devices = devices_of(options.device or job.manifest.device)
    options = replace(options, workers=options.workers or len(devices))
    if options.workers <= 1:
        worker = Worker(job, devices[0], options.threads)
        for unit in todo:
            worker.run(unit)
            on_unit_done(unit)
        return
    fruitless = 0
    while todo:
        done: set[int] = set()
        try:
            for number in _in_pool(job, todo, options, devices):
                done.add(number)
                on_unit_done(job.units[number])
        except BrokenProcessPool:
            fruitless = 0 if done else fruitless + 1
        except _Lost as lost:
            device, why = lost.args
            devices = [name for name in devices if name != device]
            if not devices:
                raise DeviceError(why) from None
            print(f"stereopsis: warning: {device} was lost; {', '.join(devices)} will compute its units: {why}", file=sys.stderr)
        if fruitless > options.retries:
            raise DeviceError(f"workers were lost {fruitless} times in a row, and no unit was computed; check that there is memory for {options.workers} workers")
        todo = [unit for unit in todo if unit.number not in done]


def _in_pool(job: Job, todo: list[Unit], options: Options, devices: list[str]) -> Iterator[int]:
    """Yields the numbers of units as they complete."""
    numbers = {unit.number for unit in todo}
    order = TopologicalSorter({unit.number: numbers & set(unit.after) for unit in todo})
    order.prepare()
    threads = threads_of_each(options)
    spawn = multiprocessing.get_context("spawn")
    names: SimpleQueue[str] = spawn.SimpleQueue()
    for worker in range(options.workers):
        names.put(devices[worker % len(devices)])
    with ProcessPoolExecutor(options.workers, spawn, _take_device, (names,)) as pool:
        running: dict[Future[int], int] = {}
        try:
            while order.is_active():
                for number in order.get_ready():
                    running[pool.submit(_on_device, run_unit, str(job.folder), number, threads)] = number
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    number = running.pop(future)
                    future.result()
                    order.done(number)
                    yield number
        finally:
            for future in running:
                future.cancel()


def _take_device(names: SimpleQueue[str]) -> None:
    _device.append(names.get())


def _on_device(run: Callable[[str, int, str, int], int], folder: str, number: int, threads: int) -> int:
    """Computes a unit on the device of this process."""
    try:
        return run(folder, number, _device[0], threads)
    except DeviceError as error:
        raise _Lost(_device[0], str(error)) from None
