"""Measures the time of a frame with `stereopsis bench` on its generated pairs, for the scripts that draw tables and figures."""
import resource

import harness


def bench(command, method, size, device, *more):
    """The results of one method at one size, (width, height, disparities)."""
    return harness.bench(command, "--no-peers", "--no-stream", "--device", device, "--size", "x".join(map(str, size)), *more, methods=[method])["results"][0]


def frame_ms(command, method, size, device, one_thread=False, repeat=5, pairs=16):
    """The shortest of several runs, on a GPU without transfers and of 16 `pairs` at a time; or, with one_thread, the processor's time of
    a run on one thread, which does not grow while other programs run."""
    if not one_thread:
        batch = 1 if device == "cpu" else pairs
        run = bench(command, method, size, device, "--batch", str(batch), "--repeat", str(repeat))
        return run["min_ms"] / batch

    def processor_ms(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        bench(command, method, size, "cpu", "--threads", "1", "--repeat", str(runs))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return 1e3 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)

    # Enough frames that the varying time of the start does not matter.
    while (ms := processor_ms(1 + repeat) - processor_ms(1)) < 500 and repeat < 1000:
        repeat *= 4
    return ms / repeat
