"""`stereopsis view` with cameras that do what a file says: "well", "small" (other sizes), "unlike" (one of them) or "gone".

python standin_cameras.py FILE view /dev/video0 /dev/video1 …
"""

import pathlib
import sys
import time

import stereopsis as st
from stereopsis.__main__ import main
from stereopsis.view import capture

FILE = pathlib.Path(sys.argv.pop(1))
SCENE = st.synth("table", width=160, height=120, disparities=16)


class Camera:
    """A stand-in for a View."""

    live, length, rate, stamp = True, 0, 30.0, 0.0

    def __init__(self, given):
        self.is_left = given.endswith("0")

    def grab(self):
        time.sleep(1 / self.rate)
        if FILE.read_text() == "gone":
            raise st.FileError("'/dev/video0' delivers no more images; check that the camera is connected")

    def picture(self):
        does = FILE.read_text()
        small = does == "small" or (does == "unlike" and self.is_left)
        return (SCENE.left if self.is_left else SCENE.right)[: 80 if small else None]

    def close(self):
        FILE.with_suffix(".closed").touch()


capture.View = Camera
sys.exit(main())
