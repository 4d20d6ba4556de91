"""Bags of ROS 1 and ROS 2: reads pairs from them and writes results to them. Reading and writing require the package rosbags.

`reading.Bag` gives the messages of a bag, `recording.Recording` its stamped pairs.
"""
