"""Dense depth from two cameras, in real time.

>>> import stereopsis as st
>>> scene = st.synth("table", width=160, height=120, disparities=32)
>>> result = st.match(scene.left, scene.right, disparities=32)
>>> result.disparity.shape      # float32, pixels; NaN where invalid
(120, 160)
"""

import sys
import warnings
from typing import Any

from . import _keywords, _native, cv2, validity
from ._around import Around
from ._budget import BudgetChoice
from ._calibration import Calibrated, CalibrationView, calibrate, estimate_calibration, refine_calibration
from ._compare import compare
from ._datasets import evaluate_dataset
from ._errors import CalibrationWarning, CallError, DeviceError, Error, FileError, FormatError, KeywordError, OutOfMemoryError, OutputError, PairWarning, TruthWarning, UnsupportedError
from ._external import Method
from ._matching import BoundaryStripe, Matcher, choose_method, match, match_volume
from ._native import (
    Calibration,
    Camera,
    Device,
    DeviceArray,
    Ground,
    MethodInfo,
    Obstacle,
    Obstacles,
    PairReport,
    ParameterInfo,
    PartitionPlan,
    PosedCamera,
    Rectification,
    RegisteredDepth,
    Rig,
    RigNews,
    RigRefinement,
    RigTerm,
    RigTurn,
    RowAlignment,
    RowEstimate,
    ShutterDelay,
    Slot,
    Step,
    color_map,
    color_maps,
    devices,
    disparity_of_depth,
    fit_ground,
    moved_disparities,
    read_calibration,
    read_disparity,
    read_flow,
    read_pfm,
    read_points,
    read_pose,
    read_poses,
    register_depth,
    scene_names,
    seeds_of_points,
    simd_targets,
    use_simd,
    write_disparity,
    write_pfm,
    write_point_cloud,
)
from ._obstacles import obstacles
from ._pair_source import ImagePair, PairSource
from ._pipeline import Pipeline, methods, parameters, presets, stages
from ._program import ProgramMethod
from ._result import Explanation, Picture, Result
from ._run import LiveSource, Run, RunResult
from ._scenes import Scene, align_rows, check, estimate_row_alignment, evaluate, read_image, read_masked_image, synth, write_image
from ._stage import StageCall
from ._tracking import RigTracker
from .onnx import OnnxCost, OnnxMatcher

__version__ = _native.version

__all__ = [
    "Around",
    "BoundaryStripe",
    "BudgetChoice",
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
    "Ground",
    "ImagePair",
    "KeywordError",
    "LiveSource",
    "Matcher",
    "Method",
    "MethodInfo",
    "Obstacle",
    "Obstacles",
    "OnnxCost",
    "OnnxMatcher",
    "OutOfMemoryError",
    "OutputError",
    "PairReport",
    "PairSource",
    "PairWarning",
    "ParameterInfo",
    "PartitionPlan",
    "Picture",
    "Pipeline",
    "PosedCamera",
    "ProgramMethod",
    "Rectification",
    "RegisteredDepth",
    "Result",
    "Rig",
    "RigNews",
    "RigRefinement",
    "RigTerm",
    "RigTracker",
    "RigTurn",
    "RowAlignment",
    "RowEstimate",
    "Run",
    "RunResult",
    "Scene",
    "ShutterDelay",
    "Slot",
    "StageCall",
    "Step",
    "TruthWarning",
    "UnsupportedError",
    "__version__",
    "align_rows",
    "calibrate",
    "check",
    "choose_method",
    "color_map",
    "color_maps",
    "compare",
    "cv2",
    "devices",
    "disparity_of_depth",
    "estimate_calibration",
    "estimate_row_alignment",
    "evaluate",
    "evaluate_dataset",
    "fit_ground",
    "match",
    "match_volume",
    "methods",
    "moved_disparities",
    "obstacles",
    "parameters",
    "presets",
    "read_calibration",
    "read_disparity",
    "read_flow",
    "read_image",
    "read_masked_image",
    "read_pfm",
    "read_points",
    "read_pose",
    "read_poses",
    "refine_calibration",
    "register_depth",
    "scene_names",
    "seeds_of_points",
    "simd_targets",
    "stages",
    "synth",
    "use_simd",
    "validity",
    "write_disparity",
    "write_image",
    "write_pfm",
    "write_point_cloud",
]

_FORWARDS: dict[Any, list[str]] = {function: _keywords.names_of(Matcher.__init__) for function in (match, match_volume)}
_FORWARDS[choose_method] = [*_keywords.names_of(match), *_FORWARDS[match]]
for _module in (sys.modules[__name__], cv2):
    _keywords.name_the_nearest(_module, _FORWARDS)

_RENAMED = {"InStripes": "PartitionPlan", "PairCheck": "PairReport", "Stripe": "BoundaryStripe"}


def __getattr__(name: str) -> Any:
    """Returns the object that replaces a deprecated name, with a DeprecationWarning."""
    if name not in _RENAMED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    warnings.warn(f"stereopsis.{name} is deprecated; use stereopsis.{_RENAMED[name]}", DeprecationWarning, stacklevel=2)
    return globals()[_RENAMED[name]]
