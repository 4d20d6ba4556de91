"""One command: subcommands of the package, and of the compiled one."""

import os
import pathlib
import subprocess
import sys
import textwrap

import pytest
import stereopsis as st
from stereopsis import commands

PROGRAM = pathlib.Path(st.__file__).parent / "bin" / "stereopsis"


def run(*words, **environment):
    return subprocess.run(
        [*map(str, words)], capture_output=True, text=True, timeout=60, env={**os.environ, **environment}
    )


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Makes subcommands for this test."""
    monkeypatch.setattr(commands, "__path__", [*commands.__path__, str(tmp_path)])

    def make(name, body):
        monkeypatch.delitem(sys.modules, f"stereopsis.commands.{name}", raising=False)
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(body))

    return make


def test_a_subcommand_is_found_by_being_there(module, capsys):
    module(
        "greet",
        """
        help = "Says a word several times"
        def add_arguments(parser):
            parser.add_argument("word")
            parser.add_argument("--times", type=int, default=2)
        def run(arguments):
            print(arguments.word * arguments.times)
            return 3
        """,
    )
    assert "greet" in commands.names()
    assert commands.run("greet", ["ha", "--times", "3"]) == 3
    assert capsys.readouterr().out == "hahaha\n"
    for wrong, sentence in [
        (["ha", "--tims", "3"], r"greet has no option '--tims' \(did you mean '--times'\?\); `stereopsis greet --help` lists all options"),
        (["ha", "ho"], "unexpected argument 'ho'; see `stereopsis greet --help`"),
        (["ha", "--times", "often"], "argument --times: invalid int value: 'often'; see `stereopsis greet --help`"),
        ([], "required: word; see"),
    ]:
        with pytest.raises(st.CallError, match=sentence):
            commands.run("greet", wrong)
    with pytest.raises(SystemExit) as helped:
        commands.run("greet", ["--help"])
    assert helped.value.code == 0 and "Says a word several times." in capsys.readouterr().out


def test_what_a_subcommand_needs_is_named(module):
    module(
        "lack",
        """
        help = "Needs what is not there"
        extra = "lacking"
        def add_arguments(parser): pass
        def run(arguments):
            import a_package_of_nobody
        """,
    )
    with pytest.raises(st.UnsupportedError, match=r"a_package_of_nobody.*pip install '\.\[lacking\]'.*\.whl\[lacking\]'"):
        commands.run("lack", [])


@pytest.mark.parametrize("error, code", [("CallError", 2), ("FileError", 1)])
def test_errors_are_a_sentence_and_an_exit_code(module, capsys, error, code):
    module(
        "fail",
        f"""
        help = "Fails"
        def add_arguments(parser): pass
        def run(arguments):
            from stereopsis import {error}
            raise {error}("this is not what it should be")
        """,
    )
    from stereopsis.__main__ import main

    assert main(["fail"]) == code
    assert capsys.readouterr().err == "stereopsis: this is not what it should be\n"


@pytest.mark.parametrize("name", commands.names())
def test_unknown_options_get_the_nearest_known_one(name):
    with pytest.raises(st.CallError, match=f"stereopsis {name} has no option '--hepl' \\(did you mean '--help'"):
        commands.run(name, ["--hepl", "7", "x", "y", "z"])


def test_unknown_options_of_an_action_get_its_own_nearest_one():
    with pytest.raises(st.CallError, match=r"stereopsis scale plan has no option '--disparites' \(did you mean '--disparities'"):
        commands.run("scale", ["plan", "job", "left.tif", "right.tif", "--disparites", "64"])


@pytest.mark.parametrize("word", ["--budget", "--time", "--duration"])
def test_the_duration_of_a_search_has_other_names(word):
    with pytest.raises(st.CallError, match=rf"stereopsis tune has no option '{word}' \(did you mean '--minutes'\?\)"):
        commands.run("tune", ["--dataset", "x", "-o", "y", word, "3"])


@pytest.mark.parametrize("name, words", [("tune", "--quality --gpu --iterations"), ("view", "--baseline --focal --jobs"), ("bag", "--gpu --quality --data")])
def test_distant_names_get_no_suggestion(name, words):
    """The dashes of both names are not alike letters."""
    for word in words.split():
        with pytest.raises(st.CallError, match=f"stereopsis {name} has no option '{word}'; `stereopsis {name} --help` lists all options"):
            commands.run(name, [word, "3"])


def test_the_beginning_of_an_option_is_completed():
    with pytest.raises(st.CallError, match=r"stereopsis view has no option '--dispar' \(did you mean '--disparities'\?\)"):
        commands.run("view", ["--dispar", "64"])


def test_every_subcommand_helps_without_what_it_needs_to_run():
    for name in commands.names():
        helped = run(sys.executable, "-m", "stereopsis", name, "--help")
        assert helped.returncode == 0 and name in helped.stdout, helped.stderr


def test_scale_says_that_it_masks_no_black_regions():
    helped = run(sys.executable, "-m", "stereopsis", "scale", "plan", "--help").stdout
    assert "black regions at the border are matched" in " ".join(helped.split())


def test_the_module_is_the_whole_command(tmp_path):
    assert run(sys.executable, "-m", "stereopsis", "--version").stdout == f"stereopsis {st.__version__}\n"
    help_text = run(sys.executable, "-m", "stereopsis", "--help").stdout
    assert all(f"  {name} " in help_text for name in ["match", "synth", *commands.names()])
    made = run(sys.executable, "-m", "stereopsis", "synth", "-o", tmp_path, "--width", 64, "--height", 48)
    assert made.returncode == 0 and (tmp_path / "left.png").exists(), made.stderr
    unknown = run(sys.executable, "-m", "stereopsis", "mach")
    assert unknown.returncode == 2 and "there is no command 'mach'" in unknown.stderr


def test_the_command_on_the_path_is_this_one():
    script = pathlib.Path(sys.executable).parent / "stereopsis"
    assert run(script, "--version").stdout == f"stereopsis {st.__version__}\n"
    for name in commands.names():
        assert run(script, name, "--help", STEREOPSIS_PYTHON="/nowhere/python").returncode == 0


def test_the_command_hands_on_what_it_does_not_have(tmp_path):
    bare = tmp_path / "bare" / "python3"  # has no package
    bare.parent.mkdir()
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    bare.chmod(0o755)
    for name in commands.names():
        assert run(PROGRAM, name, "--help", STEREOPSIS_PYTHON=sys.executable).returncode == 0
        without = run(PROGRAM, name, "x", STEREOPSIS_PYTHON=bare)
        assert without.returncode == 1
        assert without.stderr.count("\n") == 1 and f"stereopsis-{st.__version__}-*.whl" in without.stderr
        assert "pip install 'WHEEL" in without.stderr and "pip install 'stereopsis" not in without.stderr
        assert f"{name} is a command of the Python package, which is not installed" in without.stderr
        nowhere = run(PROGRAM, name, STEREOPSIS_PYTHON="/nowhere/python")
        assert nowhere.returncode == 1 and "/nowhere/python cannot be run" in nowhere.stderr


@pytest.mark.parametrize("name", commands.names())
def test_help_looks_like_that_of_the_compiled_commands(name, monkeypatch, capsys):
    def shown(*arguments, columns="80"):
        monkeypatch.setenv("COLUMNS", columns)
        with pytest.raises(SystemExit):
            commands.run(name, [*arguments, "--help"])
        return capsys.readouterr().out

    text = shown()
    assert f"\nUsage: stereopsis {name} [OPTION …]" in text and "\nOptions:\n  -h, --help              Print this help and exit\n" in text
    assert [line for line in text.split("\n") if len(line) > 80] == []
    assert max(map(len, shown(columns="120").split("\n"))) > 80
    assert "\x1b" not in text and "\x1b[1mUsage:\x1b[0m" in shown("--color-output", "always")
    shown("--color-output", "auto")
