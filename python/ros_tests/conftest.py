"""A real roscore, the distribution's stereo_image_proc and our node, each a process of its own."""

import os
import pathlib
import sys

import pytest

pytest.importorskip("rospy", reason="ROS 1 is not installed; ./dev ros-test installs it")
sys.path.append(str(pathlib.Path(__file__).parents[1] / "tests"))
from core import start_core  # noqa: E402
from processes import Processes  # noqa: E402
from robot import Listener, Robot  # noqa: E402


@pytest.fixture(scope="session")
def processes(tmp_path_factory):
    running = Processes(tmp_path_factory.mktemp("ros"))
    try:
        start_core(running)
        yield running
    finally:
        running.end_all()


@pytest.fixture(scope="session")
def tester(processes):
    """This process as a node."""
    import rospy

    rospy.init_node("tester", disable_signals=True)
    yield rospy
    rospy.signal_shutdown("done")


@pytest.fixture(scope="session")
def robot(processes, tester):
    """Cameras in /stereo; /ours and /theirs have them as inputs."""
    there = Robot(processes)
    yield there
    there.stop()


@pytest.fixture
def listen(tester):
    """listen(TOPIC) hears a topic until the test ends."""
    made = []

    def start(topic):
        made.append(Listener(topic))
        return made[-1]

    yield start
    for one in made:
        one.close()


@pytest.fixture(scope="session")
def data():
    folder = os.environ.get("STEREOPSIS_DATA")
    if not folder:
        pytest.skip("STEREOPSIS_DATA names no folder of real scenes")
    return pathlib.Path(folder)
