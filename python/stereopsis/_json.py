"""Reads JSON that comes from files and pages."""

from __future__ import annotations

import json
from typing import Any

from ._errors import FormatError


def parsed(text: str | bytes, name: str) -> Any:
    """The value. Raises FormatError, whose sentence begins with `name`, where the text is no JSON or is nested too deeply."""
    try:
        return json.loads(text)
    except RecursionError:
        raise FormatError(f"{name} is nested too deeply: its brackets lie hundreds of levels inside one another; correct it") from None
    except ValueError as error:
        raise FormatError(f"{name} is no JSON: {error}; correct it") from error
