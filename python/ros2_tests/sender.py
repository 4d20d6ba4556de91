"""Cameras in a process of their own: sender.py NAMESPACE WIDTH HEIGHT PAIRS RATE RELIABILITY. Prints how many pairs were sent."""

import sys
import time

import numpy as np
import rclpy
import stereopsis as st
from rclpy.qos import QoSProfile, ReliabilityPolicy
from stereopsis import ros


def send(namespace, width, height, pairs, rate, reliability):
    node = rclpy.create_node("cameras", namespace=namespace)
    family = ros.Ros2()
    messages = ros.Messages(family)
    quality = QoSProfile(depth=5, reliability=ReliabilityPolicy[reliability])
    topics = {f"{side}/{name}": side for name in ("camera_info", "image_rect") for side in ("left", "right")}
    kinds = {topic: family.kind(f"sensor_msgs/{'Image' if 'image' in topic else 'CameraInfo'}") for topic in topics}
    publishers = {topic: node.create_publisher(kind, topic, quality) for topic, kind in kinds.items()}
    rig = st.Rig(focal=500, baseline=0.1, cx_left=width / 2, cx_right=width / 2, cy=height / 2, unit="m", size=(width, height))
    image = np.random.default_rng(1).integers(0, 256, (height, width), np.uint8)
    while any(publisher.get_subscription_count() == 0 for publisher in publishers.values()):
        time.sleep(0.05)
    time.sleep(0.5)
    begin = time.monotonic()
    for i in range(pairs):
        time.sleep(max(0.0, begin + i / rate - time.monotonic()))
        header = messages.header(node.get_clock().now().nanoseconds, "left_optical")
        for topic, side in topics.items():
            is_info = topic.endswith("info")
            publishers[topic].publish(messages.camera_info(header, ros.info_fields(rig, side)) if is_info else messages.image(header, image))
    print(pairs, f"{time.monotonic() - begin:.1f} s", flush=True)
    time.sleep(2)  # the middleware sends what waits


if __name__ == "__main__":
    rclpy.init()
    send(sys.argv[1], *map(int, sys.argv[2:5]), float(sys.argv[5]), sys.argv[6])
