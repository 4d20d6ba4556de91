"""The figures of the pages are those of docs/measured."""

import importlib.util
import pathlib
import subprocess
import sys

import pytest

DOCS = pathlib.Path(__file__).resolve().parents[1]


def load_measure():
    sys.path.insert(0, str(DOCS))
    spec = importlib.util.spec_from_file_location("measure", DOCS / "measure.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_figure_of_the_pages_is_measured():
    checked = subprocess.run([sys.executable, DOCS / "measure.py", "pages", "--check"], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_order_of_the_candidates_of_a_budget_is_that_of_the_measured_errors():
    checked = subprocess.run([sys.executable, DOCS / "budget.py", "table", "--check"], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr


def test_a_figure_that_the_files_do_not_have_is_found():
    measure = load_measure()
    values = measure.Values()
    right = f"{values.of('errors/methods/sgm/bad1.0'):.1f} %<!-- errors/methods/sgm/bad1.0 -->"
    assert measure.with_figures(right, values) == right
    assert measure.with_figures(right.replace(right.split(" ")[0], "99.9"), values) == right
    assert measure.bare_figures("It takes 12.5 ms.") == ["It takes 12.5 ms."]
    assert not measure.bare_figures(f"It has {right} errors, and 5 %<!-- definition --> is the threshold.")


def test_wrong_pixels_at_a_share_of_measured_pixels():
    load_measure()  # puts docs/ on the path
    confidence = pytest.importorskip("confidence", reason="cv2 is not installed")
    front = confidence.front([[0.9, 0.03], [0.8, 0.01], [0.85, 0.04]])
    assert front == [[0.9, 0.03], [0.8, 0.01]]
    assert round(confidence.at_share(front, 0.85), 6) == 0.02
    assert confidence.at_share(front, 0.95) is None
