"""The module cv2 of the environment, which is optional."""

import importlib
from functools import reduce
from typing import Any

from ._errors import UnsupportedError

INSTALL = "run: python -m pip install -U 'opencv-python-headless>=4.7'"


def opencv(purpose: str, *needed: str) -> Any:
    """Returns the module cv2. Raises UnsupportedError if it cannot be imported, or lacks a name that the purpose needs."""
    try:
        cv2 = importlib.import_module("cv2")
    except ImportError as missing:
        raise UnsupportedError(f"{purpose} requires OpenCV, and cv2 cannot be imported ({missing}); {INSTALL}") from missing
    for name in needed:
        try:
            reduce(getattr, name.split("."), cv2)
        except AttributeError as missing:
            raise UnsupportedError(f"{purpose} requires cv2.{name}, which OpenCV {cv2.__version__} lacks; {INSTALL}") from missing
    return cv2
