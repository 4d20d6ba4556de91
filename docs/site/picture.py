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
        svg = accuracy_time.draw(accuracy_time.dots([file]), themed=True)
        return [nodes.raw("", f'<figure class="chart">{svg}</figure>', format="html")]


class MeasuredMethods(SphinxDirective):
    """{measured-methods} FILE.json: a row for each program, the fastest first; columns sort by a click."""

    required_arguments = 1

    def run(self):
        file = DOCS / self.arguments[0]
        self.env.note_dependency(str(file))
        measured = json.loads(file.read_text())
        rows = sorted(measured["results"], key=lambda r: (r["ms_per_megapixel"] is None, r["ms_per_megapixel"] or 0))
        body = "".join(self.row(r) for r in rows)
        head = "".join(f'<th scope="col">{text}</th>' for text in ("", "ms per megapixel", "bad 1.0, mean", "Middlebury v2", "KITTI 2015 D1"))
        table = f'<div class="table-wrapper"><table class="docutils"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
        return [nodes.raw("", table, format="html")]

    @staticmethod
    def row(result):
        def number(value, decimals):
            return "–" if value is None else f"{value:.{decimals}f}"

        d1 = result["datasets"].get("kitti2015", {}).get("d1")
        cells = [number(result["ms_per_megapixel"], 0), number(result["bad1.0"], 1), number(result["average_of_12"], 2), number(d1, 2)]
        name = html.escape(accuracy_time.title(result["method"]))
        name = name if result["peer"] else f"<strong>{name}</strong>"
        return f'<tr><td>{name}</td>{"".join(f"<td>{c}</td>" for c in cells)}</tr>'
