"""A core of ROS 1 on a port of its own."""

import os
import socket

import pytest
import rosgraph
from processes import wait_until


def start_core(processes):
    """Another program may take the port before the core does: then with another one."""
    for attempt in range(3):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        os.environ |= {
            "ROS_MASTER_URI": f"http://127.0.0.1:{port}",
            "ROS_IP": "127.0.0.1",
            "ROS_HOME": str(processes.folder),
            "ROS_LOG_DIR": str(processes.folder / "log"),
        }
        core = processes.start("/usr/bin/roscore", "-p", port, name=f"roscore{attempt}")
        wait_until(lambda core=core: is_up() or core.poll() is not None, f"roscore on port {port}")
        if core.poll() is None:
            return
    pytest.fail(f"roscore ends at once: {processes.said('roscore2')}")


def is_up():
    """The master answers, and what it starts last has come."""
    try:
        rosgraph.Master("/tester").lookupNode("/rosout")
        return True
    except (OSError, rosgraph.MasterException):
        return False
