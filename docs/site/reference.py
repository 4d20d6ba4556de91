"""Writes the reference pages: what the command, the package, the stages' headers and doxygen say of themselves."""

import inspect
import os
import re
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import stereopsis as st

ROOT = Path(__file__).resolve().parents[2]
SLOTS = {
    "prepare": ("Before matching", "Stages that change both images before matching."),
    "image": ("Images", "Images that stages read. The plan computes each of them once, if a stage reads it."),
    "cost": ("Matching costs", "The dissimilarity of a pixel of the left image and each candidate in the right image: `--set cost.stage=NAME`."),
    "aggregation": (
        "Aggregation",
        "Means or sums of the costs of neighbouring pixels: `--set aggregation.stage=NAME`, or `none`.",
    ),
    "optimisation": (
        "Optimisation",
        "Minimisation of cost and smoothness along lines or over the image: `--set optimisation.stage=NAME`, or `none`.",
    ),
    "levels": ("Levels", "Coarser images, which give the range of finer ones or are coupled with them: `--set levels.stage=NAME`, or `none`."),
    "select": ("Selection", "The disparity of each pixel, selected by the costs of its candidates."),
    "refinement": (
        "Refinements",
        "Stages that change the map, in any order: `--set refinements=left_right,median,…`. `NAME.enabled` switches each.",
    ),
    "confidence": (
        "Confidence",
        "The stage that rates the refined map, if its confidence is requested, and may change it: `--set confidence.stage=NAME`, or `none`.",
    ),
    "internal": ("Parts of others", "Parts of the stages above, and stages that the plan inserts."),
}
PARTS = re.compile(r"^(Input and output|Inputs?|Outputs?|Required input|Cost|Memory|Validity|Scratch)( of [^:]*)?: ?")


def save(file, text):
    """Files whose text is the same keep their time, so that their pages are not read again."""
    if not file.exists() or file.read_text() != text:
        file.write_text(text)


def escape(text):
    """Escapes text for MyST, except `code`."""
    pieces = re.split(r"(`[^`]+`)", text)
    return "".join(p if p.startswith("`") and len(p) > 1 else re.sub(r"([\\*_<>|\[\]$#~{}])", r"\\\1", p) for p in pieces)


