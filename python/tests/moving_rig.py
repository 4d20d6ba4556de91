"""Pairs of a rig whose right camera is hit, for the tests of rigs that move."""

import numpy as np

import stereopsis as st

RIG = st.Rig(focal=300, baseline=0.1, cx_left=159.5, cx_right=159.5, cy=119.5, unit="m", size=(320, 240))
BUMP = (0.3, -0.2)  # pitch and roll in degrees
HIT = 12


def seen_after(image, pitch, roll):
    """Returns what the right camera sees after it has turned."""
    a, c = np.radians([pitch, roll])
    turn = np.array([[np.cos(c), -np.sin(c), 0], [np.sin(c), np.cos(c), 0], [0, 0, 1]])
    turn = np.array([[1, 0, 0], [0, np.cos(a), -np.sin(a)], [0, np.sin(a), np.cos(a)]]) @ turn
    height, width = image.shape[:2]
    y, x = np.mgrid[:height, :width]
    rays = np.stack([(x - RIG.cx_right) / RIG.focal, (y - RIG.cy) / RIG.focal, np.ones(x.shape)], -1) @ turn  # by the inverse
    u = np.clip(RIG.focal * rays[..., 0] / rays[..., 2] + RIG.cx_right, 0, width - 1.001)
    v = np.clip(RIG.focal * rays[..., 1] / rays[..., 2] + RIG.cy, 0, height - 1.001)
    i, j = u.astype(int), v.astype(int)
    p, q = (u - i)[..., None], (v - j)[..., None]
    mean = (1 - q) * ((1 - p) * image[j, i] + p * image[j, i + 1]) + q * ((1 - p) * image[j + 1, i] + p * image[j + 1, i + 1])
    return np.rint(mean).astype(np.uint8)


def pairs(count=36):
    scenes = [st.synth("table", width=320, height=240, disparities=24, noise=2, seed=i) for i in (1, 2, 3)]
    moved = [seen_after(scene.right, *BUMP) for scene in scenes]
    return [(scenes[i % 3].left, scenes[i % 3].right if i < HIT else moved[i % 3]) for i in range(count)]


def is_found(turn):
    return abs(turn.pitch - BUMP[0]) < 0.02 and abs(turn.roll - BUMP[1]) < 0.02
