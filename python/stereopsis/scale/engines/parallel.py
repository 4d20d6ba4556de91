"""Runs units with GNU parallel: one call for each level of units."""

import shlex
import subprocess

from ..._errors import UnsupportedError
from ..levels import shares
from ..manifest import Job, Unit
from ..options import OnUnitDone, Options, command, common_words
from ..work import not_made


def run(job: Job, todo: list[Unit], options: Options, on_unit_done: OnUnitDone) -> None:
    """Runs the units. Raises Error if units are missing afterwards."""
    for level in shares(job, todo):
        words = ["parallel", "--will-cite", f"--jobs={options.workers or 1}", f"--retries={options.retries + 1}"]
        called = shlex.join(command(job.folder, *common_words(options)))  # GNU parallel passes its arguments to a shell
        words += [f"{called} --quiet --unit {{}}", ":::", *(str(unit.number) for unit in level)]
        try:
            subprocess.run(words, check=False)
        except FileNotFoundError as error:
            raise UnsupportedError("GNU parallel is not installed on this machine; install it, or use another --engine") from error
        if (failed := not_made(job, level)) is not None:
            raise failed
        for unit in level:
            on_unit_done(unit)
