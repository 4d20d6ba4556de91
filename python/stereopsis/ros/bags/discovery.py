"""Finds the topics of a bag that belong to a pair of cameras."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._errors import CallError
from ..pairs import Topics

IMAGES = {"sensor_msgs/msg/Image", "sensor_msgs/msg/CompressedImage"}
INFO = "sensor_msgs/msg/CameraInfo"
DISPARITY = "stereo_msgs/msg/DisparityImage"
SIDES = [
    ("left", "right"),
    ("infra1", "infra2"),
    ("Infrared_1", "Infrared_2"),
    ("cam0", "cam1"),
    ("cam_0", "cam_1"),
    ("camera0", "camera1"),
    ("camera_0", "camera_1"),
    ("image_00", "image_01"),
    ("image_02", "image_03"),
    ("image_0", "image_1"),
]


def is_raw(topic: str) -> bool:
    """Returns whether the topic has one of ROS's names for rectified images: image_rect, image_rect_color, image_rect_raw."""
    return "rect" not in topic.removesuffix("/compressed").rpartition("/")[2]


def found(types: Mapping[str, str], left: str | None = None, right: str | None = None) -> Topics:
    """Finds the topics of a pair among `types`, a mapping from topics to their types. Uses the topics that the caller names, and finds the
    others by the names that ROS uses.

    Raises CallError if there is no pair, or more than one.
    """
    images = sorted(name for name, kind in types.items() if kind in IMAGES)
    for given in (left, right):
        if given is not None and given not in images:
            raise CallError(f"there is no image topic '{given}'; there are: {listed(images)}")
    if left is not None and right is not None:
        return _with_infos(types, left, right)
    if left is not None or right is not None:
        pairs = [pair for pair in _pairs(images) if left in (None, pair[0]) and right in (None, pair[1])]
        if not pairs:
            raise CallError(f"no topic matches '{left or right}'; name the other topic of the pair, one of: {listed(images)}")
        return _with_infos(types, *pairs[0])
    return _with_infos(types, *_the_pair(images))


def seed_topics(types: Mapping[str, str], seeds: str | None, seed_depth: str | None) -> dict[str, str]:
    """Returns the topic of seeds as a field of Topics. Raises CallError if it does not exist, or has another type."""
    if seeds and seed_depth:
        raise CallError(f"seeds ({seeds}) and seed_depth ({seed_depth}) both give the seeds; give one of them")
    for field, topic, kinds in (("seeds", seeds, {*IMAGES, DISPARITY}), ("seed_depth", seed_depth, IMAGES)):
        if not topic:
            continue
        there = sorted(name for name, kind in types.items() if kind in kinds)
        if topic not in there:
            raise CallError(f"there is no topic '{topic}' of {' or '.join(sorted(kinds))}, from which seeds come; there are: {listed(there)}")
        return {field: topic}
    return {}


def _the_pair(images: list[str]) -> tuple[str, str]:
    by_camera: dict[str, list[tuple[str, str]]] = {}
    for pair in _pairs(images):
        by_camera.setdefault(_folder(pair[0]), []).append(pair)
    if not by_camera:
        raise CallError(f"no two image topics are a left and a right one; name two of these with --left and --right: {listed(images)}")
    if len(by_camera) > 1:
        pairs = "; ".join(f"{left} and {right}" for each in by_camera.values() for left, right in each[:1])
        raise CallError(f"there are several pairs of cameras, {pairs}; choose one with --left and --right")
    return min(next(iter(by_camera.values())), key=_rank)


def _pairs(images: list[str]) -> list[tuple[str, str]]:
    there = set(images)
    made = []
    for name in images:
        for left, right in SIDES:
            other = name.replace(left, right)
            if other != name and other in there:
                made.append((name, other))
                break
    return made


def _rank(pair: tuple[str, str]) -> tuple[Any, ...]:
    """Returns a sort key: rectified images come first, then uncompressed images, then colour images."""
    name = pair[0]
    return is_raw(name), name.endswith("/compressed"), "color" not in name, name


def _folder(topic: str) -> str:
    """Returns the namespace of the camera's topics: /stereo/left for /stereo/left/image_rect/compressed."""
    return topic.removesuffix("/compressed").rpartition("/")[0]


def _with_infos(types: Mapping[str, str], left: str, right: str) -> Topics:
    return Topics(left, right, _info_of(types, left), _info_of(types, right))


def _info_of(types: Mapping[str, str], image: str) -> str | None:
    beside = f"{_folder(image)}/camera_info"
    return beside if types.get(beside) == INFO else None


def namespace_of(topics: Topics) -> str:
    """Returns the namespace for results, the common beginning of both names: /stereo for /stereo/left/image_rect."""
    left, right = topics.left.split("/"), topics.right.split("/")
    same = next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), len(left) - 1)
    return "/".join(left[:same])


def listed(names: list[str]) -> str:
    return ", ".join(names) or "none"
