#!/usr/bin/env python3
"""Renders views of a chessboard by two cameras, for systems that have only NumPy: boards.py FOLDER. Writes left*.pgm and right*.pgm of a
board chessboard:9x6:25mm; the cameras have the focal length 500 pixels and are 90 mm apart.
"""

import sys
from pathlib import Path

import numpy as np

W, H, FOCAL, BASELINE, SQUARE, COLUMNS, ROWS, FINE = 640, 480, 500.0, 90.0, 25.0, 9, 6, 4


def rotation(axis, angle):
    """Returns the rotation about an axis of length 1 (Rodrigues' formula)."""
    x, y, z = axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def view(turn, place, shift):
    """Returns the picture of the board by the camera at `shift` to the right. Each pixel is the mean of FINE × FINE samples."""
    x, y = ((np.arange(FINE * n) + 0.5) / FINE - 0.5 for n in (W, H))
    rays = np.stack(np.broadcast_arrays((x[None, :] - W / 2) / FOCAL, (y[:, None] - H / 2) / FOCAL, 1.0), axis=-1)
    centre = np.array(place, float) - (shift, 0, 0)
    normal = turn[:, 2]
    points = rays * (normal @ centre / (rays @ normal))[..., None] - centre
    u, v = ((points @ turn[:, i]) / SQUARE + (n + 1) / 2 for i, n in ((0, COLUMNS), (1, ROWS)))
    on_board = (u >= 0) & (u < COLUMNS + 1) & (v >= 0) & (v < ROWS + 1)
    near = (u > -1) & (u < COLUMNS + 2) & (v > -1) & (v < ROWS + 2)  # a white frame
    black = on_board & ((np.floor(u) + np.floor(v)) % 2 == 0)
    fine = np.where(black, 25.0, np.where(near, 230.0, 120.0))
    return fine.reshape(H, FINE, W, FINE).mean(axis=(1, 3)).round().astype(np.uint8)


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for i in range(12):
        turn = rotation((np.cos(2.4 * i), np.sin(2.4 * i), 0), 0.25 + 0.02 * i)
        place = (110 * (i % 3 - 1) + BASELINE / 2, 70 * (i // 3 % 3 - 1), 480 + 15 * i)
        for side, shift in (("left", 0.0), ("right", BASELINE)):
            (folder / f"{side}{i:02}.pgm").write_bytes(b"P5 %d %d 255\n" % (W, H) + view(turn, place, shift).tobytes())


if __name__ == "__main__":
    main()
