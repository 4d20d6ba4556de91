"""Matches large images and many pairs on many machines, in units of work. The result is equal, bit for bit, to the result for the whole
image.

`plan` writes a job's manifest, `run_all` and `run_unit` compute its units, `Status` counts the finished ones, and `merge` joins their
results. The command is `stereopsis scale`. Units pass results to each other in files of the job's folder, so workers share only a folder.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .manifest import Job, Manifest, Unit
    from .merging import Status, merge
    from .options import Options
    from .planning import plan
    from .running import run_all
    from .settings import Settings
    from .work import run_unit

__all__ = ["Job", "Manifest", "Options", "Settings", "Status", "Unit", "merge", "plan", "run_all", "run_unit"]

_MODULES = {
    "manifest": ("Job", "Manifest", "Unit"),
    "merging": ("Status", "merge"),
    "options": ("Options",),
    "planning": ("plan",),
    "running": ("run_all",),
    "settings": ("Settings",),
    "work": ("run_unit",),
}


def __getattr__(name: str) -> Any:
    """Imports a name on first use, so that `stereopsis scale --help` stays fast and needs no other package."""
    for module, names in _MODULES.items():
        if name in names:
            return getattr(importlib.import_module(f".{module}", __name__), name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
