"""Past one machine: large pairs, and many, in units of work that any engine can start, with the bits of the whole image.

`plan` writes a job's manifest, `run_all` and `run_unit` make its units, `Status` tells how far they are, `merge` puts them together; the
command is `stereopsis scale`. What a unit needs of others are files in the job's folder, so that workers share a folder and nothing else.
"""

from .manifest import Job, Manifest, Unit
from .merging import Status, merge
from .planning import Settings, plan
from .running import Options, run_all
from .work import run_unit

__all__ = ["Job", "Manifest", "Options", "Settings", "Status", "Unit", "merge", "plan", "run_all", "run_unit"]
