"""A real ROS 2: our node is a process of its own, and this process has the cameras."""

import os
import pathlib
import sys

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed; ./dev ros2-test installs it")
sys.path.append(str(pathlib.Path(__file__).parents[1] / "tests"))
os.environ |= {"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST", "ROS_DOMAIN_ID": str(os.getpid() % 100 + 1)}
from robot import Graph, Ours  # noqa: E402

collect_ignore = [] if "STEREOPSIS_ROS_NODE" in os.environ else ["test_component.py"]  # tests/ros2/component_test.sh runs it


@pytest.fixture(scope="session")
def graph(tmp_path_factory):
    made = Graph(tmp_path_factory.mktemp("ros2"))
    yield made
    made.close()


@pytest.fixture
def ours(graph, request):
    """ours(NAME, PARAMETERS) starts a node that ends with the test."""
    made = []

    def start(name, *words, **parameters):
        made.append(Ours(graph, name, *words, **parameters))
        return made[-1]

    yield start
    for one in made:
        if one.process.poll() is None:
            one.end()
