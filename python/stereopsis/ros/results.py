"""Makes the messages that nodes send, and bags store, for a matched pair."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .cameras import info_fields
from .processor import Matched
from .products import Messages
from .registration import Registration

IMAGE, INFO = "sensor_msgs/Image", "sensor_msgs/CameraInfo"
# The topics of each product below the namespace of the pair, and their types. disparity and points2 are names of
# stereo_image_proc.
TOPICS = {
    "disparity": {"disparity": "stereo_msgs/DisparityImage"},
    "depth": {"depth/image_rect": IMAGE, "depth/camera_info": INFO},
    "points": {"points2": "sensor_msgs/PointCloud2"},
    "confidence": {"confidence": IMAGE},
    "registered": {"depth_registered/image_raw": IMAGE, "depth_registered/camera_info": INFO},
}


@dataclass(frozen=True)
class Shape:
    """The form of the results.

    invalid_is_nan  True if invalid disparities are NaN; otherwise they are min_disparity − 1, as in stereo_image_proc
    millimetres     True if depth is 16UC1 in millimetres, with 0 for no depth; otherwise it is 32FC1 in metres, with NaN for none
    organised       True if clouds have the rows and columns of the image; otherwise they have only valid points
    coloured        True if clouds have the colours of the left image
    registration    camera of depth_registered; None: there is no such result
    measured_only   True if filled and repaired disparities are invalid; depth and points have them only with Matching.fill_depth
    """

    invalid_is_nan: bool = False
    millimetres: bool = False
    organised: bool = True
    coloured: bool = True
    registration: Registration | None = None
    measured_only: bool = False


class Results:
    def __init__(self, messages: Messages, shape: Shape) -> None:
        self._messages, self._shape = messages, shape

    def of(self, matched: Matched, product: str) -> Iterator[tuple[str, str, Any]]:
        """Yields (topic, type, message) of a product. Yields nothing if the product needs the cameras but they are unknown."""
        messages, shape, result = self._messages, self._shape, matched.result
        header = messages.header(matched.pair.stamp, matched.pair.frame_id)
        made: list[Any] = []
        match product:
            case "disparity":
                disparity = result.measured_disparity if shape.measured_only else result.disparity
                made = [messages.disparity(header, disparity, matched.searched, shape.invalid_is_nan)]
            case "depth" if "depth" in result and matched.pair.cameras is not None:
                height, width = result.depth.shape
                info = info_fields(matched.pair.cameras.rig, "left", (width, height))
                made = [messages.depth(header, result.depth, shape.millimetres), messages.camera_info(header, info)]
            case "points" if "points" in result:
                colour = matched.colour if shape.coloured else None
                made = [messages.cloud(header, result.points, colour, shape.organised)]
            case "confidence" if "confidence" in result:
                made = [messages.image(header, result.confidence)]
            case "registered" if "depth" in result and matched.pair.cameras is not None and shape.registration is not None:
                to, cameras = shape.registration, matched.pair.cameras
                header = messages.header(matched.pair.stamp, to.frame_id or matched.pair.frame_id)
                depth = to.depth(result.depth, cameras)
                made = [messages.depth(header, depth, shape.millimetres), messages.camera_info(header, to.info(cameras))]
        for (topic, kind), message in zip(TOPICS[product].items(), made, strict=False):
            yield topic, kind, message
