"""Groups units in levels: all units of a level can run at the same time."""

from collections.abc import Sequence

from .manifest import Job, Unit


def shares(job: Job, todo: Sequence[Unit]) -> list[list[Unit]]:
    """Returns the levels of the job, reduced to the units in `todo`."""
    wanted = {unit.number for unit in todo}
    levels = ([unit for unit in level if unit.number in wanted] for level in job.manifest.levels())
    return [level for level in levels if level]


def memory_of(units: Sequence[Unit]) -> int:
    """Returns the memory of the largest unit, in MiB."""
    return -(-max(unit.memory for unit in units) // 2**20)


def ranges(numbers: Sequence[int]) -> str:
    """Returns numbers as text, with ranges of consecutive numbers.

    >>> ranges([0, 1, 2, 5, 7, 8])
    '0-2,5,7-8'
    """
    spans: list[list[int]] = []
    for number in sorted(numbers):
        if spans and spans[-1][1] == number - 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ",".join(f"{a}-{b}" if b > a else f"{a}" for a, b in spans)