def table(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def code(text):
    return f"`{text}`" if text else ""


# Methods and stages


def parameter_table(parameters):
    rows = [[code(p.name), code(p.default or p.value), escape(p.allowed), escape(p.description)] for p in parameters]
    return table(["parameter", "default", "allowed", "meaning"], rows)


def methods_page():
    lines = [
        "# Methods",
        "",
        "This page is for everyone who sets parameters. [Choosing a method](../choosing.md) compares the methods. A method is a pipeline",
        "with defaults: `--method NAME` of the command, `Pipeline(\"NAME\")` in C++, `method=\"NAME\"` in Python. `--set NAME=VALUE` sets a",
        "parameter. All methods run on the CPU, CUDA and OpenCL with the same bits.",
        "",
    ]
    for method in st.methods():
        pipeline = st.Pipeline(method.name)
        slots = pipeline.slots()
        fills = " · ".join(f"{escape(s.slot)} {stage_link(s.stage)}" if s.slot != s.stage else stage_link(s.stage) for s in slots)
        lines += [f"({anchor('method', method.name)})=", f"## {method.name}", "", escape(method.summary[:1].upper() + method.summary[1:]) + ".", ""]
        lines += [f"*{escape(method.paper)}*", "", f"Stages: {fills}", ""]
        lines += [parameter_table([p for s in slots for p in s.parameters]), ""]
    return "\n".join(lines)


def anchor(kind, name):
    return f"{kind}-{name.replace('_', '-')}"


class Stage:
    def __init__(self, name, slot, header):
        self.name, self.slot, self.header = name, slot, header


ENTRY = re.compile(r"\.slot = Slot::(\w+),\s*\.name = \"(\w+)\"")


def find_stages():
    """Returns the stages by the entries of their folders. Of several stages in a folder, the first has the name of the header."""
    stages = []
    for entry in sorted((ROOT / "src/stages").glob("*/*_entry.cpp")):
        header = entry.with_name(entry.name.replace("_entry.cpp", ".hpp"))
        if not header.exists():
            header = next(iter(sorted(entry.parent.glob("*.hpp"))), None)
        for slot, name in ENTRY.findall(entry.read_text()):
            stages.append(Stage(name, slot, header))
    return stages


def stages_of_slot(slot):
    """Returns those that the program lists for it."""
    try:
        st.Pipeline("sgm").set(f"{slot}.stage", "?")
    except st.Error as refusal:
        return re.split(r", ", str(refusal).partition("it can be ")[2])
    raise RuntimeError(f"the slot {slot} takes anything")


CHOSEN = ("cost", "aggregation", "optimisation", "levels", "confidence")  # slots that a stage is named for
STAGES = [s for s in find_stages() if s.slot not in CHOSEN or s.name in stages_of_slot(s.slot)]
NAMES = {s.name for s in STAGES}


def stage_link(name):
    return f"[`{name}`](stages.md#{anchor('stage', name)})" if name in NAMES else code(name)


def parameters_of(stage):
    """Returns the parameters with the default values of the stage."""
    if stage.slot in CHOSEN:
        pipeline = st.Pipeline("sgm").set(f"{stage.slot}.stage", stage.name)
    elif stage.slot == "refinement":
        pipeline = st.Pipeline("sgm").set("refinements", stage.name)
    else:
        pipeline = st.Pipeline("sgm")
    for slot in pipeline.slots():
        if slot.stage == stage.name:
            return slot.parameters
    return []


def header_text(header):
    """The comment that a header begins with, without its slashes."""
    lines = []
    for line in header.read_text().splitlines():
        if not line.startswith("//"):
            break
        lines.append(line[2:].removeprefix(" "))
    return lines


def header_as_markdown(header):
    """Paragraphs stay, what is indented (equations, lists of choices) keeps its form."""
    out, block = [], []

    def end_block():
        if block:
            while block and not block[-1].strip():
                block.pop()
            indent = min(len(x) - len(x.lstrip()) for x in block if x.strip())
            out.extend(["", "```text", *(x[indent:] for x in block), "```", ""])
            block.clear()

    for line in header_text(header):
        if line.startswith("  ") or (block and not line.strip()):
            block.append(line)
            continue
        end_block()
        found = PARTS.match(line)
        if found:
            out += ["", f"**{escape(found.group(0).strip().rstrip(':'))}:** {escape(line[found.end():])}"]
        else:
            out.append(escape(line))
    end_block()
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(out)).strip()
    return re.sub(r"docs/((?:notes/)?[\w-]+\.md)", page_link, text)


def page_link(found):
    return f"[{found[1]}](../{found[1]})" if (ROOT / found[0]).exists() else found[0]


def stages_page():
    lines = [
        "# Stages and their parameters",
        "",
        "This page is for everyone who combines stages to [pipelines](../pipelines.md), or asks how a result is defined. Each stage has its",
        "equation and paper, its inputs and outputs, its cost, and its parameters with the defaults of the stage. A [method](methods.md) may",
        "have other defaults.",
        "",
    ]
    for slot, (title, text) in SLOTS.items():
        here = [s for s in STAGES if s.slot == slot]
        if not here:
            continue
        lines += [f"## {title}", "", text, ""]
        told = set()
        for stage in sorted(here, key=lambda s: s.name):
            lines += [f"({anchor('stage', stage.name)})=", f"### {stage.name}", ""]
            if stage.header is None or stage.header in told:
                lines += ["See the stage above, with which it shares its definition." if stage.header in told else "", ""]
            else:
                told.add(stage.header)
                lines += [header_as_markdown(stage.header), ""]
            parameters = parameters_of(stage)
            if parameters:
                lines += [parameter_table(parameters), ""]
    return "\n".join(lines)


# The command


def help_of(command, *subcommand):
    unwrapped = {**os.environ, "COLUMNS": "10000"}
    done = subprocess.run([command, *subcommand, "--help"], capture_output=True, text=True, check=True, env=unwrapped)
    return done.stdout


