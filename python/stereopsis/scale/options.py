"""The options of a run, and values that every engine derives from them."""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .._errors import CallError
from .._native import devices as known_devices
from .manifest import Unit

OnUnitDone = Callable[[Unit], None]


@dataclass(frozen=True)
class Options:
    """Options of a run. A unit that fails, or whose worker is lost, starts again up to `retries` times."""

    engine: str = "local"  # local, dask, slurm or parallel
    workers: int = 0  # number of units that run at the same time; 0: one for each device, or with Slurm no limit
    threads: int = 0  # threads of each worker; 0: the machine's cores, divided among its workers
    device: str | None = None  # None: the device of the plan; for the local engine also a list with commas, or cuda:*
    retries: int = 3
    scheduler: str | None = None  # Dask: the address of a scheduler, or the file that the scheduler writes
    ssh: tuple[str, ...] = ()  # Dask: hosts, the scheduler's first
    sbatch: tuple[str, ...] = ()  # Slurm: additional options of sbatch
    wait: bool = False  # Slurm: return when the arrays have ended


def devices_of(names: str) -> list[str]:
    """Returns the devices of a list with commas, in which cuda:* and opencl:* are all usable GPUs of that kind."""
    found: list[str] = []
    for name in names.split(","):
        if name in ("cuda:*", "opencl:*"):
            usable = [device.name for device in known_devices() if device.usable and device.name.startswith(name[:-1])]
            if not usable:
                raise CallError(f"--device {names}: this machine has no usable device {name}; `stereopsis devices` says why")
            found += usable
        else:
            found.append(name)
    return found


def only_device(names: str, what: str) -> str:
    """Returns the device. Raises CallError if there are several."""
    if "," in names or "*" in names:
        raise CallError(f"--device {names} names several devices, but {what}; give one device")
    return names


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
