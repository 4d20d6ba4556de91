"""The man page and the shells' completions that the package brings."""

import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from stereopsis import commands

SHARE = pathlib.Path(sys.prefix) / "share"
MAN = SHARE / "man/man1/stereopsis.1"
BASH = SHARE / "bash-completion/completions/stereopsis"
ZSH = SHARE / "zsh/site-functions/_stereopsis"
FISH = SHARE / "fish/vendor_completions.d/stereopsis.fish"


def run(*words, **more):
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, timeout=60, **more)
    assert done.returncode == 0, done.stderr
    return done.stdout


def needs(program):
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")


def completed(*words, folder="/"):
    """Returns bash's completions of the last word."""
    script = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _stereopsis; printf "%s\\n" "${COMPREPLY[@]}"'
    return run("bash", "-c", script, "bash", BASH, "stereopsis", *words, cwd=folder).split()


def helped(command=()):
    """Options that a command's help lists."""
    return set(re.findall(r"^ +(?:-\w,\s?)?(--[\w-]+)", run(sys.executable, "-m", "stereopsis", *command, "--help"), re.MULTILINE))


def test_bash_completes_commands_options_values_and_files(tmp_path):
    (tmp_path / "left image.png").touch()
    (tmp_path / "folder").mkdir()
    assert completed("mat") == ["match"] and set(commands.names()) <= set(completed(""))
    assert set(completed("match", "--me")) == {"--measure-constant", "--measured-only", "--memory-limit", "--method"}
    assert completed("match", "--method", "banz") == ["banz-sgm"] == completed("match", "--method", "=", "banz")
    assert completed("match", "--set", "optimisation.path") == ["optimisation.paths="]
    assert completed("methods", "census-g") == ["census-guided"]
    assert completed("match", "--method", "bal") == ["balanced"] == completed("methods", "bal")
    assert completed("match", "--set", "cost.lambda_c") == ["cost.lambda_census=", "cost.lambda_color="]  # parameters of a stage that no named method has
    assert set(completed("match", "--set", "refinements=")) >= {"refinements=speckle", "refinements=median", "refinements=fill"}
    assert completed("view", "--color-output", "al") == ["always"]
    assert completed("match", "lef", folder=tmp_path) == ["left", "image.png"]  # one word with a space
    assert completed("synth", "-o", "f", folder=tmp_path) == ["folder"]
    assert completed("synth", "--scene", "tab") == ["table"]


@pytest.mark.parametrize("command", ["match", "evaluate", "synth", "view"])
def test_all_options_are_in_all_of_them(command):
    options = helped([command])
    assert len(options) > 5 and set(completed(command, "--")) >= options
    texts = {"man": MAN.read_text().replace(r"\-", "-"), "zsh": ZSH.read_text(), "fish": FISH.read_text()}
    for option in options:
        assert option in texts["man"] and option + "[" in texts["zsh"] and f" -l {option[2:]} " in texts["fish"], option


def test_the_man_page_is_one():
    needs("groff")
    done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", MAN], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == ""
    text = re.sub(r".\x08|\x1b\[[0-9;]*m", "", done.stdout)
    for part in ("NAME", "COMMANDS", "STEREOPSIS MATCH", "STEREOPSIS VIEW", "EXIT STATUS", "×256"):
        assert part in text, part


def test_zsh_and_fish_can_read_theirs():
    for shell, file in (("zsh", ZSH), ("fish", FISH)):
        needs(shell)
        run(shell, "-n", file)
    assert run("fish", "-c", f"source {FISH}; complete -C 'stereopsis match --method banz'").startswith("banz-sgm")
