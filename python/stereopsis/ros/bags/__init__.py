"""Bags of ROS 1 and ROS 2: pairs out of them, results into them. Reading and writing require the package rosbags.

`reading.Bag` is a bag's messages, `recording.Recording` its stamped pairs.
"""
