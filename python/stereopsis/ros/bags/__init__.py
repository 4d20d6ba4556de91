"""Bags of ROS 1 and ROS 2: pairs out of them, results into them. What reads and writes needs the package rosbags.

`reading.Bag` is a bag's messages, `recording.Recording` its stamped pairs.
"""
