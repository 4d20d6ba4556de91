"""Tests of the prose check: sentences that count as fragments, sentences that do not, and what is extracted from files.

python3 tests/prose/prose_test.py, or pytest tests/prose/prose_test.py.
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import check
from fragments import fragment, sentences
from units import extract

FRAGMENTS = """
Of the blocks of the first pass.
Of an image as it is given.
Of these alone are the path costs wanted
Of a size that is refused, or that is small: memory that is asked for is given.
What the host and the tuned kernels of column costs on CUDA agree on.
What is changed acts on the next picture, while images run.
Only what the call names is ever read.
Who refuses everything is never wrong.
That 16-bit images use, from the lowest on
That its values use next to nothing of their range, and how to say which they use.
Those that at least two of the 24 cells around agree with.
Those of 8 and 16 bits are integers.
Whether a sanitizer looks on.
Whether the left pixel is looked at, and so has a say in the selection.
Whether an array of rows of `count` elements is made of whole runs.
Where the slots become steps: the taxonomy, from the pair to what is delivered.
Where it is tried.
Which formats pictures may have that are neither grey nor RGB.
Which view's pixels the costs belong to.
How many inputs were read, not refused.
As the matcher takes them.
While somebody listens alone.
When the last pair that a matcher was given is done.
So that the last column is filled.
In a process of its own, as the memory stays allocated.
For tests that match a small pair through the C interface.
Into the maps' row above and the one below what columns meet beyond.
With bulk copies, which compute capability 9.0 began with.
Until what is drawn has the settings that hold.
The same of 5×5: within a column only the number of ones counts.
Nothing but what was measured.
One that was added, and when it has to be.
And of the rest why not.
Is refused by the plan.
"""

SENTENCES = """
With `--keep-going`, the command continues.
Number of columns, in pixels.
Search range in pixels.
Returns the disparity of each pixel, NaN where it is invalid.
The result of matching one pair. Outputs that were not requested are empty.
Of the 24 cells around the pixel, at least two agree.
In tiles, the kernel keeps one row per warp.
For each row of the window the weights are made once.
If the pair is raw, rectify it first.
As floats, these values are exact.
Unless given, the limit is half of the memory.
With --source=NAME, only the tests of that file run.
After an addition on purpose, ./dev abi updates the description.
As in the paper, the costs are truncated at 30.
Where two devices disagree, stderr says so and the program fails.
While the engine lives, the calling thread runs its stages.
When the last pair is done, the queue is empty.
That is why the table has 33 entries.
That pixel is invalid.
Those pixels are skipped.
These bits are the reasons.
On AArch64 the same code runs on NEON.
To see the plan, run `stereopsis match --explain`.
From then on, the allocator owns the memory.
It searches a multiple of 16 disparities.
They lie behind the widest angle.
All pixels of a row.
One of the two sums of a step.
(width, height) of the images.
What does a stage need?
How to add a stage.
For example `--set sgm.p2=60`.
Buffers are recycled for later pairs.
Throws Error if `range` is empty.
"""


def test_fragments_are_found():
    for sentence in FRAGMENTS.strip().splitlines():
        assert fragment(sentence), sentence


def test_sentences_are_no_fragments():
    for line in SENTENCES.strip().splitlines():
        for sentence in sentences(line):
            assert not fragment(sentence), sentence


def test_phrases_are_allowed_behind_code_and_in_headings_but_headless_ones_are_not():
    assert not fragment("for std::min", trailing=True)
    assert not fragment("in pixels", trailing=True)
    assert not fragment("where negative, pixels are skipped", trailing=True)
    assert not fragment("# From OpenCV", "markdown")
    assert not fragment("From a calibration file:", "markdown")
    assert not fragment("as in the paper", "markdown", trailing=True)
    assert fragment("of the left view", trailing=True)
    assert fragment("what the kernel reads", trailing=True)
    assert fragment("that are searched, from 0 on", trailing=True)
    assert fragment("whether it is known", trailing=True)
    assert fragment("## What a plan consists of", "markdown")
    assert fragment("Of the points: optical or head", "help")


def texts(file, source, kind=None):
    return [" ".join(unit.text.split()) for unit in extract(file, source) if kind in (None, unit.kind)]


def test_comments_of_c():
    source = """// One block
