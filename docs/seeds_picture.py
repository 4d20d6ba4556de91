"""Makes the pictures of docs/how-to/seeds.md: generated scenes without seeds and with them.

python docs/seeds_picture.py        (writes seeds.png, laser.png, planes.png and flicker.png in docs/images)
"""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import stereopsis as st

SIZE, DISPARITIES, SHARE, NOISE, GAP = (360, 270), 48, 0.02, 5, 6
REACH = 80  # metres that the laser sees
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


def wrong_with(scene: st.Scene, **how: object) -> np.ndarray:
    """Returns the left image with the pixels that a match gets wrong."""
    result = st.match(scene.left, scene.right, DISPARITIES, device="cpu", warn_of_pair=False, **how)
    return marked(scene.left, (np.abs(result.disparity - scene.disparity) > 1) & (scene.nonocc == 255))


def compare(name: str, scene: st.Scene, seeds: np.ndarray) -> None:
    """Writes the left image with seeds, and the wrong pixels without them and with them."""
    shown, known = np.array(scene.left), np.isfinite(seeds)
    for down, across in ((0, 0), (0, 1), (1, 0), (1, 1)):
        shown[np.roll(known, (down, across), (0, 1))] = SEED
    write(name, [shown, wrong_with(scene), wrong_with(scene, seeds=seeds)])


def of_some_pixels() -> None:
    scene = st.synth("traffic", *SIZE, DISPARITIES, seed=5)
    known = np.random.default_rng(1).random(scene.disparity.shape) < SHARE
    compare("seeds.png", scene, np.where(known, scene.disparity, np.nan).astype(np.float32))


def of_a_laser() -> None:
    """Shows the lines of a laser scanner that stands above the left camera."""
    scene = st.synth("traffic", *SIZE, DISPARITIES, seed=5)
    rig = st.Rig(focal=360, baseline="0.5 m", cx_left=SIZE[0] / 2, cy=SIZE[1] / 2)
    y, x = np.mgrid[: SIZE[1] : 9, : SIZE[0] : 2]
    z = rig.focal * rig.baseline / scene.disparity[y, x]
    above = np.array([0, 0.3, 0])
    points = np.stack([(x - SIZE[0] / 2) * z / rig.focal, (y - SIZE[1] / 2) * z / rig.focal, z], -1).reshape(-1, 3)[z.ravel() < REACH] + above
    compare("laser.png", scene, st.seeds_of_points(points.astype(np.float32), rig, SIZE, np.column_stack([np.eye(3), -above])))


def of_planes() -> None:
    """Shows the left image, and the wrong pixels of one pass and of two."""
    scene = st.synth("interior", *SIZE, DISPARITIES, seed=1, noise=2)
    write("planes.png", [np.array(scene.left), wrong_with(scene), wrong_with(scene, set={"second_pass.stage": "planes"})])


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
    of_some_pixels()
    of_a_laser()
    of_planes()
    of_the_frame_before()
