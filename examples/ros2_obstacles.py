"""Publishes the obstacles in the depth of the node for ROS 2: python3 ros2_obstacles.py --ros-args -r __ns:=/stereo

Subscribes to depth/image_rect, depth/camera_info and confidence. Publishes `obstacles`, a cloud with the nearest point of each
obstacle. The parameters nearer_than and camera_height are in metres; with 0, the ground is fitted to each depth image.
"""

import numpy as np
import rclpy
import stereopsis as st
from rclpy.node import Node
from sensor_msgs.msg import CameraInfo, Image, PointCloud2
from stereopsis import ros


class ObstacleNode(Node):
    def __init__(self):
        super().__init__("obstacles")
        self.nearer_than = self.declare_parameter("nearer_than", 10.0).value
        height = self.declare_parameter("camera_height", 0.0).value
        self.ground = st.Ground(height) if height > 0 else None
        self.messages = ros.Messages(ros.Ros2())
        self.publisher = self.create_publisher(PointCloud2, "obstacles", 1)
        self.waiting = {}  # messages by stamp and topic, until all three of a stamp have come
        for topic, kind in (("depth/image_rect", Image), ("depth/camera_info", CameraInfo), ("confidence", Image)):
            self.create_subscription(kind, topic, lambda message, topic=topic: self.receive(topic, message), 5)

    def receive(self, topic, message):
        stamp = ros.stamps.stamp_of(message)
        came = self.waiting.setdefault(stamp, {})
        came[topic] = message
        if len(came) == 3:
            self.waiting = {at: held for at, held in self.waiting.items() if at > stamp}
            self.publish(*(came[name] for name in ("depth/image_rect", "depth/camera_info", "confidence")))

    def publish(self, depth, info, confidence):
        # The depth is that of parallel cameras, of which the baseline only decides how many pixels 1 px of disparity is.
        rig = st.Rig(focal=info.p[0], baseline=0.1, cx_left=info.p[2], cx_right=info.p[2], cy=info.p[6], unit="m", size=(depth.width, depth.height))
        try:
            found = st.obstacles(ros.array_of(depth), rig, self.nearer_than, confidence=ros.array_of(confidence), ground=self.ground).list
        except st.CallError as error:  # no ground was found
            self.get_logger().warning(str(error))
            return
        if found:
            self.get_logger().info(f"{len(found)} obstacles, the nearest at {found[0].distance:.1f} m")
        points = np.array([obstacle.point for obstacle in found], np.float32).reshape(1, -1, 3)
        self.publisher.publish(self.messages.cloud(depth.header, points, None, True))


if __name__ == "__main__":
    rclpy.init()
    rclpy.spin(ObstacleNode())