// of two lines.
int x;  // in pixels
int y;  // continued
        // below
const char* s = "// no comment", *r = R"(// nor this)";
/* A block
 * of two lines. */
int z = 1'000;  // 'quoted'
}  // namespace stereopsis
"""
    assert texts("a.cpp", source) == ["One block of two lines.", "in pixels", "continued below", "A block of two lines.", "'quoted'"]
    assert [unit.trailing for unit in extract("a.cpp", source)] == [False, True, True, False, True]


def test_help_of_the_command():
    source = """Command command(application, "match", "Matches a pair");
command.path("-o,--output", o.file, "FILE", "Where to "
             "write, \\"as is\\"").required();
command.group("Method");
"""
    assert texts("apps/x.cpp", source, "help") == ["Matches a pair", 'Where to write, "as is"']


def test_docstrings_of_the_module():
    source = 'nb::class_<Step>(m, "Step", "A step of a plan.")\n  .def("wait", &wait, "until"_a = "the end",\n "Waits for "\n "a pair.")'
    source += '\n  .def("__repr__", [](const Step& s) { return "<a step: " + s.name + ">"; });'
    assert texts("python/src/x.cpp", source, "docstring") == ["A step of a plan.", "Waits for a pair."]


def test_python_and_shell():
    source = '"""A module."""\nx = "# no comment"  # a comment\nparser.add_argument("--x", help="the value of x")\n'
    assert sorted(texts("python/stereopsis/a.py", source)) == ["A module.", "a comment", "the value of x"]
    assert texts("a.sh", "#!/bin/sh\n# A comment\necho '# none' \"${#x}\"  # another\ncat <<EOF\n# none\nEOF\n") == ["A comment", "another"]


def test_markdown():
    source = "# A heading\n\nA paragraph with a [link](target.md)\nof two lines.\n\n```sh\n# code\n```\n\n| a cell | another cell |\n|---|---|\n- an item\n"
    assert texts("a.md", source) == ["# A heading", "A paragraph with a link of two lines.", "a cell", "another cell", "an item"]


def test_formulas_are_left_out():
    block = " The cost of a pixel:\n\n   C(p, d) = |l − r|\n\n with l the left value.\n It is truncated."
    assert list(sentences(block)) == ["The cost of a pixel:", "It is truncated."]


def test_phrases():
    for pattern, instead in check.read_phrases(check.PHRASES.read_text()):
        assert isinstance(pattern, re.Pattern) and instead
        assert not pattern.search(instead.split(":")[0].replace('"', "")), f"{instead} is itself to be avoided"
    phrases = check.read_phrases(check.PHRASES.read_text())
    for text, found in (("Such a pair is refused.", 1), ("Up to two pairs are in work.", 1), ("Throws Error.", 0), ("The workspace.", 0)):
        unit = extract("README.md", text)[0]
        assert len([f for f in check.examine(unit, phrases) if f.kind == "phrase"]) == found, text


def test_counts_never_rise():
    unit = extract("src/api/a.hpp", "// Of a pair.")[0]
    finding = next(iter(check.examine(unit, [])))
    area = check.area_of(unit.file)
    assert area == "src/api" and check.area_of("README.md") == "." and check.area_of("docs/a/b.md") == "docs"
    allowed = check.read_counts("# a comment\nsrc/api  1  0\nsrc/io  2  1\n")
    assert check.rises({area: [finding]}, allowed) == []
    assert check.rises({area: [finding, finding]}, allowed) == [(area, "fragment")]
    assert check.rises({"ros": [finding]}, allowed) == [("ros", "fragment")]
    assert check.lowered({area: [finding, finding]}, allowed) == {area: {"fragment": 1, "phrase": 0}, "src/io": {"fragment": 0, "phrase": 0}}
    assert check.read_counts(check.written_counts(allowed)) == allowed


if __name__ == "__main__":
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
    print("prose: the tests of the check pass")
