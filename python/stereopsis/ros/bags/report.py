"""Reports the contents of a bag and the results of a run, as text and as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ... import _native
from ..._errors import CallError
from ..._rows import summary_of as rows_summary_of
from ..stamps import shown
from .discovery import found, is_raw
from .reading import Bag
from .recording import Recording


def listing(path: Path, left: str | None, right: str | None) -> str:
    """Returns a text with the topics of a bag and the topics of the pair."""
    with Bag(path) as bag:
        rows = [(topic.name, topic.type, str(topic.count)) for topic in sorted(bag.topics.values(), key=lambda t: t.name)]
        widths = [max((len(row[i]) for row in rows), default=0) for i in range(3)]
        lines = [f"{a:<{widths[0]}}  {b:<{widths[1]}}  {c:>{widths[2]}}" for a, b, c in rows]
        try:
            topics = found({name: topic.type for name, topic in bag.topics.items()}, left, right)
        except CallError as none:
            return "\n".join([*lines, "", f"pair: {none}"])
        state = "raw: to be rectified by camera_info" if is_raw(topics.left) and None not in topics.infos else "rectified"
        infos = " and ".join(str(info) for info in topics.infos) if None not in topics.infos else "none"
        lines += ["", f"pair: {topics.left} and {topics.right} ({state})", f"camera_info: {infos}"]
        return "\n".join([*lines, bag.damage] if bag.damage else lines)


def report_of(recording: Recording, pairs: int, failed: int, rows: list[dict[str, object]]) -> dict[str, Any]:
    """Returns the counts of a run. `topics` has the counts of TopicCount for each image topic, with times in seconds; `left_out` is the
    number of pairs without a result; `rows` are those of each pair, in order.
    """
    topics = {
        name: {
            "messages": count.messages,
            "paired": count.paired,
            "alone": count.alone,
            "repeated": count.repeated,
            "jumps_back": count.jumps_back,
            "largest_gap": count.largest_gap / 1e9,
            "gap_after": None if count.gap_after is None else shown(count.gap_after),
        }
        for name, count in recording.counts.items()
    }
    return {
        "bag": str(recording.bag.path),
        "damage": recording.bag.damage or None,
        "raw": recording.raw,
        "pairs": pairs,
        "left_out": failed,
        "topics": topics,
        "rows": rows,
        "warnings": dict(recording.notes.counts),
    }


def summary_of(report: dict[str, Any]) -> list[str]:
    lines = [f"{report['pairs']} pairs" + (f", and {report['left_out']} left out" if report["left_out"] else "")]
    for name, count in report["topics"].items():
        line = f"{name}: {count['messages']} messages, {count['alone']} without a partner"
        if count["gap_after"] is not None:
            line += f", the largest gap {count['largest_gap']:.3f} s after {count['gap_after']}"
        if count["jumps_back"]:
            line += f", {count['jumps_back']} stamps that jump back"
        lines.append(line)
    lines += [line for line in [rows_summary_of(report["rows"])] if line]
    lines += [f"{kind}: {count} times" for kind, count in report["warnings"].items() if count > 1]
    return lines


def write_report(path: Path, report: dict[str, Any]) -> None:
    _native.write_bytes(path, (json.dumps(report, indent=1) + "\n").encode())
