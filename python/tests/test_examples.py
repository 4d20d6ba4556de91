"""The notebooks run, in Jupyter's own kernel, and their code is right for mypy --strict."""

import json
import pathlib
import subprocess
import sys

import pytest

NOTEBOOKS = sorted((pathlib.Path(__file__).parents[2] / "examples").glob("*.ipynb"))


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_notebooks_run(file, tmp_path):
    nbclient = pytest.importorskip("nbclient", reason="nbclient runs the notebooks")
    import nbformat

    notebook = nbformat.read(file, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "clear the outputs: they are no part of the source"
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output.data for cell in notebook.cells for output in cell.get("outputs", []) if "data" in output]
    assert sum("image/png" in data or "image/png;base64" in data.get("text/html", "") for data in shown) >= 2


def test_there_are_four():
    assert [file.stem for file in NOTEBOOKS] == ["compare_network", "first_depth", "own_features", "tune_and_compare"]


def test_their_types_are_right(tmp_path):
    pytest.importorskip("mypy", reason="mypy checks the types")
    for file in NOTEBOOKS:
        cells = json.loads(file.read_text())["cells"]
        code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
        (tmp_path / f"{file.stem}.py").write_text(code + "\n")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache", *tmp_path.glob("*.py")],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stdout
