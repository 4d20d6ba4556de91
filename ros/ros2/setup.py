"""The node itself is in the Python package stereopsis: pip install its wheel file, or . in its checkout."""

from setuptools import setup

setup(
    name="stereopsis_ros",
    version="0.1.0",
    packages=["stereopsis_ros"],
    data_files=[
        ("share/ament_index/resource_index/packages", ["resource/stereopsis_ros"]),
        ("share/stereopsis_ros", ["package.xml"]),
        ("share/stereopsis_ros/launch", ["launch/stereo.launch.py"]),
    ],
    install_requires=["setuptools"],
    zip_safe=True,
    license="Apache-2.0",
    entry_points={"console_scripts": ["stereo_node = stereopsis.ros.node2:main"]},
)
