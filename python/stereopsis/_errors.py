"""Exceptions by category; each also derives from the built-in exception that a caller would expect."""

import builtins

__all__ = [
    "CallError",
    "DeviceError",
    "Error",
    "FileError",
    "FormatError",
    "OutOfMemoryError",
    "PairWarning",
    "UnsupportedError",
]


class Error(Exception):
    """Base of all. Its text is one sentence: what, which value, what is allowed, what to do."""


class CallError(Error, ValueError):
    """Something was asked for that is not allowed: a parameter, a shape, a type, a name."""


class FileError(Error, OSError):
    """A file can't be opened, read or written."""


class FormatError(Error, ValueError):
    """A file's contents are not what its format requires."""


class UnsupportedError(Error, RuntimeError):
    """A correct request that this build or this machine can't serve."""


class OutOfMemoryError(Error, builtins.MemoryError):
    """The host or a device has not enough memory."""


class DeviceError(Error, RuntimeError):
    """A device failed or went away."""


class PairWarning(UserWarning):
    """A pair does not look like one: swapped, not rectified, of two scenes, or one picture twice."""