OPTION = re.compile(r"^  (?P<names>\S.*?)(?: {2,}(?P<text>\S.*))?$")


def command_section(text):
    """Converts the output of --help to a heading for each group and a row for each option."""
    out, rows, usage = [], [], None

    def end_table():
        if rows:
            out.extend(["", table(["", ""], rows), ""])
            rows.clear()

    first = True
    for line in text.splitlines():
        if line.startswith(" " * 20) and rows:  # the text of an option with long names
            rows[-1][1] = escape(line.strip()) + (f" ({rows[-1][1]})" if rows[-1][1] else "")
        elif line.startswith("Usage: "):
            usage = line.removeprefix("Usage: ")
            out += ["", "```text", usage, "```", ""]
        elif line.startswith("  ") and (found := OPTION.match(line)):
            names, _, with_what = re.sub(r" (Excludes|Needs): ", r"\n\1 ", found["names"]).partition("\n")
            rows.append([code(names.replace("|", "\\|")), escape(found["text"] or with_what)])
        elif line.endswith(":") and not line.startswith(" ") and usage:
            end_table()
            out += ["", f"**{escape(line.rstrip(':'))}**"]
        else:
            end_table()
            out.append(escape(line) + ("." if first and not line.endswith((".", "?", ")")) else ""))
        first = False
    end_table()
    return re.sub(r"\n{3,}", "\n\n", "\n".join(out)).strip()


def subcommands(command):
    listing = help_of(command).partition("Commands:\n")[2].partition("\n\n")[0]
    return [line.split()[0] for line in listing.splitlines()]


def command_page(command):
    lines = ["# Commands and options", "", "This page is for users of the command. It has the text of `stereopsis COMMAND --help`. [The command in practice](../command.md) is the guide.", "", "## stereopsis", "", command_section(help_of(command)), ""]
    for name in subcommands(command):
        text = help_of(command, name)
        lines += [f"(command-{name})=", f"## stereopsis {name}", "", command_section(text), ""]
        for action in re.findall(r"^  (\w+) ", text.partition("\nActions:\n")[2].partition("\n\n")[0], re.MULTILINE):
            lines += [f"### stereopsis {name} {action}", "", command_section(help_of(command, name, action)), ""]
    return "\n".join(lines)


# Python


PYTHON = {
    "Matching": ["match", "Matcher", "Result", "choose_method", "BudgetChoice", "Picture", "match_volume", "Explanation", "Step", "devices", "Device", "DeviceArray"],
    "Runs": ["Run", "RunResult", "LiveSource"],
    "Methods and pipelines": ["methods", "presets", "MethodInfo", "parameters", "ParameterInfo", "Pipeline", "Slot", "StageCall"],
    "Methods from outside": ["Method", "OnnxMatcher", "OnnxCost", "ProgramMethod", "Around"],
    "Geometry": ["Rig", "Calibration", "Camera", "read_calibration", "Rectification", "RowAlignment", "calibrate", "Calibrated", "CalibrationView", "refine_calibration", "RigRefinement", "RigTerm", "PosedCamera", "register_depth", "RegisteredDepth", "obstacles", "Obstacles", "Obstacle", "fit_ground", "Ground"],
    "Scenes and measures": ["synth", "Scene", "scene_names", "check", "PairReport", "estimate_row_alignment", "RowEstimate", "evaluate", "evaluate_dataset"],
    "Files": ["PairSource", "ImagePair", "read_image", "read_masked_image", "read_disparity", "write_disparity", "read_pfm", "write_pfm", "write_point_cloud"],
    "Errors": ["Error", "CallError", "KeywordError", "OutputError", "FileError", "FormatError", "UnsupportedError", "OutOfMemoryError", "DeviceError"],
}
MADE = ["Result", "RunResult", "ImagePair", "Calibrated", "CalibrationView", "Scene", "Explanation", "StageCall", "Picture", "cv2.StereoMatcher", "cv2.StereoSGBM", "cv2.StereoBM"]  # by the package alone: nobody calls their constructors


