"""Makes the pictures of docs/how-to/align-rows.md and docs/how-to/rig.md: generated pairs whose rows differ, before and after.

python docs/rows_picture.py        (writes docs/images/rows.png and docs/images/rig.jpg)
"""

from pathlib import Path

import numpy as np
import stereopsis as st

SCENE = "street"
SIZE, DISPARITIES, FACTOR = (480, 360), 48, 5
TOP, COLUMN, HEIGHT, WIDTH = 130, 222, 60, 60  # the magnified part of the left image
LINES, GAP = range(8, HEIGHT, 16), 6
LINE, PAPER = np.array([255, 170, 40], np.uint8), np.uint8(255)


def magnified(image: np.ndarray, x: int) -> np.ndarray:
    """Returns a part of an image in large pixels, with lines along rows."""
    part = image[TOP : TOP + HEIGHT, x : x + WIDTH].repeat(FACTOR, axis=0).repeat(FACTOR, axis=1)
    for y in LINES:
        part[y * FACTOR] = LINE
    return part


def strip(pictures: list[np.ndarray]) -> np.ndarray:
    """Returns pictures of equal height beside each other."""
    gap = np.full((pictures[0].shape[0], GAP, 3), PAPER)
    return np.hstack([part for picture in pictures for part in (picture, gap)][:-1])


def of_a_rig() -> None:
    """Shows both images of a camera that was turned, and the same images with the calibration that is corrected from them."""
    width, height = size = 640, 480
    scenes = [st.synth(name, width, height, 64, seed=2, vertical_offset=9, vertical_slope=12) for name in ("interior", "street", "room", "garden")]
    rig = st.Rig(focal=500.0, cx_left=(width - 1) / 2, cy=(height - 1) / 2, baseline="120mm", size=size)
    refined = st.refine_calibration([(scene.left, scene.right) for scene in scenes], rig)
    strips = []
    for images in ((scenes[0].left, scenes[0].right), st.Rectification(refined.calibration)(scenes[0].left, scenes[0].right)[:2]):
        lined = [np.array(image) for image in images]
        for image in lined:
            image[40 :: height // 6] = LINE
        strips.append(strip(lined))
    gap = np.full((GAP, strips[0].shape[1], 3), PAPER)
    st.write_image(Path(__file__).parent / "images/rig.jpg", np.vstack([strips[0], gap, strips[1]]))


def of_rows() -> None:
    scene = st.synth(SCENE, *SIZE, DISPARITIES, noise=2, vertical_offset=1.2, vertical_slope=2)
    rows = st.estimate_row_alignment(scene.left, scene.right)
    shift = round(float(np.median(scene.disparity[TOP : TOP + HEIGHT, COLUMN : COLUMN + WIDTH])))
    strips = []
    for how, right in (("off", scene.right), ("auto", st.align_rows(scene.right, rows)[0])):
        result = st.match(scene.left, scene.right, DISPARITIES, align_rows=how, warn_of_pair=False, device="cpu")
        map_ = result.color(low=0, high=DISPARITIES - 1)
        map_[~result.measured] = 40
        height = HEIGHT * FACTOR
        width = SIZE[0] * height // SIZE[1]
        across, down = np.arange(width) * SIZE[0] // width, np.arange(height) * SIZE[1] // height
        strips.append(strip([magnified(scene.left, COLUMN), magnified(right, COLUMN - shift), map_[down][:, across]]))
    gap = np.full((GAP, strips[0].shape[1], 3), PAPER)
    st.write_image(Path(__file__).parent / "images/rows.png", np.vstack([strips[0], gap, strips[1]]))


if __name__ == "__main__":
    of_rows()
    of_a_rig()
