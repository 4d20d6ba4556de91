"""Bags as rosbags writes them, for the tests of bags."""

import functools
import os
import pathlib

import numpy as np
import pytest
import stereopsis as st
from rosbags.rosbag1 import Writer as Writer1
from rosbags.rosbag2 import StoragePlugin
from rosbags.rosbag2 import Writer as Writer2
from rosbags.typesys import Stores, get_typestore
from stereopsis import ros
from stereopsis.ros import Messages
from stereopsis.ros.families import Bagged

START, FRAME = 1_700_000_000 * 10**9, 100_000_000
IMAGE, INFO = "sensor_msgs/msg/Image", "sensor_msgs/msg/CameraInfo"
STORAGES = {"mcap": StoragePlugin.MCAP, "sqlite3": StoragePlugin.SQLITE3}


class BagFile:
    """Writes a bag: with BagFile(path, "mcap" | "sqlite3" | "ros1") as bag: bag.image("/left/image_rect", time, array)"""

    def __init__(self, path, storage="mcap", compressed=False):
        self.path, self.is_ros1 = pathlib.Path(path), storage == "ros1"
        self.store = get_typestore(Stores.ROS1_NOETIC if self.is_ros1 else Stores.ROS2_HUMBLE)
        self.messages = Messages(Bagged(self.store))
        self._writer = Writer1(path) if self.is_ros1 else Writer2(path, version=8, storage_plugin=STORAGES[storage])
        self._connections = {}
        if compressed:
            self._writer.set_compression(Writer1.CompressionFormat.LZ4)

    def __enter__(self):
        self._writer.open()
        return self

    def __exit__(self, *_):
        self._writer.close()

    def raw(self, topic, kind, time, data):
        if topic not in self._connections:
            self._connections[topic] = self._writer.add_connection(topic, kind, typestore=self.store)
        self._writer.write(self._connections[topic], time, data)

    def write(self, topic, kind, time, message):
        serialize = self.store.serialize_ros1 if self.is_ros1 else self.store.serialize_cdr
        self.raw(topic, kind, time, serialize(message, kind))

    def header(self, stamp, frame="left_optical"):
        return self.messages.header(stamp, frame)

    def image(self, topic, stamp, array, encoding=None):
        self.write(topic, IMAGE, stamp, self.messages.image(self.header(stamp), array, encoding))

    def info(self, topic, stamp, fields):
        self.write(topic, INFO, stamp, self.messages.camera_info(self.header(stamp), fields))

    def pair(self, stamp, left, right, rig=None, name="image_rect"):
        for side, array in (("left", left), ("right", right)):
            self.image(f"/stereo/{side}/{name}", stamp, array)
            if rig is not None:
                size = array.shape[1], array.shape[0]
                self.info(f"/stereo/{side}/camera_info", stamp, ros.info_fields(rig, side, size))


def kitti():
    """The folder of 30 pairs, and their rig; the test is skipped where there is none."""
    data = os.environ.get("STEREOPSIS_DATA")
    if not data:
        pytest.skip("STEREOPSIS_DATA names no folder of real scenes")
    folder = pathlib.Path(data) / "kitti_odometry" / "sequence_2"
    rig = st.Rig(focal=718.856, baseline=0.53717, cx_left=607.19, cx_right=607.19, cy=185.22, unit="m", size=(1241, 376))
    return folder, rig


def generated(count=4):
    """Small pairs; after seven the first again."""
    return [scene(1 + i % 7) for i in range(count)]


@functools.cache
def scene(seed):
    made = st.synth("table", width=96, height=64, disparities=16, seed=seed)
    return made.left, made.right


SMALL_RIG = st.Rig(focal=90, baseline=0.1, cx_left=48, cx_right=46, cy=32, unit="m", size=(96, 64))


def small_bag(path, storage="mcap", count=4):
    with BagFile(path, storage) as bag:
        for i, (left, right) in enumerate(generated(count)):
            bag.pair(START + i * FRAME, left, right, SMALL_RIG)
    return path


def disparity_of(message):
    """float32 in the library's own terms, of a DisparityImage without a shift."""
    pixels = np.array(ros.array_of(message.image))
    pixels[pixels < message.min_disparity] = np.nan
    return pixels