def rst(*lines):
    return ["```{eval-rst}", *lines, "```", ""]


def python_object(name):
    thing = getattr(st, name)
    if not inspect.isclass(thing):
        return rst(".. currentmodule:: stereopsis", f".. autofunction:: {name}")
    if issubclass(thing, Exception):
        return rst(".. currentmodule:: stereopsis", f".. autoexception:: {name}", "   :no-members:")
    options = ["   :special-members: __call__"] if "__call__" in vars(thing) else []
    options += ["   :no-members:"] if name in ("Scene", "StageCall") else []
    signature = "()" if name in MADE else ""
    return rst(".. currentmodule:: stereopsis", f".. autoclass:: {name}{signature}", *options)


def python_page():
    groups = dict(PYTHON)
    exported = [n for n in st.__all__ if not n.startswith("__")]
    known = {name for names in groups.values() for name in names}
    groups["More"] = [n for n in exported if n not in known and not inspect.ismodule(getattr(st, n))]
    lines = ["# Python package", "", "This page is for Python programmers, and is made from the package. [Python](../python.md) is the guide. The package has type stubs for mypy and editors.", ""]
    for title, names in groups.items():
        here = [n for n in names if n in exported]
        if here:
            lines += [f"## {title}", "", *(line for name in here for line in python_object(name))]
    lines += ["## Modules", ""]
    for name in (n for n in exported if inspect.ismodule(getattr(st, n))):
        module = getattr(st, name)
        lines += [f"### {name}", "", *rst(f".. automodule:: stereopsis.{name}", *([] if not hasattr(module, "__all__") else ["   :no-members:"]))]
        for inner in getattr(module, "__all__", []):
            if callable(getattr(module, inner)):
                kind = "autoclass" if inspect.isclass(getattr(module, inner)) else "autofunction"
                lines += rst(f".. currentmodule:: stereopsis.{name}", f".. {kind}:: {inner}{'()' if kind == 'autoclass' else ''}", *(["   :no-members:"] if kind == "autoclass" else []))
    return "\n".join(lines)


# C++


CPP = {
    "Matching": ["matcher", "pipeline", "parameter", "disparity", "device", "error", "expected"],
    "Images": ["image", "pixel_format", "formats", "device_image", "stream_mark", "io", "pair_source", "render"],
    "Geometry": ["rig", "calibration", "rectification", "row_alignment", "triangulation"],
    "Stages of your own": ["user_stage"],
    "Scenes and measures": ["synth", "dataset", "evaluation", "pair_check", "rows"],
    "Devices": ["roofs", "self_test"],
}


def headers():
    known = [name for names in CPP.values() for name in names]
    # One has a page of its own: from-opencv.md.
    found = sorted(p.stem for p in (ROOT / "include/stereopsis").glob("*.hpp") if p.stem != "opencv")
    more = [name for name in found if name not in known]
    groups = {title: [n for n in names if n in found] for title, names in CPP.items()}
    return groups | ({"More": more} if more else {})


def cpp_header(xml, name):
    """Returns the declarations of a header in the namespaces of the library, in their order."""
    tree = ElementTree.parse(next(xml.glob(f"{name.replace(chr(95), chr(95) * 2)}_8hpp.xml"))).getroot().find("compounddef")
    classes = []
    for inner in tree.findall("innerclass"):
        if inner.get("prot") == "public" and "::detail" not in inner.text and (inner.text.startswith("stereopsis::")):
            kind = "struct" if inner.get("refid").startswith("struct") else "class"
            if not is_nested(inner.text, tree):
                classes.append((kind, inner.text))
    functions = [m for section in tree.findall("sectiondef") for m in section.findall("memberdef")]
    return tree, classes, functions


def is_nested(name, tree):
    outer = name.rpartition("::")[0]
    return any(inner.text == outer for inner in tree.findall("innerclass"))


def text_of(node):
    return " ".join("".join(node.itertext()).split()) if node is not None else ""


