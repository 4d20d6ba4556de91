"""The launch file of the component, which the node in Python does not need."""

import pathlib
import sys

from rcl_interfaces.srv import GetParameters

FOLDER = pathlib.Path(__file__).parent
LAUNCH = FOLDER / "../../ros/ros2/stereopsis_ros/launch/stereo.launch.py"


def test_the_launch_file_composes_the_component(graph):
    words = ("namespace:=launched", "device:=cpu", "align_rows:=off", "disparity_range:=16")
    launched = graph.start(sys.executable, FOLDER / "launcher.py", LAUNCH, *words, name="launch")
    values = graph.call("/launched/stereopsis/get_parameters", GetParameters, names=["align_rows", "disparity_range"]).values
    assert (values[0].string_value, values[1].integer_value) == ("off", 16)
    assert graph.end(launched) == 0, graph.said("launch")
    assert "Loaded node '/launched/stereopsis'" in graph.said("launch")
