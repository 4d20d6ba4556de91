"""The site: `./dev docs`. Pages under docs/ are written by hand; reference.py and gallery.py write those under docs/made."""

import os
import re
import sys
from pathlib import Path

SITE = Path(__file__).resolve().parent
ROOT = SITE.parent.parent
sys.path.insert(0, str(SITE))

import docstrings  # noqa: E402
import gallery  # noqa: E402
import picture  # noqa: E402
import reference  # noqa: E402

COMMAND = os.environ.get("STEREOPSIS_COMMAND", str(ROOT / "build/release/bin/stereopsis"))
DOCS = ROOT / "docs"
MADE = DOCS / "made"
XML = ROOT / "build/docs/doxygen/xml"

project = "Stereopsis"
author = "The Stereopsis authors"
project_copyright = "The Stereopsis authors. Apache 2.0"
html_title = "Stereopsis"
language = "en"

extensions = ["myst_parser", "breathe", "sphinx.ext.autodoc", "sphinx_copybutton"]
exclude_patterns = ["site/**", "tests/**", "made/README.md"]
toc_object_entries = False

myst_enable_extensions = ["colon_fence", "deflist", "attrs_inline"]
myst_heading_anchors = 4

breathe_projects = {"stereopsis": str(XML)}
breathe_default_project = "stereopsis"
breathe_show_include = False
breathe_order_parameters_first = True

default_role = "literal"  # docstrings have `names` in single backticks
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "undoc-members": False}
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 100
cpp_maximum_signature_line_length = 100
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["style.css"]
html_favicon = "static/mark.svg"
html_logo = "static/mark.svg"
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "sidebar_hide_name": False,
    "light_css_variables": {
        "color-brand-primary": "#0b5cad",
        "color-brand-content": "#0b5cad",
        "font-stack": "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'DejaVu Sans', sans-serif",
        "font-stack--monospace": "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace",
    },
    "dark_css_variables": {"color-brand-primary": "#7cb8f5", "color-brand-content": "#7cb8f5"},
}


def version_of_project():
    cmake = (ROOT / "CMakeLists.txt").read_text()
    return cmake.partition("project(stereopsis VERSION ")[2].partition(" ")[0].rstrip(")")


release = version = version_of_project()


def make_pages(_app):
    MADE.mkdir(exist_ok=True)
    reference.write(MADE, COMMAND, XML)
    gallery.write(MADE, COMMAND)


def link_files(_app, name, source):
    """Copies the files of the checkout, outside the pages, to which a page refers."""
    folder = (DOCS / name).parent

    def linked(found):
        file = (folder / found[2]).resolve()
        if not file.is_file() or file.is_relative_to(DOCS):
            return found[0]
        return f"{{download}}`{found[1].replace(chr(96), '')} <{found[2]}>`"

    source[0] = re.sub(r"(?<!!)\[([^\]]+)\]\((\.\./[^)#]+)\)", linked, source[0])


def link_made_pages(_app, _name, source):
    """Leads links to made/README.md, which readers of the repository see, to the generated pages of the same name."""
    source[0] = re.sub(r"made/README\.md#(\w+)", lambda found: f"made/{'cpp/index' if found[1] == 'cpp' else found[1]}.md", source[0])


INDEXES = {"index": ["how-to/*.md", "*.md"], "notes/index": ["*.md"]}


def add_pages(_app, name, source):
    """Replaces {pages} in an index with the pages of its folder that the index does not name."""
    if name in INDEXES:
        folder = (DOCS / name).parent
        pages = [p.relative_to(folder).with_suffix("").as_posix() for pattern in INDEXES[name] for p in sorted(folder.glob(pattern))]
        named = {"index", *source[0].split()}
        source[0] = source[0].replace("{pages}", "\n".join(p for p in pages if p not in named))


def read_indexes_again(*_):
    return list(INDEXES)


def setup(app):
    app.connect("builder-inited", make_pages)
    app.connect("source-read", add_pages)
    app.connect("source-read", link_made_pages)
    app.connect("env-get-outdated", read_indexes_again)
    app.connect("source-read", link_files)
    app.connect("autodoc-process-docstring", docstrings.process)
    app.add_directive("accuracy-time", picture.AccuracyTime)
    app.add_directive("measured-methods", picture.MeasuredMethods)
