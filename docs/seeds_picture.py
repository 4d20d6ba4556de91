"""Makes the pictures of docs/how-to/seeds.md: generated scenes without seeds and with them.

python docs/seeds_picture.py        (writes docs/images/seeds.png and docs/images/flicker.png)
"""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import stereopsis as st

SIZE, DISPARITIES, SHARE, NOISE, GAP = (360, 270), 48, 0.02, 5, 6
SEED, MARK, PAPER = np.array([255, 170, 40], np.uint8), np.array([230, 60, 50], np.uint8), np.uint8(255)
IMAGES = Path(__file__).parent / "images"


def write(name: str, pictures: list[np.ndarray]) -> None:
    """Writes pictures of equal height beside each other."""
    gap = np.full((pictures[0].shape[0], GAP, 3), PAPER)
    st.write_image(IMAGES / name, np.hstack([part for picture in pictures for part in (picture, gap)][:-1]))


def marked(image: np.ndarray, where: np.ndarray) -> np.ndarray:
    """Returns a pale image with marked pixels."""
    picture = np.repeat((np.array(image).mean(2, keepdims=True) / 2 + 110).astype(np.uint8), 3, 2)
    picture[where] = MARK
    return picture


def of_points() -> None:
    """Shows the seeds in the left image, and the wrong pixels without them and with them."""
    scene = st.synth("traffic", *SIZE, DISPARITIES, seed=5)
    known = np.random.default_rng(1).random(scene.disparity.shape) < SHARE
    seeds = np.where(known, scene.disparity, np.nan).astype(np.float32)
    pictures = [np.array(scene.left)]
    for down, across in ((0, 0), (0, 1), (1, 0), (1, 1)):
        pictures[0][np.roll(known, (down, across), (0, 1))] = SEED
    for given in (None, seeds):
        result = st.match(scene.left, scene.right, DISPARITIES, device="cpu", warn_of_pair=False, seeds=given)
        pictures.append(marked(scene.left, (np.abs(result.disparity - scene.disparity) > 1) & (scene.nonocc == 255)))
    write("seeds.png", pictures)


def of_the_frame_before() -> None:
    """Shows the left image, and the pixels that differ between two frames of a still scene, without the frame before and with it."""
    scene, random, frames = st.synth("street", *SIZE, DISPARITIES), np.random.default_rng(0), []
    for _ in range(4):
        noisy = (np.clip(np.rint(image + random.normal(0, NOISE, image.shape)), 0, 255).astype(np.uint8) for image in (scene.left, scene.right))
        frames.append(SimpleNamespace(**dict(zip(("left", "right"), noisy, strict=True))))
    pictures = [frames[-1].left]
    for previous in (False, True):
        *_, before, now = (np.array(done.result.disparity) for done in st.Run(frames, disparities=DISPARITIES, device="cpu", seed_previous=previous))
        pictures.append(marked(frames[-1].left, np.abs(now - before) > 1))
    write("flicker.png", pictures)


if __name__ == "__main__":
    of_points()
    of_the_frame_before()
