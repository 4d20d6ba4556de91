"""Exceptions by category. Each class also derives from the built-in exception that a caller would expect."""

import builtins

__all__ = [
    "CalibrationWarning",
    "CallError",
    "DeviceError",
    "Error",
    "FileError",
    "FormatError",
    "KeywordError",
    "OutOfMemoryError",
    "OutputError",
    "PairWarning",
    "TruthWarning",
    "UnsupportedError",
]


class Error(Exception):
    """Base class of all errors. The message is one sentence, which states the fault with its value, the allowed values, and the remedy."""


class CallError(Error, ValueError):
    """An argument is not allowed: a parameter, a shape, a type or a name."""


class KeywordError(CallError, TypeError):
    """A function has no argument of the given name or type."""


class OutputError(CallError, AttributeError):
    """The result does not have an output, because it was not requested."""


class FileError(Error, OSError):
    """A file cannot be opened, read or written."""


class FormatError(Error, ValueError):
    """The contents of a file violate its format."""


class UnsupportedError(Error, RuntimeError):
    """The request is valid, but this build or this machine does not support it."""


class OutOfMemoryError(Error, builtins.MemoryError):
    """The host or a device does not have enough memory."""


class DeviceError(Error, RuntimeError):
    """A device failed or was lost."""


class CalibrationWarning(UserWarning):
    """A calibration file contradicts itself, or holds implausible values."""


class PairWarning(UserWarning):
    """A pair seems wrong: swapped, turned, not rectified, of different scenes or times, or the same picture twice."""


class TruthWarning(UserWarning):
    """A ground truth seems to have a wrong scale, sign, row order or byte order, or to contain 0 for unknown disparities."""
