"""The help and the colours of subcommands in Python, in the layout of src/command/help.cpp."""

import argparse
import os
import sys
import textwrap
from typing import Any, TextIO

COLUMN = 26  # column at which the explanations of options begin
LEAST_TEXT, USUAL, WIDEST = 24, 80, 100
STYLES = {"heading": "\x1b[1m", "name": "\x1b[36m", "error": "\x1b[1;31m"}

_color_output = "auto"


class ColorOutput(argparse.Action):
    """The option --color-output, which also holds for the help."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option_string: str | None = None) -> None:
        global _color_output
        _color_output = values


def styled(style: str, text: str, stream: TextIO) -> str:
    """Returns the text in a style, or unchanged if the stream is not coloured."""
    automatic = stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    coloured = automatic if _color_output == "auto" else _color_output == "always"
    return f"{STYLES[style]}{text}\x1b[0m" if coloured else text


def _width() -> int:
    columns = os.environ.get("COLUMNS", "")
    if columns.isdigit() and int(columns) > 0:
        return int(columns)
    try:
        return min(os.get_terminal_size(sys.stdout.fileno()).columns, WIDEST) or USUAL
    except (OSError, ValueError):
        return USUAL


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)


def _listing(heading: str, entries: list[tuple[str, str]], column: int = COLUMN) -> str:
    lines = [styled("heading", heading + ":", sys.stdout)]
    for name, text in entries:
        parts = _wrapped(text, max(_width() - column, LEAST_TEXT))
        shown = "  " + styled("name", name, sys.stdout)
        if not parts or len(name) + 4 > column:
            lines.append(shown)
        else:
            lines.append(shown + " " * (column - 2 - len(name)) + parts.pop(0))
        lines += [" " * column + part for part in parts]
    return "\n".join(lines) + "\n"


def _entries(group: argparse._ArgumentGroup) -> list[tuple[str, str]]:
    entries = []
    for action in group._group_actions:
        text = (action.help or "").replace("%%", "%")
        if isinstance(action, argparse._SubParsersAction):
            entries += [(choice.dest, choice.help or "") for choice in action._choices_actions]
        elif not action.option_strings:
            entries.append((str(action.metavar or action.dest), text))
        else:
            value = "" if action.nargs == 0 else f" {action.metavar or action.dest.upper()}"
            entries.append((", ".join(action.option_strings) + value, text))
    return entries


def _usage(parser: argparse.ArgumentParser) -> str:
    call = f"{parser.prog} [OPTION …]"
    for action in parser._actions:
        if not action.option_strings:
            name = f"{action.metavar or action.dest}" + (" …" if action.nargs in ("*", "+", argparse.PARSER) else "")
            call += f" [{name}]" if action.nargs in ("*", "?") else f" {name}"
    return f"{styled('heading', 'Usage:', sys.stdout)} {call}\n"


def format_help(parser: argparse.ArgumentParser) -> str:
    """Returns the help of a parser: description, usage, groups of arguments and options, and the epilog as it is."""
    titles = {"positional arguments": "Arguments", "options": "Options"}
    out = "\n".join(_wrapped(parser.description or "", _width())) + "\n" + _usage(parser)
    for group in parser._action_groups:
        entries = _entries(group)
        if entries:
            title = titles.get(group.title or "", group.title or "")
            column = COLUMN if any(action.option_strings for action in group._group_actions) else 16
            out += "\n" + _listing(title, entries, column)
    return out + (f"\n{parser.epilog.rstrip()}\n" if parser.epilog else "")
