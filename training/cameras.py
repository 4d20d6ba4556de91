#!/usr/bin/env python3
"""Changes generated pairs as the cameras, the rectification and the files of the field do. The truth stays exact.

    python3 training/cameras.py scene/ -o changed/ --condition jpeg=50 --condition pattern
    python3 training/cameras.py --list

The folders are those of `stereopsis synth`. The same seed gives the same pair. Training applies random conditions to
its scenes; docs/conditions.py measures each condition by itself.
"""

import argparse
import json
import pathlib
import shutil
import tempfile
from dataclasses import dataclass
from typing import Callable

import cv2
import numpy as np

VISIBLE, OCCLUDED, NO_SCENE = 255, 128, 0  # values of the mask, as `synth` writes them
BACKDROP = 1  # the mask is lower by this where a scene ends, because the disparity there is arbitrary


@dataclass
class Pair:
    """A pair of 8-bit colour images, the true disparities of the left one (inf: it shows no scene), and its mask."""

    left: np.ndarray
    right: np.ndarray
    truth: np.ndarray
    mask: np.ndarray

    @property
    def shape(self):
        return self.truth.shape

    def change(self, function):
        """Replaces both images by function(image), rounded to 8 bits."""
        self.left, self.right = (rounded(function(image)) for image in (self.left, self.right))

    def hide(self, hidden):
        """Marks pixels of the left image as not visible in the right one."""
        self.mask[hidden & (self.mask >= VISIBLE - BACKDROP)] -= VISIBLE - OCCLUDED


def rounded(image):
    return np.clip(np.floor(np.asarray(image, np.float32) + 0.5), 0, 255).astype(np.uint8)


def grid(shape):
    """Returns x and y of the pixels, from -1 to 1 across the longer side of the image."""
    height, width = shape
    y, x = np.indices(shape, np.float32)
    scale = 2 / max(width, height)
    return scale * (x - (width - 1) / 2), scale * (y - (height - 1) / 2)


# ---- Optics and sensors ----


def defocus(pair, random, radius):
    """Blurs one eye by a disc."""
    reach = int(np.ceil(radius))
    y, x = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    disc = np.clip(radius + 0.5 - np.hypot(x, y), 0, 1)
    eye = ("left", "right")[random.integers(2)]
    setattr(pair, eye, cv2.filter2D(getattr(pair, eye), -1, disc / disc.sum(), borderType=cv2.BORDER_REPLICATE))


def white(pair, random, share):
    """Overexposes both images, so that about a share of the pixels is clipped."""
    level = max(np.quantile(pair.left.max(2), 1 - share), 16)
    pair.change(lambda image: image * (255 / level * random.uniform(0.97, 1.03)))


def black(pair, random, share):
    """Subtracts a level from both images, so that about a share of the pixels is black."""
    level = min(np.quantile(pair.left.max(2), share), 192) * random.uniform(0.97, 1.03)
    pair.change(lambda image: (image - level) * (255 / (255 - level)))


def mosaic(pair, random, share):
    """Mixes a share of an image that is interpolated from a Bayer mosaic, with another phase in each eye."""
    codes = (cv2.COLOR_BayerRG2RGB, cv2.COLOR_BayerRG2RGB_EA)
    code = codes[random.integers(len(codes))]

    def interpolated(image):
        right, down = random.integers(2, size=2)
        padded = cv2.copyMakeBorder(image, down + 2, 3, right + 2, 3, cv2.BORDER_REFLECT_101)
        raw = padded[..., 1].copy()
        raw[0::2, 0::2], raw[1::2, 1::2] = padded[0::2, 0::2, 2], padded[1::2, 1::2, 0]
        found = cv2.cvtColor(raw, code)[down + 2 : down + 2 + len(image), right + 2 : right + 2 + image.shape[1]]
        return image + share * (found.astype(np.float32) - image)

    pair.change(interpolated)


def pattern(pair, random, sigma):
    """Adds the same noise to both images, as sensors of one series with fixed-pattern noise do."""
    noise = sigma * random.standard_normal((*pair.shape, 1), np.float32)
    pair.change(lambda image: image + noise)


def columns(pair, random, sigma):
    """Adds the same noise of the columns to both images."""
    noise = sigma * random.standard_normal((1, pair.shape[1], 1), np.float32)
    pair.change(lambda image: image + noise)


