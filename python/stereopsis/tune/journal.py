"""The file with the trials of a search: a process that is killed leaves neither a lock nor half a line that stops the next one."""

import importlib
import os
from pathlib import Path
from typing import Any


class Lock:
    """A lock on a file beside the log. The system releases it when the process ends, however it ends."""

    def __init__(self, log: Path) -> None:
        self._file = log.with_suffix(".lock")
        self._fcntl: Any = importlib.import_module("fcntl")
        self._held: int | None = None

    def acquire(self) -> bool:
        held = os.open(self._file, os.O_RDWR | os.O_CREAT, 0o666)
        self._fcntl.flock(held, self._fcntl.LOCK_EX)
        self._held = held
        return True

    def release(self) -> None:
        if self._held is not None:
            os.close(self._held)
        self._held = None


def lock_of(log: Path) -> Lock | None:
    """Returns the lock of a log, or None where the system has no such locks (Windows), so that optuna uses its own."""
    try:
        return Lock(log)
    except ModuleNotFoundError:
        return None


def drop_unfinished_line(log: Path, lock: Lock | None) -> None:
    """Removes the end of the last line that a process wrote when it was killed. The line would spoil the next one."""
    if not log.is_file():
        return
    if lock is not None:
        lock.acquire()
    try:
        with log.open("r+b") as file:
            content = file.read()
            file.truncate(content.rfind(b"\n") + 1)
    finally:
        if lock is not None:
            lock.release()
