"""The resources of this machine."""

import os
import shutil
import socket

import pytest


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def installed(*programs):
    missing = [program for program in programs if shutil.which(program, path=f"{os.environ['PATH']}:/usr/sbin:/sbin") is None]
    if missing:
        pytest.skip(f"{' and '.join(missing)} are not installed; ./dev scale-test installs them")
