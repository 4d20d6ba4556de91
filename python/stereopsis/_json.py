"""Parses JSON from files and web pages."""

import json
from typing import Any

from . import _native
from ._errors import FormatError


def parsed(text: str | bytes, name: str) -> Any:
    """Returns the value that the JSON text describes. Raises FormatError if the text is not JSON or is nested too deeply. The message
    begins with `name`.
    """
    try:
        decoded = text.decode() if isinstance(text, bytes) else text
        _native.check_json_depth(decoded)
        return json.loads(decoded)
    except FormatError as error:
        raise FormatError(f"{name} cannot be read: {error}") from None
    except ValueError as error:
        raise FormatError(f"{name} is not valid JSON: {error}; correct it") from error