def dust(pair, random, strength):
    """Darkens spots at the same places of both images."""
    x, y = grid(pair.shape)
    kept = np.ones(pair.shape, np.float32)
    for _ in range(random.integers(4, 40)):
        radius, softness = random.uniform(0.004, 0.03), random.uniform(0.1, 1)
        distance = np.hypot(x - random.uniform(-1, 1), y - random.uniform(-1, 1)) / radius
        kept *= 1 - strength * random.uniform(0.3, 1) * np.clip((1 - distance) / softness, 0, 1)
    pair.change(lambda image: image * kept[..., None])


# ---- Geometry: the point at p of the right image moves to p + (dx, dy) ----


def move_right(pair, random, displacement):
    """Resamples the right image, and corrects the truth by the displacement along x."""
    height, width = pair.shape
    y, x = np.indices(pair.shape, np.float32)
    source_x, source_y = x, y
    for _ in range(3):
        dx, dy = displacement(source_x, source_y)
        source_x, source_y = x - dx, y - dy
    how = (cv2.INTER_LINEAR, cv2.INTER_CUBIC)[random.integers(2)]
    maps = np.float32(source_x + np.zeros_like(x)), np.float32(source_y + np.zeros_like(y))
    pair.right = cv2.remap(pair.right, *maps, how, borderMode=cv2.BORDER_REPLICATE)
    known = np.isfinite(pair.truth)
    seen = np.where(known, x - np.where(known, pair.truth, 0), 0)
    dx, dy = displacement(seen, y)
    pair.truth = np.where(known, pair.truth - dx, np.inf).astype(np.float32)
    seen, row = seen + dx, y + dy
    pair.hide((seen < -0.5) | (seen >= width - 0.5) | (row < -0.5) | (row >= height - 0.5))


def rows(pair, random, pixels):
    """Moves rows by a plane and a wave, of at most so many pixels together."""
    height, width = pair.shape
    across, down, start = random.uniform(-1, 1, 3)
    turns = random.uniform(-2.5, 2.5, 2) / (width, height)
    share, phase = random.uniform(0, 1), random.uniform(0, 2 * np.pi)
    most = max((abs(across) + abs(down)) / 2 + abs(start), 1e-3)

    def displacement(x, y):
        plane = (across * (x / width - 0.5) + down * (y / height - 0.5) + start) / most
        wave = np.sin(2 * np.pi * (turns[0] * x + turns[1] * y) + phase)
        return 0 * x, pixels * ((1 - share) * plane + share * wave)

    move_right(pair, random, displacement)


def roll(pair, random, pixels):
    """Rolls the right camera: rows differ by so many pixels between the left and the right border."""
    height, width = pair.shape
    angle = pixels / width * random.choice((-1, 1))
    move_right(pair, random, lambda x, y: (-angle * (y - (height - 1) / 2), angle * (x - (width - 1) / 2)))


def zoom(pair, random, pixels):
    """Changes the focal length of the right camera: rows differ by so many pixels between the upper and the lower border."""
    height, width = pair.shape
    factor = pixels / height * random.choice((-1, 1))
    move_right(pair, random, lambda x, y: (factor * (x - (width - 1) / 2), factor * (y - (height - 1) / 2)))


def shutter(pair, random, pixels):
    """Shakes the cameras while the rolling shutter of the right one is late: its rows move by up to so many pixels."""
    height, _ = pair.shape
    turns, phases = random.uniform(0.2, 2, 2), random.uniform(0, 2 * np.pi, 2)
    shares = random.uniform(0.2, 1, 2) * (1, 0.4)
    shake = lambda y, i: pixels * shares[i] * np.sin(2 * np.pi * turns[i] * y / height + phases[i])
    move_right(pair, random, lambda x, y: (shake(y, 0) + 0 * x, shake(y, 1) + 0 * x))


# ---- Regions without a scene ----


def remove_scene(pair, outside_left, outside_right):
    """Marks pixels that show no scene, and those whose counterpart shows none."""
    height, width = pair.shape
    pair.truth[outside_left], pair.mask[outside_left] = np.inf, NO_SCENE
    known = np.isfinite(pair.truth)
    x = np.rint(np.arange(width) - np.where(known, pair.truth, 0)).astype(int).clip(0, width - 1)
    pair.hide(known & outside_right[np.arange(height)[:, None], x])


def replicated(image, outside):
    """Returns the image with the nearest pixel of the scene in place of each pixel outside."""
    _, labels = cv2.distanceTransformWithLabels(outside.astype(np.uint8), cv2.DIST_L2, 5, labelType=cv2.DIST_LABEL_PIXEL)
    first = np.zeros(labels.max() + 1, np.int64)
    inside = np.flatnonzero(~outside)
    first[labels.ravel()[inside]] = inside
    return image.reshape(-1, 3)[first[labels]]


