"""The package's modules import each other without circles."""

import ast
import graphlib
import pathlib

import stereopsis

ROOT = pathlib.Path(stereopsis.__file__).parent


def name_of(file):
    parts = ["stereopsis", *file.relative_to(ROOT).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported_by(name, file, modules):
    """Modules of the package that a file imports, at its top or inside a function."""
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{base}.{one.name}" if f"{base}.{one.name}" in modules else base for one in node.names)
        elif isinstance(node, ast.Import):
            yield from (one.name for one in node.names)


def test_there_are_no_import_circles():
    files = {name_of(file): file for file in ROOT.rglob("*.py")}
    modules = {*files, "stereopsis._native"}
    graph = {name: {found for found in imported_by(name, file, modules) if found in files} for name, file in files.items()}
    assert graph["stereopsis.scale.cli"] >= {"stereopsis.scale.planning", "stereopsis.scale.settings"}
    graphlib.TopologicalSorter(graph).prepare()  # raises CycleError, which names the modules
