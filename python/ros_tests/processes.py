"""Programs of ROS on a port of our own, none of which is left behind."""

import os
import pathlib
import signal
import socket
import subprocess
import time

import pytest
import rosgraph

PATIENCE = 180  # seconds: the machine may be busy with a build


def wait_until(is_so, what, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while not (found := is_so()):
        assert time.monotonic() < end, f"{what}: not within {seconds} s"
        time.sleep(0.1)
    return found


class Processes:
    def __init__(self, folder):
        self.folder, self._running = folder, []

    def start_core(self):
        """Another program may take the port before the core does: then with another one."""
        for attempt in range(3):
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                port = free.getsockname()[1]
            os.environ |= {
                "ROS_MASTER_URI": f"http://127.0.0.1:{port}",
                "ROS_IP": "127.0.0.1",
                "ROS_HOME": str(self.folder),
                "ROS_LOG_DIR": str(self.folder / "log"),
            }
            core = self.start("/usr/bin/roscore", "-p", port, name=f"roscore{attempt}")
            wait_until(lambda core=core: self.is_up() or core.poll() is not None, f"roscore on port {port}")
            if core.poll() is None:
                return
        pytest.fail(f"roscore ends at once: {self.said('roscore2')}")

    @staticmethod
    def is_up():
        """The master answers, and what it starts last has come."""
        try:
            rosgraph.Master("/tester").lookupNode("/rosout")
            return True
        except (OSError, rosgraph.MasterException):
            return False

    def start(self, *words, name, **environment):
        with open(self.folder / f"{name}.txt", "wb") as log:
            made = subprocess.Popen(
                list(map(str, words)), stdout=log, stderr=subprocess.STDOUT, env={**os.environ, **environment}
            )
        self._running.append(made)
        return made

    def said(self, name):
        return (self.folder / f"{name}.txt").read_text(errors="replace")

    def end(self, process):
        """Ends a process and its children as Ctrl-C does; kills those that remain, with all their children."""
        below = descendants(process.pid)
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        for pid in below:
            if pathlib.Path(f"/proc/{pid}").exists():
                os.kill(pid, signal.SIGKILL)
        self._running.remove(process)

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