def outside_of_raw(shape, random, share):
    """Returns the pixels of a rectified image that the raw image, which is turned, bent and moved, does not cover."""
    x, y = grid(shape)
    turn, bend = random.uniform(-share, share, 2)
    scale = (1 + bend * (x * x + y * y)) * random.uniform(1, 1 + share)
    raw_x, raw_y = scale * (x - turn * y) + random.uniform(-share, share), scale * (y + turn * x) + random.uniform(-share, share)
    return (np.abs(raw_x) > x.max()) | (np.abs(raw_y) > y.max())


def border(pair, random, share, fill):
    """Removes what the raw images do not cover: up to about a share of half the size at each border."""
    outside = [outside_of_raw(pair.shape, random, share) for _ in range(2)]
    for i, eye in enumerate(("left", "right")):
        image = getattr(pair, eye)
        is_black = fill == "black" or fill == "mixed" and random.random() < 0.5
        changed = np.where(outside[i][..., None], 0, image) if is_black else replicated(image, outside[i])
        setattr(pair, eye, changed.astype(np.uint8))
    remove_scene(pair, *outside)


def round_picture(pair, random, radius):
    """Leaves a disc of both images, whose radius is a share of half of the longer side; the rest is nearly black."""
    x, y = grid(pair.shape)
    outside = []
    for eye in ("left", "right"):
        distance = np.hypot(x - random.normal(0, 0.004), y - random.normal(0, 0.004))
        light = np.clip((radius - distance) * pair.shape[1] / 4, 0, 1)[..., None]
        dark = random.uniform(0, 2) * random.random((*pair.shape, 1), np.float32)
        setattr(pair, eye, rounded(light * getattr(pair, eye) + (1 - light) * dark))
        outside.append(light[..., 0] < 0.5)
    remove_scene(pair, *outside)


# ---- Pictures on top, files ----


def draw_text(pair, random, opacity, text, size, at, box):
    height, width = pair.shape
    layer, cover = np.zeros((height, width, 3), np.uint8), np.zeros((height, width), np.uint8)
    font, thickness = random.choice((cv2.FONT_HERSHEY_SIMPLEX, cv2.FONT_HERSHEY_DUPLEX)), max(1, round(1.5 * size))
    (wide, high), below = cv2.getTextSize(text, int(font), size, thickness)
    x, y = int(at[0] * max(width - wide, 1)), int(high + at[1] * max(height - high - below, 1))
    if box:
        cv2.rectangle(cover, (x - 2, y - high - 3), (x + wide + 2, y + below), 255, -1)
    for image, colour in ((layer, (255, 255, 255)), (cover, 255)):
        cv2.putText(image, text, (x, y), int(font), size, colour, thickness, cv2.LINE_AA)
    share = opacity * cover[..., None] / np.float32(255)
    pair.change(lambda image: image + share * (layer.astype(np.float32) - image))


def watermark(pair, random, opacity):
    """Writes words at the same place of both images."""
    words = "".join(chr(random.integers(65, 91)) for _ in range(random.integers(4, 14)))
    draw_text(pair, random, opacity, words, pair.shape[1] / 640 * random.uniform(0.6, 2.5), random.random(2), False)


def stamp(pair, random, opacity):
    """Writes a time at the same place of both images, at the border."""
    values = random.integers((2000, 1, 1, 0, 0, 0), (2040, 13, 29, 24, 60, 60))
    text = "{}-{:02}-{:02} {:02}:{:02}:{:02}".format(*values)
    at = random.uniform(0, 1), random.choice((0.02, 0.98))
    draw_text(pair, random, opacity, text, pair.shape[1] / 640 * random.uniform(0.4, 0.8), at, random.random() < 0.5)


def jpeg(pair, random, quality, own_blocks=True):
    """Stores both images as JPEG, with blocks at a random position in each, or at the same place of both."""
    sampling = random.choice((0x111111, 0x211111, 0x221111))  # 4:4:4, 4:2:2 and 4:2:0

    def stored(image):
        down, right = random.integers(8, size=2) if own_blocks else (0, 0)
        padded = cv2.copyMakeBorder(image, down, 0, right, 0, cv2.BORDER_REPLICATE)
        settings = [cv2.IMWRITE_JPEG_QUALITY, int(quality), cv2.IMWRITE_JPEG_SAMPLING_FACTOR, int(sampling)]
        _, data = cv2.imencode(".jpg", padded[..., ::-1], settings)
        return cv2.imdecode(data, cv2.IMREAD_COLOR)[down:, right:, ::-1]

    pair.change(stored)


