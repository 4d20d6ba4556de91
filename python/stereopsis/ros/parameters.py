"""The parameters of a node that can change while it runs: the search range, the form of the results, and all parameters of the
pipeline.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from .._errors import CallError
from .._matching import Matcher
from .._native import ParameterInfo
from .._pipeline import Pipeline, value_of
from .processor import Matching
from .results import Shape

Value = bool | int | float | str
LARGEST_RANGE = 1 << 15
WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}


@dataclass(frozen=True)
class Parameter:
    """A parameter of a node. `pipeline` is the name of the parameter in the pipeline, such as "optimisation.p1"; None for the parameters of
    the node itself.
    """

    name: str
    default: Value
    description: str
    minimum: float | None = None
    maximum: float | None = None
    step: float = 0.0
    choices: tuple[str, ...] = ()
    pipeline: str | None = None


NODE = (
    Parameter("min_disparity", 0, "the least disparity that is searched, pixels", -LARGEST_RANGE, LARGEST_RANGE, 1),
    Parameter("disparity_range", 64, "number of disparities that are searched, pixels; 0: the range is estimated from the first pair", 0, LARGEST_RANGE, 1),
    Parameter("invalid_is_nan", False, "invalid disparities are NaN; else min_disparity − 1"),
    Parameter("depth_in_millimetres", False, "depth is 16UC1 in millimetres; else 32FC1 in metres"),
    Parameter("organised_cloud", True, "points2 has the image's rows and columns; else the valid points alone"),
    Parameter("use_color", True, "points2 has the left image's colours"),
    Parameter("fill_depth", False, "depth and points2 contain filled and repaired pixels, too; else measured ones"),
    Parameter("measured_only", False, "filled and repaired disparities are invalid, too"),
)


def parameters_of(pipeline: Pipeline, separator: str) -> list[Parameter]:
    """Returns all parameters. `separator` stands between a slot and its parameter; it is "." if this ROS allows dots in names."""
    return [*NODE, *(_of(info, separator) for info in pipeline.parameters())]


def _of(info: ParameterInfo, separator: str) -> Parameter:
    value = value_of(info.value, info.type)
    description = " ".join(part for part in (info.description, f"[{info.unit}]" if info.unit else "") if part)
    return Parameter(
        info.name.replace(".", separator),
        value if isinstance(value, (bool, int, float)) else info.value,
        f"{description}; {info.allowed}",
        info.minimum,
        info.maximum,
        info.step,
        tuple(info.choices),
        info.name,
    )


def checked(parameter: Parameter, value: Any) -> Value:
    """Converts a value, which ROS does not check, to the type of the parameter. Raises CallError for a value that is not allowed;
    the pipeline checks values of its own parameters.
    """
    kind = type(parameter.default)
    given: Value = float(value) if kind is float and type(value) is int else value
    if parameter.name == "align_rows" and not isinstance(value, str):  # YAML reads off as False, and 0.3 as a number
        given = "off" if value is False else str(value)
    if type(given) is not kind:
        raise CallError(f"{parameter.name} is {value!r}; it must be {WORDS[kind]}")
    if parameter.pipeline is None:
        low, high = parameter.minimum, parameter.maximum
        if low is not None and high is not None and not low <= float(given) <= high:
            raise CallError(f"{parameter.name} is {value!r}; it must be from {low:g} to {high:g}")
        if parameter.choices and given not in parameter.choices:
            raise CallError(f"{parameter.name} is {value!r}; it must be one of {', '.join(parameter.choices)}")
    return given


def applied(
    values: Mapping[str, Any], parameters: list[Parameter], matching: Matching, shape: Shape
) -> tuple[Matching, Shape]:
    """Returns the settings with these values. Raises CallError for a value that is not allowed, and then changes nothing."""
    given = {p.pipeline: values[p.name] for p in parameters if p.pipeline is not None and p.name in values}
    pipeline = matching.pipeline.copy().update(given)
    fill_depth = bool(values.get("fill_depth", matching.fill_depth))
    changed = replace(matching, pipeline=pipeline, disparities=_range(values, matching), near_far=None, fill_depth=fill_depth)
    Matcher(pipeline=pipeline, disparities=changed.disparities or (0, 64), device="cpu").explain()  # rejects settings that match no pair
    return (
        changed,
        replace(
            shape,
            invalid_is_nan=bool(values.get("invalid_is_nan", shape.invalid_is_nan)),
            millimetres=bool(values.get("depth_in_millimetres", shape.millimetres)),
            organised=bool(values.get("organised_cloud", shape.organised)),
            coloured=bool(values.get("use_color", shape.coloured)),
            measured_only=bool(values.get("measured_only", shape.measured_only)),
        ),
    )


def _range(values: Mapping[str, Any], matching: Matching) -> tuple[int, int] | None:
    """Returns the search range; None if it is to be estimated."""
    first, end = matching.disparities or (0, 0)
    least, count = int(values.get("min_disparity", first)), int(values.get("disparity_range", end - first))
    if count == 0 and least != 0:
        raise CallError(f"min_disparity is {least}, but disparity_range 0 estimates the whole range; set min_disparity to 0, or give a range")
    return (least, least + count) if count else None


def at_start(rectify: bool) -> tuple[Parameter, ...]:
    """The parameters that both nodes read only when they start; `rectify` is the default."""
    return (
        Parameter("method", "sgm", "a name of `stereopsis methods`, onnx:FILE, or program:'CMD {left} {right} {out}'"),
        Parameter("pipeline", "", "a file of pipeline JSON, in place of a method"),
        Parameter("device", "auto", "auto, cpu, cuda[:N] or opencl[:N]"),
        Parameter("threads", 0, "of the CPU; 0: all", 0, 1024, 1),
        Parameter("align_rows", "auto", "auto: the rows of each right image are aligned if they differ; off; OFFSET[,ROLL[,ZOOM[,KEYSTONE]]] in pixels"),
        Parameter("track_rig", "", "a file (.yml) for the calibration of a rig that moves: its rotation is corrected from the pairs, and written at the end"),
        Parameter("seed_previous", False, "the disparities of the pair before guide each pair, which reduces flicker"),
        Parameter("seeds", "none", "contents of the topic seeds: disparities or depth of the rectified left image, known beforehand", choices=("none", "disparity", "depth")),
        Parameter("rectify", rectify, "the images are raw: rectify them by camera_info"),
        Parameter("image_transport", "raw", "transport of the images", choices=("raw", "compressed")),
        Parameter("left_mask", "", "an image file: 255 for the pixels of the left images that are used, 0 for others"),
        Parameter("right_mask", "", "as left_mask, for the right images"),
        Parameter("register_to", "", "depth_registered is sent too, as this camera sees it: a file, or raw for left/image_raw"),
        Parameter("register_frame", "", "frame_id of depth_registered; raw: that of the left images"),
        Parameter("approximate_sync", False, "stamps of a pair may differ"),
        Parameter("approximate_sync_tolerance_seconds", 0.01, "by so much", 0.0, 10.0),
        Parameter("queue_size", 5, "messages of a topic that wait for the others'", 1, 1000, 1),
    )
