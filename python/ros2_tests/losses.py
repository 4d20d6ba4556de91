"""Measures how many pairs reach our node from cameras in another process: losses.py. Prints the table of docs/robots.md."""

import os
import pathlib
import sys
import tempfile
import time

PAIRS, RATE = 300, 30
SIZES = ((640, 480), (1280, 720), (1920, 1080))
PROFILE = {name: str(pathlib.Path(__file__).parents[1] / "stereopsis/ros/fastdds.xml") for name in ("FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE")}
SETTINGS = {
    "defaults": {},
    "`LARGE_DATA`": {"FASTDDS_BUILTIN_TRANSPORTS": "LARGE_DATA"},
    "profile": PROFILE,
}


def measure(graph, name, size, setting, reliability):
    """Returns the numbers of pairs sent and received, and of images that the middleware reports as lost."""
    before = {key: os.environ.pop(key, None) for key in PROFILE}
    os.environ |= setting
    words = ["-p", f"qos_overrides./{name}/left/image_rect.subscription.reliability:={reliability.lower()}"]
    words += ["-p", f"qos_overrides./{name}/right/image_rect.subscription.reliability:={reliability.lower()}"]
    node = Ours(graph, name, *words, disparity_range=16)
    diagnostics = node.listen("/diagnostics", "diagnostic_msgs/DiagnosticArray")
    node.listen("confidence")
    sender = graph.start(
        sys.executable, pathlib.Path(__file__).with_name("sender.py"), f"/{name}", *size, PAIRS, RATE, reliability, name=f"{name}_cameras"
    )
    assert sender.wait(PATIENCE) == 0, graph.said(f"{name}_cameras")
    time.sleep(2)
    values = status_of(diagnostics.came[-1])[2]
    node.end()
    for key in setting:
        del os.environ[key]
    os.environ |= {key: value for key, value in before.items() if value is not None}
    return PAIRS, int(values["pairs received"]), sum(int(values[f"{side} lost on the way"]) for side in ("left", "right"))


if __name__ == "__main__":
    os.environ |= {"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST", "ROS_DOMAIN_ID": str(os.getpid() % 100 + 1)}
    sys.path.append(str(pathlib.Path(__file__).parents[1] / "tests"))
    from processes import PATIENCE
    from robot import Graph, Ours, status_of

    with tempfile.TemporaryDirectory() as folder:
        graph = Graph(pathlib.Path(folder))
        print(f"|size, {RATE} pairs a second|reliability|{'|'.join(SETTINGS)}|")
        for size in SIZES:
            for reliability in ("BEST_EFFORT", "RELIABLE"):
                row = []
                for i, setting in enumerate(SETTINGS.values()):
                    sent, received, lost = measure(graph, f"n{size[0]}_{reliability.lower()}_{i}", size, setting, reliability)
                    row.append(f"{100 * received / sent:.1f} % ({lost} lost)")
                print(f"|{size[0]}×{size[1]}|{reliability.lower()}|{'|'.join(row)}|", flush=True)
        graph.close()