def video(pair, random, frames):
    """Stores each image as the last frame of a video of MPEG-4 or VP8 in which it moves."""
    codec, ending = (("mp4v", "mp4"), ("VP80", "mkv"))[random.integers(2)]
    steps = random.integers(-3, 4, (int(frames), 2))
    steps[-1] = 0

    def stored(image):
        height, width = image.shape[:2]
        padded = cv2.copyMakeBorder(image, 0, height % 2, 0, width % 2, cv2.BORDER_REPLICATE)
        with tempfile.TemporaryDirectory() as folder:
            file = f"{folder}/a.{ending}"
            writer = cv2.VideoWriter(file, cv2.CAP_FFMPEG, cv2.VideoWriter_fourcc(*codec), 25, padded.shape[1::-1])
            for step in steps:
                writer.write(np.ascontiguousarray(np.roll(padded, step, (0, 1))[..., ::-1]))
            writer.release()
            reader, last = cv2.VideoCapture(file, cv2.CAP_FFMPEG), None
            for _ in steps:
                found, frame = reader.read()
                last = frame if found else last
            reader.release()
        if last is None:
            raise OSError(f"this build of OpenCV cannot store videos as {codec}; install opencv-python-headless")
        return last[:height, :width, ::-1]

    pair.change(stored)


# ---- Conditions, in the order in which they are applied ----


@dataclass
class Condition:
    apply: Callable  # apply(pair, random, strength)
    low: float  # range of the strengths; all ratios in it are equally probable
    high: float
    share: float  # share of the pairs of the field that have the condition
    about: str  # meaning and unit of the strength

    def strength(self, random):
        return self.low * (self.high / self.low) ** random.random()


def with_fill(fill):
    return lambda pair, random, share: border(pair, random, share, fill)


CONDITIONS = {
    "defocus": Condition(defocus, 0.7, 3, 0.06, "radius of one eye's blur, pixels"),
    "white": Condition(white, 0.02, 0.4, 0.1, "share of the pixels that are clipped white"),
    "black": Condition(black, 0.05, 0.5, 0.1, "share of the pixels that are black"),
    "mosaic": Condition(mosaic, 0.5, 1, 0.15, "share of the interpolated image"),
    "shutter": Condition(shutter, 0.1, 1, 0.04, "largest movement, pixels"),
    "roll": Condition(roll, 0.1, 2, 0.04, "difference of the rows between the left and the right border, pixels"),
    "zoom": Condition(zoom, 0.1, 2, 0.04, "difference of the rows between the upper and the lower border, pixels"),
    "rows": Condition(rows, 0.02, 0.15, 0.6, "largest difference of the rows that the row alignment leaves, pixels"),
    "misaligned": Condition(rows, 0.15, 1, 0.1, "largest difference of the rows that `check` lets pass, pixels"),
    "pattern": Condition(pattern, 0.5, 8, 0.06, "standard deviation, grey levels"),
    "columns": Condition(columns, 0.5, 8, 0.03, "standard deviation, grey levels"),
    "dust": Condition(dust, 0.1, 0.8, 0.06, "largest loss of light"),
    "border_black": Condition(with_fill("black"), 0.02, 0.12, 0.05, "width, as a share of half the size"),
    "border_replicated": Condition(with_fill("replicated"), 0.02, 0.12, 0.04, "width, as a share of half the size"),
    "border_mixed": Condition(with_fill("mixed"), 0.02, 0.12, 0.03, "width, as a share of half the size"),
    "round": Condition(round_picture, 0.5, 1, 0.03, "radius, as a share of half of the longer side"),
    "watermark": Condition(watermark, 0.1, 1, 0.04, "opacity"),
    "stamp": Condition(stamp, 0.6, 1, 0.04, "opacity"),
    "jpeg": Condition(lambda *call: jpeg(*call, own_blocks=False), 30, 95, 0.18, "quality of files that are not rectified later"),
    "rectified_jpeg": Condition(jpeg, 30, 95, 0.15, "quality of files whose blocks rectification has moved"),
    "video": Condition(video, 1, 4.99, 0.06, "number of frames"),
}
FORBIDDEN_TOGETHER = ({"jpeg", "rectified_jpeg", "video"}, {"border_black", "border_replicated", "border_mixed", "round"}, {"rows", "misaligned"})
# Strips have no room for these.
NOT_IN_STRIPS = {"border_black", "border_replicated", "border_mixed", "round", "watermark", "stamp", "shutter"}


