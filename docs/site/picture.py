"""The picture of accuracy against time, and its table, from what was measured (docs/measured/*.json)."""

import html
import json
import sys
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

DOCS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(DOCS))
import accuracy_time  # noqa: E402


class AccuracyTime(SphinxDirective):
    """{accuracy-time} FILE.json: the picture, in the page's own colours."""

    required_arguments = 1

    def run(self):
        file = DOCS / self.arguments[0]
        self.env.note_dependency(str(file))
        svg = accuracy_time.draw(accuracy_time.dots(file))
        return [nodes.raw("", f'<figure class="chart">{svg}</figure>', format="html")]


class MeasuredMethods(SphinxDirective):
    """{measured-methods} FILE.json: a row for each program, the fastest first; columns sort by a click."""

    required_arguments = 1

    def run(self):
        file, errors = DOCS / self.arguments[0], DOCS / "measured/errors.json"
        for read in (file, errors):
            self.env.note_dependency(str(read))
        times, methods = json.loads(file.read_text())["ms"], json.loads(errors.read_text())["methods"]
        rows = sorted((ms, name, methods[name]) for name, ms in times.items() if name in methods)
        body = "".join(self.row(*r) for r in rows)
        head = "".join(f'<th scope="col">{text}</th>' for text in ("", "ms", "bad 1.0, mean", "Middlebury v2", "KITTI 2015 D1", "roads D1"))
        table = f'<div class="table-wrapper"><table class="docutils"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
        return [nodes.raw("", table, format="html")]

    @staticmethod
    def row(ms, name, errors):
        def number(value, decimals):
            return "–" if value is None else f"{value:.{decimals}f}"

        d1 = errors["datasets"].get("kitti2015", {}).get("d1")
        cells = [f"{ms:.3g}", number(errors["bad1.0"], 1), number(errors["average_of_12"], 2), number(d1, 2),
                 number(errors.get("roads_d1"), 2)]
        name = html.escape(accuracy_time.title(name))
        name = name if errors["peer"] else f"<strong>{name}</strong>"
        return f'<tr><td>{name}</td>{"".join(f"<td>{c}</td>" for c in cells)}</tr>'
