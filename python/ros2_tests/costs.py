"""Measures the processor time of our node for each pair, beside that of matching alone: costs.py. Cameras are in another process."""

import os
import pathlib
import sys
import tempfile
import time

PAIRS, RATE = 100, 5
SIZE = 640, 480
PROFILE = str(pathlib.Path(__file__).parents[1] / "stereopsis/ros/fastdds.xml")
DISPARITY = {"disparity": "stereo_msgs/DisparityImage"}
ALL = {**DISPARITY, "depth/image_rect": "sensor_msgs/Image", "confidence": "sensor_msgs/Image", "points2": "sensor_msgs/PointCloud2"}


def seconds_of(pid):
    """Returns the processor seconds of a process."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")")[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def of_node(graph, topics):
    """Returns the processor milliseconds of a pair, and the median age of the results."""
    name = f"costs{len(topics)}"
    node = Ours(graph, name, disparity_range=64, threads=1)
    diagnostics = node.listen("/diagnostics", "diagnostic_msgs/DiagnosticArray")
    heard = [node.listen(topic, kind) for topic, kind in topics.items()]
    sender = graph.start(sys.executable, pathlib.Path(__file__).with_name("sender.py"), f"/{name}", *SIZE, PAIRS, RATE, "RELIABLE", name=f"{name}_cameras")
    wait_until(lambda: len(heard[0].came) >= 5, "results")  # the first pair is planned
    before, come = seconds_of(node.process.pid), len(heard[0].came)
    sender.wait(PATIENCE)
    spent, matched = seconds_of(node.process.pid) - before, len(heard[0].came) - come
    age = status_of(diagnostics.came[-2])[2].get("median age of results")
    node.end()
    return 1000 * spent / matched, age


def of_matching(topics):
    """Returns the processor milliseconds of matching a pair in this process, with the outputs that the topics require."""
    image = np.random.default_rng(1).integers(0, 256, (SIZE[1], SIZE[0]), np.uint8)
    rig = st.Rig(focal=500, baseline=0.1, cx_left=320, cx_right=320, cy=240, unit="m", size=SIZE)
    options = {"rig": rig, "want": ["depth", "confidence", "points"]} if topics is ALL else {}
    run = st.Run(((image, image) for _ in range(PAIRS)), method="banz-sgm", device="cpu", threads=1, disparities=64, in_flight=1, **options)
    next(iter(run))
    before = time.process_time()
    count = sum(1 for _ in run)
    return 1000 * (time.process_time() - before) / count


if __name__ == "__main__":
    os.environ |= {"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST", "ROS_DOMAIN_ID": str(os.getpid() % 100 + 1), "FASTRTPS_DEFAULT_PROFILES_FILE": PROFILE}
    sys.path.append(str(pathlib.Path(__file__).parents[1] / "tests"))
    import numpy as np
    import stereopsis as st
    from processes import PATIENCE, wait_until
    from robot import Graph, Ours, status_of

    with tempfile.TemporaryDirectory() as folder:
        graph = Graph(pathlib.Path(folder))
        for title, topics in (("disparity", DISPARITY), ("all results", ALL)):
            (node, age), matching = of_node(graph, topics), of_matching(topics)
            print(f"{title}: {node:.1f} ms a pair, of which matching takes {matching:.1f} ms; median age {age}", flush=True)
        graph.close()