def drawn(random, without=()):
    """Returns random conditions and their strengths, in the order in which they are applied."""
    found = {name: c.strength(random) for name, c in CONDITIONS.items() if random.random() < c.share and name not in without}
    for group in FORBIDDEN_TOGETHER:
        for name in sorted(group & found.keys())[1:]:
            del found[name]
    return found


def apply(pair, conditions, random):
    for name in sorted(conditions, key=list(CONDITIONS).index):
        CONDITIONS[name].apply(pair, random, conditions[name])
    return pair


# ---- Arrays of many scenes, for training ----


def finish(folder, seed, share, without=()):
    """Marks the backdrop of the stacked scenes in a folder, and applies random conditions to a share of them.

    The seed is a tuple of numbers.
    """
    about = json.loads((folder / "scenes.json").read_text())
    size = about["height"], about["width"]
    arrays = {name: np.load(folder / f"{name}.npy") for name in ("left", "right", "disp_left", "mask_nonocc")}
    left, right, truth, mask = (a.reshape(-1, *size, *a.shape[2:]) for a in arrays.values())
    for i, scene in enumerate(about["scenes"]):
        mask[i] -= np.uint8(BACKDROP) * (truth[i] <= np.float32(scene.get("farthest", (scene["ndisp"] - 1) / 20)) * np.float32(1.00001))
        random = np.random.default_rng((*seed, i))
        scene["conditions"] = drawn(random, without) if random.random() < share else {}
        pair = apply(Pair(left[i], right[i], truth[i], mask[i]), scene["conditions"], random)
        left[i], right[i], truth[i], mask[i] = pair.left, pair.right, pair.truth, pair.mask
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    (folder / "scenes.json").write_text(json.dumps(about))


# ---- The command ----


def read_pfm(file):
    return cv2.imread(str(file), cv2.IMREAD_UNCHANGED)


def read_scene(folder):
    images = (cv2.imread(str(folder / f"{eye}.png"))[..., ::-1] for eye in ("left", "right"))
    return Pair(*images, read_pfm(folder / "disp_left.pfm"), cv2.imread(str(folder / "mask_nonocc.png"), cv2.IMREAD_GRAYSCALE))


def write_scene(pair, source, folder):
    """Writes a scene that `stereopsis evaluate --dataset` reads; the truth of the right image no longer holds."""
    folder.mkdir(parents=True, exist_ok=True)
    for eye in ("left", "right"):
        cv2.imwrite(str(folder / f"{eye}.png"), getattr(pair, eye)[..., ::-1])
    cv2.imwrite(str(folder / "disp_left.pfm"), pair.truth)
    cv2.imwrite(str(folder / "mask_nonocc.png"), pair.mask)
    shutil.copy(source / "mask_disc.png", folder)
    about = json.loads((source / "dataset.json").read_text())
    del about["gt_right"]
    (folder / "dataset.json").write_text(json.dumps(about, indent=1))


def condition_of(text):
    """Returns the name and the strength (None: random) of NAME or NAME=STRENGTH."""
    name, equals, strength = text.partition("=")
    if name not in CONDITIONS:
        raise argparse.ArgumentTypeError(f"there is no condition {name!r}; --list prints all of them")
    try:
        return name, float(strength) if equals else None
    except ValueError:
        raise argparse.ArgumentTypeError(f"{strength!r} is no number; give the strength as in jpeg=50") from None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scene", type=pathlib.Path, nargs="?", help="folder of a scene that `stereopsis synth` wrote")
    parser.add_argument("-o", "--output", type=pathlib.Path, help="folder to write")
    parser.add_argument("--condition", type=condition_of, action="append", help="NAME or NAME=STRENGTH; without: random ones")
    parser.add_argument("--seed", type=int, default=1, help="seed of everything that is random [1]")
    parser.add_argument("--list", action="store_true", help="print the conditions, their strengths and their shares")
    options = parser.parse_args()
    if options.list:
        for name, c in CONDITIONS.items():
            print(f"{name:18} {c.low:g} to {c.high:g} ({c.about}); {100 * c.share:g} % of the pairs")
        return
    if not options.scene or not options.output:
        parser.error("give a scene and -o DIR, or --list")
    random = np.random.default_rng(options.seed)
    conditions = dict(options.condition) if options.condition else drawn(random)
    conditions = {name: CONDITIONS[name].strength(random) if s is None else s for name, s in conditions.items()}
    write_scene(apply(read_scene(options.scene), conditions, random), options.scene, options.output)
    print(", ".join(f"{name} {strength:.3g}" for name, strength in conditions.items()) or "no condition")


if __name__ == "__main__":
    main()
