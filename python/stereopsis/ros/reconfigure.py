"""Describes the parameters of a node for the Server of dynamic_reconfigure, in place of the module that is generated from a .cfg
file.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from .parameters import Parameter

TYPES = {bool: "bool", int: "int", float: "double", str: "str"}
INT_LIMITS = -(2**31), 2**31 - 1  # limits of integers in the messages


class Description:
    """An object with the attributes that the Server expects of a generated module."""

    def __init__(self, parameters: Iterable[Parameter]) -> None:
        entries = [_entry(parameter) for parameter in parameters]
        self.config_description = {
            "name": "Default",
            "type": "",
            "state": True,
            "id": 0,
            "parent": 0,
            "parameters": entries,
            "groups": [],
        }
        self.min, self.max, self.defaults, self.level, self.type = (
            {entry["name"]: entry[what] for entry in entries} for what in ("min", "max", "default", "level", "type")
        )
        self.all_level = 0


def _entry(parameter: Parameter) -> dict[str, Any]:
    low, high = _limits(parameter)
    return {
        "name": parameter.name,
        "type": TYPES[type(parameter.default)],
        "default": parameter.default,
        "level": 0,
        "description": parameter.description,
        "min": low,
        "max": high,
        "edit_method": _choices(parameter),
    }


def _limits(parameter: Parameter) -> tuple[Any, Any]:
    """Returns the limits in the parameter's own type, as the messages require."""
    low, high = parameter.minimum, parameter.maximum
    if type(parameter.default) is float:
        return -math.inf if low is None else float(low), math.inf if high is None else float(high)
    if type(parameter.default) is int:
        least, most = INT_LIMITS
        return least if low is None else max(least, int(low)), most if high is None else min(most, int(high))
    return (False, True) if type(parameter.default) is bool else ("", "")


def _choices(parameter: Parameter) -> str:
    """Returns the description from which rqt_reconfigure makes a list of choices."""
    if not parameter.choices:
        return ""
    entries = [{"name": c, "type": "str", "value": c, "description": c} for c in parameter.choices]
    return repr({"enum": entries, "enum_description": parameter.description})
