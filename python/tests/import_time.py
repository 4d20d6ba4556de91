"""Measures the time to import the package, beyond NumPy, as the least of many runs: python import_time.py"""

import subprocess
import sys
import time


def least(code, runs=15):
    took = []
    for _ in range(runs):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        took.append(time.perf_counter() - start)
    return min(took)


numpy, both = least("import numpy"), least("import numpy, stereopsis")
print(f"import: NumPy {1e3 * numpy:.0f} ms, the package {1e3 * (both - numpy):.0f} ms more (at most 100 are wanted)")
