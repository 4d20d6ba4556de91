"""Generates the man page and completions for bash, zsh and fish from the descriptions of the command and the package.

python3 pages.py PROGRAM… FOLDER writes FOLDER/man/man1/stereopsis.1 and the files of the completions in the layout of share/. PROGRAM
may be several words, as the name of an emulator with its options before the name of the command.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.abc
import importlib.machinery
import json
import pathlib
import re
import subprocess
import sys
import types
from dataclasses import dataclass, field

PYTHON = pathlib.Path(__file__).parents[2] / "python"
DEVICES = ["auto", "cpu", "cuda", "opencl"]


@dataclass
class Option:
    names: list[str]  # a positional argument has a single name without dashes
    placeholder: str
    help: str
    group: str
    flag: bool
    required: bool
    repeatable: bool
    values: list[str] = field(default_factory=list)

    @property
    def positional(self) -> bool:
        return not self.names[0].startswith("-")

    @property
    def takes(self) -> str:
        """Returns how its value is completed: values, file, folder or nothing."""
        what = self.names[0] if self.positional else self.placeholder
        if self.values:
            return "values"
        if what.startswith("DIR"):
            return "folder"
        if what.startswith(("FILE", "FOLDER", "SOURCE", "LEFT", "RIGHT", "DISPARITY", "BAG")) or what == "OUT":
            return "file"
        return "nothing"


@dataclass
class Command:
    name: str
    help: str
    options: list[Option]
    footer: str = ""

    @property
    def positional(self) -> list[Option]:
        return [option for option in self.options if option.positional]

    @property
    def named(self) -> list[Option]:
        return [option for option in self.options if not option.positional]


# Commands ----------------------------------------------------------------------------------------------------------


def ask(program: list[str], *words: str) -> object:
    return json.loads(subprocess.run([*program, *words], capture_output=True, text=True, check=True).stdout)


class Nothing(type):
    """Replaces objects that a subcommand's module imports and its options do not need."""

    def __getattr__(cls, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return cls

    def __getitem__(cls, item: object) -> type:
        return cls

    def __or__(cls, other: object) -> type:
        return cls

    __ror__ = __or__


class NotBuilt(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds modules that are not installed or not built yet; it is the last finder. Sources of the package must be there."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> importlib.machinery.ModuleSpec | None:
        if name.startswith("stereopsis.") and name != "stereopsis._native":
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        module = types.ModuleType(spec.name)
        module.__path__ = []  # the import of a submodule iterates over it
        module.__getattr__ = lambda name: Nothing(name, (), {})  # type: ignore[method-assign]
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        pass


def python_command(name: str) -> Command:
    """Returns a command from the package's sources, without running its __init__, which needs the built module."""
    if "stereopsis" not in sys.modules:
        package = types.ModuleType("stereopsis")
        package.__path__ = [str(PYTHON / "stereopsis")]
        sys.modules["stereopsis"] = package
        sys.meta_path.append(NotBuilt())
    module = importlib.import_module(f"stereopsis.commands.{name}")
    parser = sys.modules["stereopsis.commands"].parser_of(name, module)
    return Command(name, module.help, python_options(parser), parser.epilog or "")


def python_options(parser: argparse.ArgumentParser, group: str = "") -> list[Option]:
    """Returns the options of a parser and of its actions; an action's options form a group with the action's name."""
    options: list[Option] = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            names = [str(choice) for choice in action.choices]
            summary = "; ".join(f"{choice.dest}: {choice.help}" for choice in action._choices_actions)
            options.append(Option([str(action.metavar)], "", summary, "Arguments", False, True, False, names))
            for choice, inner in action.choices.items():
                options += [option for option in python_options(inner, choice) if option.names not in [known.names for known in options]]
            continue
        takes_nothing = action.nargs == 0
        positional = not action.option_strings
        shown = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
        options.append(
            Option(
                names=[shown] if positional else list(action.option_strings),
                placeholder="" if positional or takes_nothing else shown,
                help=(action.help or "").replace("%%", "%"),
                group="Arguments" if positional else group or "OPTIONS",
                flag=takes_nothing,
                required=bool(action.required) and action.nargs not in ("*", "?"),
                repeatable=action.nargs in ("*", "+") or isinstance(action, argparse._AppendAction),
                values=[str(choice) for choice in action.choices or ()],
            )
        )
    return options


def described(program: list[str]) -> tuple[dict, list[Command]]:
    about = ask(program, "--describe")
    methods = [method["name"] for method in ask(program, "methods", "--json")]
    settings = [f"{name}=" for name in about["settings"]] + [f"refinements={name}" for name in about["refinements"]]
    values = {
        "--method": methods + about["presets"],
        "--device": DEVICES,
        "--set": settings,
        "--frame": ["optical", "head"],
        "--color-output": ["auto", "always", "never"],
    }
    commands = []
    for told in about["commands"]:
        if told["python"]:
            command = python_command(told["name"])
        else:
            command = Command(told["name"], told["help"], [Option(**option) for option in told["options"]], told["footer"])
        for option in command.options:
            option.values = option.values or values.get(option.names[-1], [])
            listed = re.search(r"(\w+(?:, \w+){2,})(?= \[)", option.help)  # "Scene: table, street, planes [table]"
            if option.placeholder == "NAME" and listed and not option.values:
                option.values = listed[1].split(", ")
            if command.name == "methods" and option.positional:
                option.values = methods + about["presets"]
        commands.append(command)
    return about, commands


# man --------------------------------------------------------------------------------------------------------------------


def roff(text: str) -> str:
    text = text.replace("\\", r"\e").replace("-", r"\-")
    text = re.sub(r"[^\0-\x7f]", lambda found: rf"\[u{ord(found[0]):04X}]", text)  # independent of the locale
    return "\n".join(r"\&" + line if line.startswith((".", "'")) else line for line in text.split("\n"))


def heading_of(option: Option) -> str:
    names = ", ".join(rf"\fB{roff(name)}\fR" for name in option.names)
    return names + (rf" \fI{roff(option.placeholder)}\fR" if option.placeholder else "")


def call_of(command: Command) -> str:
    words = [rf"\fBstereopsis {command.name}\fR"]
    words += [f"{heading_of(option)}" for option in command.named if option.required]
    words += [r"[\fIOPTION\fR ...]"]
    for option in command.positional:
        name = rf"\fI{option.names[0]}\fR" + (" ..." if option.repeatable else "")
        words.append(name if option.required else f"[{name}]")
    return " ".join(words)


def man(about: dict, commands: list[Command]) -> str:
    lines = [
        f'.TH STEREOPSIS 1 "" "stereopsis {about["version"]}" "User commands"',
        ".SH NAME",
        r"stereopsis \- dense depth from two cameras",
        ".SH SYNOPSIS",
        r"\fBstereopsis\fR \fICOMMAND\fR [\fIOPTION\fR ...] [\fIARGUMENT\fR ...]",
        ".SH DESCRIPTION",
        roff(about["help"]),
        ".SH COMMANDS",
    ]
    for command in commands:
        lines += [".TP", rf"\fB{command.name}\fR", roff(command.help)]
    for command in commands:
        lines += [f'.SH "STEREOPSIS {command.name.upper()}"', call_of(command), ".PP", roff(command.help) + "."]
        for group in dict.fromkeys(option.group for option in command.positional + command.named):
            title = {"OPTIONS": "Options"}.get(group, group)
            lines += [f'.SS "{title}"']
            for option in command.options:
                if option.group == group:
                    lines += [".TP", heading_of(option), roff(option.help)]
        if command.footer:
            lines += [".PP", ".nf", roff(command.footer.strip()), ".fi"]
    lines += [
        ".SH EXIT STATUS",
        "0: done. 1: the work failed. 2: the call was wrong. What went wrong is one sentence on standard error.",
        ".SH ENVIRONMENT",
        ".TP",
        r"\fBSTEREOPSIS_PYTHON\fR",
        "The Python whose package has the commands " + ", ".join(told["name"] for told in about["commands"] if told["python"]) + ".",
    ]
    return "\n".join(lines) + "\n"


# Completions ------------------------------------------------------------------------------------------------------------


def quoted(text: str) -> str:
    return "'" + text.replace("'", r"'\''") + "'"


def bash(about: dict, commands: list[Command]) -> str:
    """Completes the value after an option; otherwise options, or files if the command reads them."""
    cases = []
    for command in commands:
        names = " ".join(name for option in command.named for name in option.names)
        inner = []
        for option in command.named:
            if option.flag:
                continue
            then = {
                "values": f"words={quoted(' '.join(option.values))}",
                "file": "files=-f",
                "folder": "files=-d",
                "nothing": ":",
            }[option.takes]
            inner.append(f"        {'|'.join(option.names)}) {then} ;;")
        positional = command.positional
        rest = ":"
        if any(option.takes in ("file", "folder") for option in positional):
            rest = "files=-f"
        elif positional and positional[0].values:
            rest = f"words={quoted(' '.join(positional[0].values))}"
        cases.append(
            f"    {command.name})\n      case $before in\n"
            + "\n".join(inner)
            + f"\n        *) if [[ $word == -* ]]; then words={quoted(names)}; else {rest}; fi ;;\n      esac ;;"
        )
    top = " ".join([command.name for command in commands] + ["--help", "--version"])
    return "\n".join(
        [
            "# bash completion of stereopsis: made from the command itself.",
            "_stereopsis() {",
            "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words='' files=''",
            "  # bash cuts words at =, as in --device=cpu",
            "  if [[ $word == = ]]; then word=''; elif [[ $before == = ]]; then before=${COMP_WORDS[COMP_CWORD-2]}; fi",
            "  case ${COMP_CWORD}/${COMP_WORDS[1]} in",
            f"    1/*) words={quoted(top)} ;;",
            "    *) ;;",
            "  esac",
            "  [[ $COMP_CWORD -gt 1 ]] && case ${COMP_WORDS[1]} in",
            *cases,
            "  esac",
            "  COMPREPLY=()",
            "  local found",
            '  [[ -n $words ]] && while IFS= read -r found; do COMPREPLY+=("$found"); done < <(compgen -W "$words" -- "$word")',
            '  [[ -n $files ]] && while IFS= read -r found; do COMPREPLY+=("$found"); done < <(compgen "$files" -- "$word")',
            "  [[ -n $files ]] && compopt -o filenames 2>/dev/null",
            "  [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null",
            "  return 0",
            "}",
            "complete -F _stereopsis stereopsis",
            "",
        ]
    )


def zsh(about: dict, commands: list[Command]) -> str:
    def escaped(text: str, more: str = "") -> str:
        return re.sub(rf"([\\\[\]:{more}])", r"\\\1", text)

    def action(option: Option) -> str:
        if option.takes == "values":
            return "_stereopsis_parameters" if option.values[0].endswith("=") else f"({' '.join(option.values)})"
        return {"file": "_files", "folder": "_files -/", "nothing": " "}[option.takes]

    def spec(option: Option) -> list[str]:
        if option.positional:
            name = escaped(option.names[0])
            return [quoted(f"{'*' if option.repeatable else ''}:{name}:{action(option)}")]
        specs = []
        for name in option.names:
            repeat = "*" if option.repeatable else ""
            value = "" if option.flag else f":{escaped(option.placeholder) or 'value'}:{action(option)}"
            specs.append(quoted(f"{repeat}{name}[{escaped(option.help)}]{value}"))
        return specs

    settings = sorted({value for c in commands for option in c.options for value in option.values if value.endswith("=")})
    lines = [
        "#compdef stereopsis",
        "# zsh completion of stereopsis: made from the command itself.",
        "_stereopsis_parameters() {",
        "  local -a names",
        f"  names=({' '.join(quoted(name) for name in settings)})",
        "  compadd -S '' -a names",
        "}",
        "_stereopsis() {",
        "  local -a commands",
        "  commands=(",
        *(f"    {quoted(command.name + ':' + escaped(command.help))}" for command in commands),
        "  )",
        "  if (( CURRENT == 2 )); then",
        "    _describe command commands",
        "    _arguments '--help[help]' '--version[version]'",
        "    return",
        "  fi",
        "  local command=$words[2]",
        "  shift words",
        "  (( CURRENT-- ))",
        "  case $command in",
    ]
    for command in commands:
        specs = [one for option in command.options for one in spec(option)]
        lines += [f"    {command.name}) _arguments " + " ".join(specs) + " ;;"]
    return "\n".join([*lines, "  esac", "}", '_stereopsis "$@"', ""])


def fish(about: dict, commands: list[Command]) -> str:
    lines = [
        "# fish completion of stereopsis: made from the command itself.",
        "complete -c stereopsis -f",
        "complete -c stereopsis -n __fish_use_subcommand -l help -d 'Print the help'",
        "complete -c stereopsis -n __fish_use_subcommand -l version -d 'Print the version'",
    ]
    for command in commands:
        lines.append(f"complete -c stereopsis -n __fish_use_subcommand -a {command.name} -d {quoted(command.help)}")
        seen = f"-n '__fish_seen_subcommand_from {command.name}'"
        for option in command.options:
            value = {
                "values": f" -x -a {quoted(' '.join(option.values))}",
                "file": " -r -F",
                "folder": " -x -a '(__fish_complete_directories)'",
                "nothing": " -x",
            }[option.takes]
            if option.positional:
                take = {"file": " -F", "folder": " -F", "values": f" -a {quoted(' '.join(option.values))}"}.get(option.takes)
                if take:
                    lines.append(f"complete -c stereopsis {seen}{take}")
                continue
            names = "".join(f" -l {n[2:]}" if n.startswith("--") else f" -s {n[1:]}" for n in option.names)
            lines.append(f"complete -c stereopsis {seen}{names}{'' if option.flag else value} -d {quoted(option.help)}")
    return "\n".join(dict.fromkeys(lines)) + "\n"


FILES = {
    "man/man1/stereopsis.1": man,
    "bash-completion/completions/stereopsis": bash,
    "zsh/site-functions/_stereopsis": zsh,
    "fish/vendor_completions.d/stereopsis.fish": fish,
}


def main(*program: str, folder: str) -> None:
    about, commands = described(list(program))
    for name, make in FILES.items():
        file = pathlib.Path(folder) / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(make(about, commands))


if __name__ == "__main__":
    main(*sys.argv[1:-1], folder=sys.argv[-1])
