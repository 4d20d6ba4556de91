"""The gallery: generated scenes, matched by the command while the site is built. No picture of it is in the repository."""

import json
import subprocess
from pathlib import Path

import reference
import stereopsis as st

WIDTH, HEIGHT, DISPARITIES = 480, 360, 64
SCENES = ["table", "street", "curved", "thin", "clutter", "leaves", "garden", "road"]
HARD = ["repetitive", "textureless"]
OF_METHODS = "table"
VARIANTS = [("sgm", ["optimisation.paths=8"]), ("sgm", ["vote_fill.enabled=true"]), ("census-guided", ["levels.lambda=0.3"])]


class Maker:
    def __init__(self, folder, command):
        self.folder, self.command = folder, command

    def run(self, *arguments):
        done = subprocess.run([self.command, *map(str, arguments)], capture_output=True, text=True, cwd=self.folder)
        if done.returncode != 0:
            raise RuntimeError(f"stereopsis {' '.join(map(str, arguments))}: {done.stderr}")

    def scene(self, name):
        self.run(*synth_of(name))

    def match(self, scene, stem, *how, more=()):
        """Returns the calls that make the pictures, as a reader would write them, and the share of wrong pixels."""
        call = ["match", f"{scene}/left.png", f"{scene}/right.png", "--disparities", DISPARITIES, *how, "-o", f"{stem}.pfm", "--color", f"{stem}.png"]
        score = ["evaluate", f"{stem}.pfm", "--truth", f"{scene}/disp_left.pfm", "--mask", f"{scene}/mask_nonocc.png", "--error-image", f"{stem}_error.png"]
        self.run(*call, "--quiet", "--device", "cpu", *more)
        self.run(*score, "--json", f"{stem}.json")
        measures = json.loads((self.folder / f"{stem}.json").read_text())["measures"]
        (self.folder / f"{stem}.pfm").unlink()
        return "\n".join(map(written, (call, score))), measures["bad1.0"]


def synth_of(name):
    return ["synth", "-o", name, "--scene", name, "--width", WIDTH, "--height", HEIGHT, "--disparities", DISPARITIES, "--noise", 1, "--seed", 7]


def written(call):
    """Returns a call of the command as a line for the shell."""
    return "stereopsis " + " ".join(map(str, call))


def figure(file, alt):
    return f"![{alt}](gallery/{file})"


def row(scene, stem, what, bad):
    return "| " + " | ".join((
        figure(f"{stem}.png", f"Disparity of the scene {scene} by {what}, near is warm"),
        figure(f"{stem}_error.png", f"Its errors: {bad:.1f} % of the non-occluded pixels are off by more than a pixel"),
    )) + " |"


def block(title, call, rows, header):
    return [f"### {title}", "", "```sh", call, "```", "", f"| {' | '.join(header)} |", "|" + "---|" * len(header), *rows, ""]


def on_scene(make, scene):
    call, bad = make.match(scene, f"sgm-{scene}")
    left = figure(f"{scene}/left.png", f"Left image of the generated scene {scene}")
    pictures = [f"| {left} {row(scene, f'sgm-{scene}', 'sgm', bad)}"]
    return block(f"{scene}: {bad:.1f} % wrong", f"{written(synth_of(scene))}\n{call}", pictures, ["left image", "disparity", "errors"])


def page(make):
    lines = ["# Gallery", "", "This page is for everyone who compares methods by eye. It shows the result of each method with the command that made it, on scenes of",
             "`stereopsis synth`, whose disparity is known exactly. In the pictures of errors, white pixels are right, grey ones are off by up to 1 pixel,",
             "orange to red ones by more, and blue ones have no disparity. Darker pixels are visible in one view only, and do not count.", "",
             "```sh", written(synth_of(OF_METHODS)), "```", "",
             "## One scene, every method", "", "| left image | right image |", "|---|---|",
             f"| {figure(f'{OF_METHODS}/left.png', 'Left image of the generated scene ' + OF_METHODS)} | {figure(f'{OF_METHODS}/right.png', 'Its right image')} |", ""]
    for name in SCENES + HARD:
        make.scene(name)
    for method, sets in [(m.name, []) for m in st.methods()] + VARIANTS:
        stem = "-".join([method, *(s.replace("=", "-").replace(".", "-") for s in sets)])
        how = ["--method", method, *(part for s in sets for part in ("--set", s))]
        call, bad = make.match(OF_METHODS, stem, *how)
        title = ", ".join([method, *(s.replace("=", " = ") for s in sets)])
        lines += block(f"{title}: {bad:.1f} % wrong", call, [row(OF_METHODS, stem, title, bad)], ["disparity", "errors"])
    for title, scenes in (("The default on other scenes", SCENES[1:]), ("Limits: walls without texture, patterns that repeat", HARD)):
        lines += [f"## {title}", ""]
        for scene in scenes:
            lines += on_scene(make, scene)
    more = ["--confidence", "more_confidence.png", "--validity-color", "more_validity.png"]
    call, _ = make.match(OF_METHODS, "more", more=more)
    lines += ["## More results", ""]
    pictures = "| " + figure("more_confidence.png", "Confidence: bright where the disparity is certain") + " | " + figure("more_validity.png", "Validity: what was measured, filled, or found invalid, and why") + " |"
    lines += block("Confidence and validity", call + " --confidence confidence.png --validity-color validity.png", [pictures], ["confidence", "validity"])
    return "\n".join(lines)


def write(made, command):
    """Makes the pictures again only if the command or this program changed."""
    folder = made / "gallery"
    folder.mkdir(exist_ok=True)
    state = Path(command).stat()
    stamp, now = folder / "made.txt", f"{state.st_mtime_ns} {state.st_size} {Path(__file__).read_text()}"
    if stamp.exists() and stamp.read_text() == now and (made / "gallery.md").exists():
        return
    reference.save(made / "gallery.md", page(Maker(folder, command)))
    stamp.write_text(now)
