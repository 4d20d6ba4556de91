"""Extracts the prose of a file: comments, docstrings, help texts and Markdown, one `Unit` for each."""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass

C_LIKE = ("c", "cc", "cpp", "cu", "cuh", "cl", "h", "hpp", "js")
HASH = ("awk", "cfg", "cmake", "in", "sh", "toml", "yaml", "yml")
MARKERS = re.compile(
    r"""\W*(?:NOLINT|IWYU|clang-format|namespace\b|fmt:|noqa|ruff:|type:|mypy:|pylint|eslint|shellcheck|vim:|!|region\b|endregion\b"""
    r"""|(?:begin|end)\W*$|prettier|syntax=|codespell:|coding[:=])""",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Unit:
    """A piece of prose: its file, first line, kind, text, and whether it follows code on its line."""

    file: str
    line: int
    kind: str  # "comment", "docstring", "help" or "markdown"
    text: str
    trailing: bool = False


@dataclass(frozen=True)
class Comment:
    """One line of a comment; `column` is where the comment starts, `alone` is False behind code."""

    line: int
    column: int
    text: str
    alone: bool


def extract(file: str, source: str) -> list[Unit]:
    """Returns the units of `file`, whose language follows from its name or its first line."""
    name = file.rsplit("/", 1)[-1]
    extension = name.rsplit(".", 1)[-1] if "." in name else ""
    first = source.split("\n", 1)[0]
    if extension in C_LIKE or name.endswith(".hpp.in"):
        found = list(_grouped(file, _c_comments(source)))
        if file.startswith(("apps/", "src/command/")):
            return found + list(_last_texts(file, source, "help", C_HELP))
        return found + list(_last_texts(file, source, "docstring", C_BINDING)) if file.startswith("python/src/") else found
    if extension == "py" or (first.startswith("#!") and "python" in first):
        return list(_python(file, source))
    if extension == "md":
        return list(_markdown(file, source))
    if extension == "ipynb":
        return list(_notebook(file, source))
    if extension in HASH or name == "CMakeLists.txt" or (first.startswith("#!") and "sh" in first):
        return list(_grouped(file, _hash_comments(source)))
    return []


def _grouped(file: str, comments: list[Comment]) -> Iterator[Unit]:
    """Joins lines of comments that continue each other: own lines in a row, or lines below a trailing comment in its column."""
    group: list[Comment] = []
    for comment in [*comments, Comment(-9, 0, "", True)]:
        if MARKERS.match(comment.text):
            comment = Comment(comment.line, comment.column, "", comment.alone)
        follows = bool(group) and comment.alone and comment.line == group[-1].line + 1 and comment.column == group[-1].column
        if group and not follows:
            text = "\n".join(c.text for c in group)
            if text.strip():
                yield Unit(file, group[0].line, "comment", text, not group[0].alone)
            group = []
        group.append(comment)


# Strings come first, so that a comment's marker inside of one is not seen as a comment.
C_TOKEN = re.compile(
    r"""R"(?P<delimiter>[^\s()\\]{0,16})\(.*?\)(?P=delimiter)"|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])*'"""
    r"""|`(?:\\.|[^`\\])*`|(?P<line>//[^\n]*)|(?P<block>/\*.*?\*/)""",
    re.DOTALL,
)


def _c_comments(source: str) -> list[Comment]:
    found, line, counted = [], 1, 0
    for match in C_TOKEN.finditer(source):
        line, counted = line + source.count("\n", counted, match.start()), match.start()
        start = source.rfind("\n", 0, match.start()) + 1
        column, alone = match.start() - start, not source[start : match.start()].strip()
        if match["line"]:
            found.append(Comment(line, column, re.sub(r"^//[/!]*<?", "", match["line"]), alone))
        elif match["block"]:
            for i, text in enumerate(match["block"][2:-2].split("\n")):
                found.append(Comment(line + i, column, re.sub(r"^[*!]+<?" if i == 0 else r"^\s*\*?", "", text), alone or i > 0))
    return found


# A call that adds an option or a subcommand; its last string is the help.
C_HELP = re.compile(r"\b(?:\.\s*(?:text|path|integer|number|list|flag|footer|group)|Command command)\s*\(")
# A call that binds a function, a property or a class to Python; its last string is the docstring.
C_BINDING = re.compile(r"\.\s*def(?:_\w+)?\s*\(|\bnb::(?:class_|enum_)<[^()]*?>\s*\(|\.\s*value\s*\(")


def _last_texts(file: str, source: str, kind: str, calls: re.Pattern[str]) -> Iterator[Unit]:
    """Yields the last argument of each call that is a text with more than one word."""
    for match in calls.finditer(source):
        depth, place, texts, last = 1, match.end(), [], ""
        for token in re.finditer(r'"((?:\\.|[^"\\\n])*)"(_a\b)?|//[^\n]*|[(){}]|,', source[place:]):
            depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(token[0], 0)
            if depth == 0:
                break
            if token[1] is not None and token[2] is None and depth == 1:
                texts.append(token[1])
            elif token[0] == "," and depth == 1:
                last, texts = "".join(texts) or last, []
        text = "".join(texts) or last
        if " " in text:
            yield Unit(file, source.count("\n", 0, match.start()) + 1, kind, text.replace(r"\n", "\n").replace(r"\"", '"'))


def _hash_comments(source: str) -> list[Comment]:
    """Returns the comments of a language whose comments start with #, outside of quotes and here-documents."""
    found, end_of_document = [], None
    for number, line in enumerate(source.split("\n"), 1):
        if end_of_document:
            end_of_document = None if line.strip() == end_of_document else end_of_document
            continue
        document = re.search(r"""<<-?\s*(['"]?)([A-Z]\w*)\1""", line)
        end_of_document = document[2] if document else None
        match = re.match(r"""((?:[^'"#\\]|\\.|'[^']*'|"(?:\\.|[^"\\])*"|(?<=[^\s])#)*?)((?:^|(?<=\s))#+ ?)(.*)""", line)
        if match and not line.startswith("#!"):
            found.append(Comment(number, len(match[1]), match[3], not match[1].strip()))
    return found


def _python(file: str, source: str) -> Iterator[Unit]:
    comments = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT:
                text = token.string.lstrip("#")
                comments.append(Comment(token.start[0], token.start[1], text, not token.line[: token.start[1]].strip()))
        tree = ast.parse(source)
    except (SyntaxError, tokenize.TokenError) as error:
        raise SystemExit(f"prose: {file} is not valid Python: {error}") from None
    yield from _grouped(file, comments)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            text = ast.get_docstring(node)
            if text:
                yield Unit(file, node.body[0].lineno, "docstring", text)
    if file.startswith("python/stereopsis/"):
        yield from _python_help(file, tree)


def _python_help(file: str, tree: ast.AST) -> Iterator[Unit]:
    """Yields `help=` and `description=` of calls, and a subcommand's module variable `help`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg in ("help", "description", "epilog"):
            value = node.value
        elif isinstance(node, ast.Assign) and [t.id for t in node.targets if isinstance(t, ast.Name)] == ["help"]:
            value = node.value
        else:
            continue
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            yield Unit(file, value.lineno, "help", value.value)


def _markdown(file: str, source: str) -> Iterator[Unit]:
    """Yields paragraphs, headings, list items and table cells; code, math and link targets are left out."""
    fence, group, start = None, [], 0
    lines = source.split("\n")
    for number, line in enumerate([*lines, ""], 1):
        mark = re.match(r"\s*(```+|~~~+|:::+|\$\$)", line)
        if fence is None and mark or fence and line.strip().startswith(fence):
            fence = mark[1] if fence is None and mark else None
            line = ""
        elif fence:
            continue
        is_cell_row, begins = line.lstrip().startswith("|"), re.match(r"\s*(?:[-*+] |\d+\. |#+ |> )", line)
        if group and (not line.strip() or is_cell_row or begins):
            yield Unit(file, start, "markdown", _plain("\n".join(group)))
            group = []
        if is_cell_row and not re.fullmatch(r"[\s|:-]*", line):
            for cell in re.split(r"(?<!\\)\|", line.strip().strip("|")):
                if " " in cell.strip():
                    yield Unit(file, number, "markdown", _plain(cell), True)
        elif line.strip() and not is_cell_row and not re.match(r"\s*(?:<|\[[^\]]+\]:)", line):
            start = start if group else number
            group.append(line)


def _plain(text: str) -> str:
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"^\s*(?:[-*+] |\d+\. |> )", "", text)
    return re.sub(r"\*\*?|\\(?=[<>|])|\{\w+\}", "", text)


def _notebook(file: str, source: str) -> Iterator[Unit]:
    """Yields the cells' prose; lines are counted within the file, at the first line of the cell's source."""
    place = 0
    for cell in json.loads(source)["cells"]:
        text = "".join(cell["source"])
        place = max(source.find('"source"', place + 1), 0)
        line = source.count("\n", 0, place) + 2
        made = _markdown(file, text) if cell["cell_type"] == "markdown" else _grouped(file, _hash_comments(text))
        for unit in made:
            yield Unit(file, line + unit.line - 1, unit.kind, unit.text, unit.trailing)
