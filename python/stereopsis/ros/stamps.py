"""Converts the times of messages to nanoseconds."""

from __future__ import annotations

from typing import Any


def nanoseconds(time: Any) -> int:
    """Returns the nanoseconds of ROS 1's (secs, nsecs) or ROS 2's (sec, nanosec)."""
    if hasattr(time, "nanosec"):
        return int(time.sec) * 10**9 + int(time.nanosec)
    return int(time.secs) * 10**9 + int(time.nsecs)


def stamp_of(message: Any) -> int:
    return nanoseconds(message.header.stamp)


def shown(stamp: int) -> str:
    """Returns the seconds as text, without rounding."""
    sign = "-" if stamp < 0 else ""
    return f"{sign}{abs(stamp) // 10**9}.{abs(stamp) % 10**9:09d}"
