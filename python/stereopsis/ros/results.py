"""Makes the messages that nodes send, and bags store, for a matched pair."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .cameras import info_fields
from .processor import Matched
from .products import Messages

IMAGE, INFO = "sensor_msgs/Image", "sensor_msgs/CameraInfo"
# Each product's topics below the pair's namespace, and their types: disparity and points2 are stereo_image_proc's names.
TOPICS = {
    "disparity": {"disparity": "stereo_msgs/DisparityImage"},
    "depth": {"depth/image_rect": IMAGE, "depth/camera_info": INFO},
    "points": {"points2": "sensor_msgs/PointCloud2"},
    "confidence": {"confidence": IMAGE},
}


@dataclass(frozen=True)
class Shape:
    """The form of the results.

    invalid_is_nan  of disparities: else invalid is min_disparity − 1, as stereo_image_proc has it
    millimetres     depth is 16UC1, 0 where there is none; else 32FC1 in metres, NaN where there is none
    organised       clouds have the image's rows and columns; else the points alone
    coloured        clouds have the left image's colours
    """

    invalid_is_nan: bool = False
    millimetres: bool = False
    organised: bool = True
    coloured: bool = True


class Results:
    def __init__(self, messages: Messages, shape: Shape) -> None:
        self._messages, self._shape = messages, shape

    def of(self, matched: Matched, product: str) -> Iterator[tuple[str, str, Any]]:
        """(topic, type, message) of a product; nothing where the cameras are not known and it needs them."""
        messages, shape, result = self._messages, self._shape, matched.result
        header = messages.header(matched.pair.stamp, matched.pair.frame_id)
        made: list[Any] = []
        match product:
            case "disparity":
                made = [messages.disparity(header, result.disparity, matched.searched, shape.invalid_is_nan)]
            case "depth" if result.depth is not None and matched.pair.cameras is not None:
                height, width = result.depth.shape
                info = info_fields(matched.pair.cameras.rig, "left", (width, height))
                made = [messages.depth(header, result.depth, shape.millimetres), messages.camera_info(header, info)]
            case "points" if result.points is not None:
                colour = matched.colour if shape.coloured else None
                made = [messages.cloud(header, result.points, colour, shape.organised)]
            case "confidence" if result.confidence is not None:
                made = [messages.image(header, result.confidence)]
        for (topic, kind), message in zip(TOPICS[product].items(), made, strict=False):
            yield topic, kind, message
