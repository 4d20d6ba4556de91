"""Live parameters of the nodes, without a ROS."""

import re
import subprocess
import sys

import pytest
import stereopsis as st
from stereopsis.ros.parameters import Parameter, applied, at_start, checked, parameters_of
from stereopsis.ros.processor import Matching
from stereopsis.ros.reconfigure import Description
from stereopsis.ros.results import Shape


@pytest.mark.parametrize("method", [method.name for method in st.methods()])
def test_every_method_is_described_for_dynamic_reconfigure(method):
    parameters = parameters_of(st.Pipeline(method), "_")
    names = [parameter.name for parameter in parameters]
    assert len(set(names)) == len(names) and all(re.fullmatch("[a-zA-Z]\\w*", name) for name in names)
    made = Description(parameters)
    for entry in made.config_description["parameters"]:
        kind = {"bool": bool, "int": int, "double": float, "str": str}[entry["type"]]
        assert {type(entry["default"]), type(entry["min"]), type(entry["max"])} == {kind} and entry["description"]
        if kind is not str:
            assert entry["min"] <= entry["default"] <= entry["max"], entry["name"]


@pytest.mark.parametrize(
    "value, said",
    [(True, "must be a whole number"), ("4", "must be a whole number"), (0, "must be from 1 to 9"), (10, "must be from 1 to 9")],
)
def test_a_value_of_another_type_or_out_of_range_is_refused(value, said):
    with pytest.raises(st.CallError, match=f"queue is {value!r}; it {said}"):
        checked(Parameter("queue", 5, "so many", 1, 9, 1), value)


def test_a_whole_number_serves_for_a_real_one():
    assert type(checked(Parameter("seconds", 0.5, "so long", 0, 9), 2)) is float
    (rows,) = (parameter for parameter in at_start(True) if parameter.name == "align_rows")
    assert [checked(rows, value) for value in ("auto", False, 0.25, "0.3,1")] == ["auto", "off", "0.25", "0.3,1"]
    with pytest.raises(st.CallError, match="one of raw, compressed"):
        checked(Parameter("transport", "raw", "how", choices=("raw", "compressed")), "theora")


def test_what_no_pair_could_be_matched_by_changes_nothing():
    matching = Matching(st.Pipeline("sgm"), disparities=(0, 64))
    parameters = parameters_of(matching.pipeline, "_")
    with pytest.raises(st.CallError, match="above sgm.p2"):
        applied({"optimisation_p1": 4000}, parameters, matching, Shape())
    changed, _ = applied({"optimisation_p1": 5, "min_disparity": -8}, parameters, matching, Shape())
    assert changed.disparities == (-8, 56) and changed.pipeline.get("optimisation.p1") == 5
    assert matching.pipeline == st.Pipeline("sgm")
    assert not changed.fill_depth
    assert applied({"disparity_range": 0}, parameters, matching, Shape())[0].disparities is None  # estimated
    with pytest.raises(st.CallError, match="set min_disparity to 0"):
        applied({"disparity_range": 0}, parameters, changed, Shape())
    changed, shape = applied({"fill_depth": True, "measured_only": True}, parameters, changed, Shape())
    assert changed.fill_depth and shape.measured_only


STAND_IN = "m = types.ModuleType('{0}'); m.init = m.init_node = m.create_node = lambda *_: None; sys.modules['{0}'] = m; "


@pytest.mark.parametrize(
    "node, there, lacks",
    [("node1", None, "rospy"), ("node2", None, "rclpy"), ("node2", "rclpy", "rcl_interfaces")],
)
def test_a_node_without_ros_says_so(node, there, lacks):
    program = "import sys, types; " + (STAND_IN.format(there) if there else "")
    program += f"sys.modules['{lacks}'] = None; from stereopsis.ros.{node} import main; main()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("stereopsis: ") and f"has no {lacks}" in done.stderr and done.stderr.count("\n") == 1
