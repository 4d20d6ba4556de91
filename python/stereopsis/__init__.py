"""Dense depth from two cameras, in real time.

>>> import stereopsis as st
>>> scene = st.synth("table", width=160, height=120, disparities=32)
>>> result = st.match(scene.left, scene.right, disparities=32)
>>> result.disparity.shape      # float32, pixels; NaN where invalid
(120, 160)
"""

import warnings
from typing import Any

from . import _native, cv2, validity
from ._calibration import Calibrated, CalibrationView, calibrate
from ._errors import CalibrationWarning, CallError, DeviceError, Error, FileError, FormatError, OutOfMemoryError, PairWarning, TruthWarning, UnsupportedError
from ._matching import BoundaryStripe, Matcher, match, match_volume
from ._native import (
    Calibration,
    Camera,
    Device,
    DeviceArray,
    MethodInfo,
    PairReport,
    ParameterInfo,
    PartitionPlan,
    PosedCamera,
    Rectification,
    RegisteredDepth,
    Rig,
    Slot,
    Step,
    devices,
    read_calibration,
    read_disparity,
    read_pfm,
    register_depth,
    scene_names,
    write_disparity,
    write_pfm,
)
from ._pipeline import Pipeline, methods, parameters, presets, stages
from ._result import Explanation, Picture, Result
from ._scenes import Scene, check, evaluate, read_image, synth
from ._stage import StageCall

__version__ = _native.version

__all__ = [
    "BoundaryStripe",
    "Calibrated",
    "Calibration",
    "CalibrationView",
    "CalibrationWarning",
    "CallError",
    "Camera",
    "Device",
    "DeviceArray",
    "DeviceError",
    "Error",
    "Explanation",
    "FileError",
    "FormatError",
    "Matcher",
    "MethodInfo",
    "OutOfMemoryError",
    "PairReport",
    "PairWarning",
    "ParameterInfo",
    "PartitionPlan",
    "Picture",
    "Pipeline",
    "PosedCamera",
    "Rectification",
    "RegisteredDepth",
    "Result",
    "Rig",
    "Scene",
    "Slot",
    "StageCall",
    "Step",
    "TruthWarning",
    "UnsupportedError",
    "__version__",
    "calibrate",
    "check",
    "cv2",
    "devices",
    "evaluate",
    "match",
    "match_volume",
    "methods",
    "parameters",
    "presets",
    "read_calibration",
    "read_disparity",
    "read_image",
    "read_pfm",
    "register_depth",
    "scene_names",
    "stages",
    "synth",
    "validity",
    "write_disparity",
    "write_pfm",
]

_RENAMED = {"InStripes": "PartitionPlan", "PairCheck": "PairReport", "Stripe": "BoundaryStripe"}


def __getattr__(name: str) -> Any:
    """Returns the object that replaces a deprecated name, with a DeprecationWarning."""
    if name not in _RENAMED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    warnings.warn(f"stereopsis.{name} is deprecated; use stereopsis.{_RENAMED[name]}", DeprecationWarning, stacklevel=2)
    return globals()[_RENAMED[name]]
