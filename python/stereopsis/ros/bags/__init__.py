"""Reads pairs from bags of ROS 1 and ROS 2, and writes results to bags. Reading and writing require the package rosbags.

`reading.Bag` reads the messages of a bag, and `recording.Recording` reads stamped pairs.
"""
