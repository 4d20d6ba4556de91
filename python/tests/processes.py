"""Processes and listeners of the tests in ROS 1 and ROS 2."""

import os
import pathlib
import signal
import subprocess
import threading
import time

PATIENCE = 180  # seconds: the machine may be busy with a build


def wait_until(is_so, what, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while not (found := is_so()):
        assert time.monotonic() < end, f"{what}: not within {seconds} s"
        time.sleep(0.05)
    return found


class Inbox:
    """The messages that have come on a topic."""

    def __init__(self):
        self.came, self._news = [], threading.Condition()

    def hear(self, message):
        with self._news:
            self.came.append(message)
            self._news.notify_all()

    def wait(self, is_right=lambda message: True):
        """Returns the first message, of all that have come, that is as it should be."""
        with self._news:
            found = lambda: next((m for m in self.came if is_right(m)), None)  # noqa: E731
            assert self._news.wait_for(lambda: found() is not None, PATIENCE), f"{len(self.came)} messages, none of them right"
            return found()

    def next(self, is_right=lambda message: True):
        """Returns the next message from now on that is right."""
        with self._news:
            self.came.clear()
        return self.wait(is_right)


class Processes:
    """Programs that write logs into `folder`, and none of which is left behind."""

    def __init__(self, folder):
        self.folder, self._running = folder, []

    def start(self, *words, name, **environment):
        with open(self.folder / f"{name}.txt", "wb") as log:
            made = subprocess.Popen(list(map(str, words)), stdout=log, stderr=subprocess.STDOUT, env={**os.environ, **environment})
        self._running.append(made)
        return made

    def said(self, name):
        return (self.folder / f"{name}.txt").read_text(errors="replace")

    def end(self, process, how=signal.SIGINT):
        """Ends a process and its children, by default as Ctrl-C does; kills those that remain. Returns the exit code."""
        below = descendants(process.pid)
        if process.poll() is None:
            process.send_signal(how)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        for pid in below:
            if pathlib.Path(f"/proc/{pid}").exists():
                os.kill(pid, signal.SIGKILL)
        self._running.remove(process)
        return process.returncode

    def end_all(self):
        for process in reversed(self._running[:]):
            self.end(process)


def descendants(pid):
    try:
        tasks = list(pathlib.Path(f"/proc/{pid}/task").iterdir())
        children = [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:  # it has just ended
        return []
    return [one for child in children for one in (child, *descendants(child))]