def cpp_page(name, xml):
    tree, classes, members = cpp_header(xml, name)
    lines = [f"# {name}.hpp", "", escape(text_of(tree.find("detaileddescription")) or text_of(tree.find("briefdescription"))), ""]
    lines += ["```cpp", f'#include "stereopsis/{name}.hpp"', "```", ""]
    for kind, full in classes:
        short = full.removeprefix("stereopsis::")
        lines += [f"## {escape(short)}", "", "```{eval-rst}", f".. doxygen{kind}:: {full}", "   :members:", "   :undoc-members:", "```", ""]
    directive = {"function": "doxygenfunction", "enum": "doxygenenum", "typedef": "doxygentypedef", "variable": "doxygenvariable"}
    seen, rest = set(), []
    for member in members:
        kind, full = member.get("kind"), member.findtext("qualifiedname") or ""
        if kind not in directive or not full.startswith("stereopsis::") or "::detail::" in full:
            continue
        target = full + (re.sub(r"\s*=\s*(default|delete)$", "", member.findtext("argsstring")) if kind == "function" else "")
        if target not in seen:
            seen.add(target)
            rest += ["```{eval-rst}", f".. {directive[kind]}:: {target}", "```", ""]
    if rest:
        lines += ["## Functions, types and values" if classes else "## Declarations", "", *rest]
    return "\n".join(lines)


def cpp_pages(made, xml):
    folder = made / "cpp"
    folder.mkdir(exist_ok=True)
    groups = headers()
    for page in folder.glob("*.md"):
        if page.stem not in ("index", *(n for names in groups.values() for n in names)):
            page.unlink()
    lines = ["# C++ interface", "", "This page is for C++ programmers. It lists the headers of `include/stereopsis/` and their declarations. [C++ in an hour](../../cpp.md) is the guide."]
    lines += ["The interface is stable at source level: compile programs again for another version.", ""]
    for title, names in groups.items():
        lines += [f"## {title}", "", "```{toctree}", ":maxdepth: 1", "", *names, "```", ""]
    save(folder / "index.md", "\n".join(lines))
    for name in (n for names in groups.values() for n in names):
        save(folder / f"{name}.md", cpp_page(name, xml))


# C


DECLARED = (r"typedef (?:struct )?(?:\w+ )?(sp_\w+)(?: \{|;)", r"SP_API .*?\b(sp_\w+)\(", r"enum \{\s*(SP_\w+)")


def c_blocks(header):
    """Returns the blocks between blank lines of stereopsis.h: the comment and the declarations. A block without a comment belongs to the previous one."""
    body = header.partition('extern "C" {\n#endif\n')[2].partition("#ifdef __cplusplus")[0]
    blocks = []
    for block in body.strip().split("\n\n"):
        comment, declarations = re.match(r"(?:/\*(.*?)\*/\n)?(.*)", block, re.DOTALL).groups()
        if comment is None:
            blocks[-1][1] += "\n\n" + declarations
        else:
            blocks.append([" ".join(re.sub(r"^ \* ?", "", line).strip() for line in comment.splitlines()).strip(), declarations])
    return blocks


def c_page():
    header = (ROOT / "include/stereopsis.h").read_text()
    about = re.match(r"/\*(.*?)\*/", header, re.DOTALL)[1]
    lines = ["# C interface", "", *(escape(line) if not line.startswith("  ") else line.replace("  ", "    ", 1) for line in re.sub(r"^ \*(?: |$)", "", about, flags=re.MULTILINE).strip().splitlines())]
    lines += ["", "[C and other languages](../c.md) is the guide.", "", "```c", "#include <stereopsis.h>", "```", ""]
    for text, declarations in c_blocks(header):
        name = next(found[1] for pattern in DECLARED if (found := re.search(pattern, declarations)))
        lines += [f"## {escape(name)}", "", escape(text), "", "```c", declarations, "```", ""]
    return "\n".join(lines)


def write(made, command, xml):
    save(made / "methods.md", methods_page())
    save(made / "stages.md", stages_page())
    save(made / "command.md", command_page(command))
    save(made / "python.md", python_page())
    save(made / "c.md", c_page())
    cpp_pages(made, xml)
