"""Renders scenes, matches them by several methods, trains a network of the learned confidence, and exports its weights.

    python3 training/confidence.py --stereopsis build/release/bin/stereopsis --output training/weights/confidence.weights

The definition is in src/stages/learned_confidence/learned_confidence.hpp. Several trainings may share a folder of scenes: only the one with
`--stereopsis` fills it.
"""

import argparse
import copy
import dataclasses
import json
import math
import multiprocessing
import os
import pathlib
import queue
import struct
import time

import numpy as np
import torch
from torch.nn import functional

import maps
import scenes

# Methods, and the share of the maps that come from each.
METHODS = {
    "sgm": 0.18, "balanced": 0.16, "sgm-learned": 0.2, "accurate": 0.12, "banz-sgm": 0.09, "zncc": 0.09, "ad-census": 0.07,
    "census-guided": 0.09,
}  # fmt: skip
METHODS_OF_SHARD = 2
SIZE = (384, 256)
PICTURES = ((384, 256), (560, 420), (800, 600), (640, 480), (1000, 560))
LIKE = ("mixed", "mixed", "road", "hard")  # mixtures of scenes, in turn
LIKE_WITH_MESHES = ("mixed", "mesh", "road", "mesh", "mixed", "mesh", "hard")  # "mesh": "mixed" with meshes
DISPARITIES = 96
SHARD = 10  # scenes
CROP = 192
MOST_WRONG = 0.25  # share of wrong visible pixels; maps with more are not trained on
MOST_WRONG_IN_FIELD = 0.9  # the same if the scene has conditions of cameras.py
CHANNELS = 21
MOST_LOGIT = 127
UNIT = 16  # a logit of the network, in units of the natural logarithm
MAGIC = b"STEREOCF"
VERSION = 3


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = lambda name, default, help: parser.add_argument(
        name, type=type(default), default=default, help=f"{help} [{default}]"
    )
    parser.add_argument("--stereopsis", help="the command, which renders and matches the scenes; without it they must be there")
    parser.add_argument("--output", type=pathlib.Path, required=True, help="the weights; a log is written beside them")
    parser.add_argument("--meshes", help="the program of training/scenes, which renders about half of the scenes")
    parser.add_argument("--pack", help="its folder of meshes")
    add("--field", 0.7, "share of the scenes that get random conditions of cameras.py")
    parser.add_argument("--learned", type=pathlib.Path, help="weights of the cost network for sgm-learned [the shipped ones]")
    add("--scenes", "confidence-scenes", "folder for scenes and their maps; shards that are there are used again")
    add("--scene-seed", 1, "seed of the scenes")
    add("--shards", 200, f"number of shards of {SHARD} scenes")
    add("--shard", SHARD, "scenes in a shard")
    add("--iterations", 10500, "steps of the optimiser")
    add("--seconds", 0, "time limit of loading and training, to which the learning rate adapts; 0 means none")
    add("--batch", 24, f"crops of {CROP}×{CROP} pixels in a step")
    add("--seed", 1, "seed of weights and batches")
    add("--rate", 2e-3, "learning rate at the start; it falls as a cosine")
    add("--device", "cuda" if torch.cuda.is_available() else "cpu", "device of PyTorch")
    add("--workers", os.cpu_count(), "processes that render and match, of one processor core each")
    add("--match-device", "cpu", "device that matches the scenes")
    add("--data-seconds", 0, "time limit of rendering and matching; 0 means none")
    add("--maps", 0, "largest number of maps to train on, which the device's memory limits; 0 means all")
    parser.add_argument("--data-only", action="store_true", help="end when the scenes and their maps are there")
    parser.add_argument("--existing", action="store_true", help="train on the shards that are there")
    return parser.parse_args()


# ---- Evidence: 21 channels from 0 to 127, as the header defines them ----


def shifted(image, dy, dx):
    """Returns the image's value at (y + dy, x + dx), replicated beyond the borders."""
    height, width = image.shape[-2:]
    ys = (torch.arange(height, device=image.device) + dy).clamp(0, height - 1)
    xs = (torch.arange(width, device=image.device) + dx).clamp(0, width - 1)
    return image[..., ys, :][..., xs]


def is_inside(size, dy, dx, device):
    height, width = size
    y, x = torch.arange(height, device=device), torch.arange(width, device=device)
    return ((y + dy >= 0) & (y + dy < height))[:, None] & ((x + dx >= 0) & (x + dx < width))[None]


def evidence(left, right, disparity, validity):
    """Returns the evidence, (batch, 21, height, width) uint8.

    The arguments are 8-bit grey views, a float disparity and its validity, (batch, height, width).
    """
    left, right = left.int(), right.int()
    device, (height, width) = left.device, left.shape[-2:]
    valid = disparity.abs() < 32768  # False for NaN
    q = torch.where(valid, torch.floor(torch.where(valid, disparity, 0) * 16 + 0.5), 0).int()
    measured = valid & (validity == 0)
    x = torch.arange(width, device=device, dtype=torch.int32).expand(left.shape)
    d = (q + 8) >> 4

    def agreements(reach, step, tolerance):
        """Returns the agreements of valid and of measured pixels with the pixel's value."""
        total, sums = torch.zeros_like(left), [torch.zeros_like(q), torch.zeros_like(q)]
        for dy in range(-reach * step, reach * step + 1, step):
            for dx in range(-reach * step, reach * step + 1, step):
                if dy == 0 and dx == 0:
                    continue
                weight = 64 >> ((shifted(left, dy, dx) - left).abs() >> 3).clamp(max=6)
                weight = weight * is_inside((height, width), dy, dx, device).int()
                total += weight
                agrees = weight * ((shifted(q, dy, dx) - q).abs() <= tolerance).int()
                for sum_, usable in zip(sums, (valid, measured)):
                    sum_ += agrees * shifted(usable.int(), dy, dx)
        return [(127 * s + (total >> 1)) // total.clamp(min=1) for s in sums]

    def right_at(dy, dx, k=0):
        rows = right[:, (torch.arange(height, device=device) + dy).clamp(0, height - 1)]
        return rows.gather(-1, (x + dx - d - k).clamp(0, width - 1).long())

    around = [(dy, dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1)]
    difference = lambda k: sum((shifted(left, dy, dx) - right_at(dy, dx, k)).abs() for dy, dx in around)
    own, own_right = difference(0), right_at(0, 0)
    order = sum(
        ((shifted(left, dy, dx) < left) != (right_at(dy, dx) < own_right)).int()
        for dy in range(-2, 3)
        for dx in range(-2, 3)
    )
    aside = lambda k: (64 + ((torch.minimum(difference(k), difference(-k)) - own) >> 2)).clamp(0, 127)
    gradient = (shifted(left, 0, 1) - shifted(left, 0, -1)).abs()
    texture = (sum(shifted(gradient, dy, dx) for dy, dx in around) >> 2).clamp(max=127)
    u = x - d
    points = valid & (u >= 0) & (u < width)
    nothing = torch.full_like(d, -70000)
    nearest = nothing.scatter_reduce(-1, u.clamp(0, width - 1).long(), torch.where(points, d, nothing), "amax")
    behind = nearest.gather(-1, u.clamp(0, width - 1).long()) - d
    occlusion = torch.where(points, (8 * behind).clamp(0, 127), 0)

    def step_to(dy, dx):
        step = (64 + ((shifted(q, dy, dx) - q) >> 1)).clamp(0, 127)
        return torch.where(shifted(valid, dy, dx), step, 64)

    steps = [step_to(*at) for at in ((0, -3), (0, 3), (0, -9), (0, 9), (-3, 0), (3, 0), (-9, 0), (9, 0))]
    channels = [measured.int() * 127, *agreements(2, 1, 16), *agreements(3, 4, 24)]
    channels += [(own >> 2).clamp(max=127), 5 * order, aside(2), aside(1), texture, occlusion, (4 * u).clamp(0, 127)]
    return (torch.stack([*channels, *steps, left >> 1], 1) * valid[:, None].int()).to(torch.uint8)


# ---- Network ----


class Round(torch.autograd.Function):
    """Rounds halves up; the gradient passes straight through."""

    @staticmethod
    def forward(context, x):
        return torch.floor(x + 0.5)

    @staticmethod
    def backward(context, gradient):
        return gradient


def to_even(image):
    return functional.pad(image, (0, image.shape[-1] % 2, 0, image.shape[-2] % 2), mode="replicate")


class Network(torch.nn.Module):
    """Computes logits of evidence in units of 1 / 16, with the rounding of the library from the first step on."""

    def __init__(self):
        super().__init__()
        shapes = [(8, CHANNELS, 1)] + [(32, 32, 3)] * 7 + [(4, 32, 3)]
        parameter = torch.nn.Parameter
        self.weights = torch.nn.ParameterList(
            parameter(torch.randn(o, i, s, s) * (2 / (i * s * s)) ** 0.5) for o, i, s in shapes
        )
        self.biases = torch.nn.ParameterList(parameter(torch.zeros(o)) for o, _, _ in shapes)

    def integers(self, layer):
        weights = Round.apply(self.weights[layer] * 128).clamp(-127, 127)
        return weights, Round.apply(self.biases[layer] * 64 * 128)

    def layer(self, layer, x, scale=None):
        if self.weights[layer].shape[-1] == 3:
            x = functional.pad(x, (1, 1, 1, 1), mode="replicate")
        if scale is not None:
            self._scale(layer, x, scale)
        weights, biases = self.integers(layer)
        x = functional.conv2d(x, weights / 128, biases / 128)
        x = Round.apply(x)
        return x.clamp(-MOST_LOGIT, MOST_LOGIT) if layer == 8 else x.clamp(0, 127)

    @torch.no_grad()
    def _scale(self, layer, x, wanted):
        """Scales a layer so that its outputs have about this mean and deviation, which rounding to integers needs."""
        mean, deviation = wanted
        w = self.weights[layer]
        w.mul_((deviation / functional.conv2d(x, w).std((0, 2, 3)).clamp(min=1e-3))[:, None, None, None]).clamp_(-0.9, 0.9)
        self.biases[layer].copy_((mean - functional.conv2d(x, w).mean((0, 2, 3))) / 64)

    def forward(self, e, scale=False):
        """Returns logits of the confidence, (batch, height, width)."""
        run = lambda layer, x: self.layer(layer, x, ((8, 16) if layer == 8 else (20, 30)) if scale else None)
        halved = lambda x: Round.apply(functional.avg_pool2d(to_even(x), 2))
        doubled = lambda x, size: x.repeat_interleave(2, -1).repeat_interleave(2, -2)[..., : size[0], : size[1]]
        plus = lambda x, skip: Round.apply((doubled(x, skip.shape[-2:]) + skip) / 2)
        e = e.float()
        s0 = run(1, functional.pixel_unshuffle(to_even(run(0, e)), 2))
        s1 = run(3, run(2, halved(s0)))
        coarsest = run(5, run(4, halved(s1)))
        last = run(7, plus(run(6, plus(coarsest, s1)), s0))
        return functional.pixel_shuffle(run(8, last), 2)[:, 0, : e.shape[-2], : e.shape[-1]]


# ---- Scenes and maps ----


@dataclasses.dataclass
class Work:
    """The settings that all shards of a training share."""

    folder: str
    seed: int
    count: int  # scenes in a shard
    command: str  # matches the scenes
    synth: list | None = None  # calls of the programs that render
    meshes: list | None = None
    field: float = 0
    device: str = "cpu"
    learned: pathlib.Path | None = None

    def like(self, number):
        likes = LIKE_WITH_MESHES if self.meshes else LIKE
        return likes[number // len(PICTURES) % len(likes)]


def make_shard(work, number):
    """Renders a shard and writes its maps: complete maps, and winners with the validity of the checks."""
    like = work.like(number)
    command = work.meshes if like == "mesh" else work.synth
    like = "mixed" if like == "mesh" else like
    shard = scenes.render(
        command, work.folder, work.seed, number, SIZE, PICTURES, DISPARITIES, work.count, like, work.field, ()
    )  # fmt: skip
    if is_matched(shard):
        return shard
    has_conditions = [bool(scene.get("conditions")) for scene in json.loads((shard / "scenes.json").read_text())["scenes"]]
    left, right, truth, visible = (array.numpy() for array in scenes.load(shard, SIZE))
    visible = visible & ~scenes.backdrop(shard, SIZE).numpy()
    methods = np.random.default_rng((work.seed, number)).choice(
        list(METHODS), METHODS_OF_SHARD, replace=False, p=list(METHODS.values())
    )
    found = {"scene": [], "disparity": [], "validity": []}
    for disparities, validities in maps.of_scenes(work.command, methods, left, right, DISPARITIES, work.device, work.learned):
        for i, (disparity, validity) in enumerate(zip(disparities, validities)):
            most_wrong = MOST_WRONG_IN_FIELD if has_conditions[i] else MOST_WRONG
            wrong = ~(np.abs(disparity - truth[i]) <= 1) & visible[i]
            if wrong.sum() < most_wrong * max(visible[i].sum(), 1):
                for name, value in zip(found, (i, disparity, validity)):
                    found[name].append(value)
    for name, values in found.items():
        shape = () if name == "scene" else SIZE[::-1]
        np.save(shard / f"maps_{name}.part.npy", np.array(values).reshape(-1, *shape))  # also without maps
    for name in reversed(found):  # `scene` is there last
        (shard / f"maps_{name}.part.npy").rename(shard / f"maps_{name}.npy")
    return shard


def is_matched(shard):
    return (shard / "maps_scene.npy").exists()


@torch.no_grad()
def samples(shard, device, at_once=64):
    """Yields, for some maps at a time, what is trained on: see `Data`."""
    left, right, truth, visible = scenes.load(shard, SIZE)
    backdrop = scenes.backdrop(shard, SIZE)
    arrays = {name: np.load(shard / f"maps_{name}.npy") for name in ("scene", "disparity", "validity")}
    for first in range(0, len(arrays["scene"]), at_once):
        part = {name: torch.from_numpy(array[first : first + at_once]) for name, array in arrays.items()}
        scene = part["scene"].long()
        grey = [scenes.grey8(view[scene].to(device)) for view in (left, right)]
        disparity, validity, wanted = (t.to(device) for t in (part["disparity"], part["validity"], truth[scene]))
        counted = visible[scene].to(device) & ~backdrop[scene].to(device)
        good = (disparity - wanted).abs() <= 1  # False for NaN
        wrong = (~good & counted).sum((1, 2)) / counted.sum((1, 2)).clamp(min=1)
        yield evidence(*grey, disparity, validity), good, wrong.cpu()


class Data:
    """Maps that are trained on: evidence, which pixels are good, and the share of wrong ones among the visible pixels."""

    def __init__(self, shards, device, most):
        counts = [len(np.load(shard / "maps_scene.npy")) for shard in shards]
        while most and sum(counts) > most:
            counts.pop()
        count, shards = sum(counts), shards[: len(counts)]
        self.evidence = torch.empty((count, CHANNELS, *SIZE[::-1]), dtype=torch.uint8, device=device)
        self.good = torch.empty((count, *SIZE[::-1]), dtype=torch.bool, device=device)
        self.wrong = torch.empty(count)
        at = 0
        for made in (sample for shard in shards for sample in samples(shard, device)):
            for whole, part in zip((self.evidence, self.good, self.wrong), made):
                whole[at : at + len(part)] = part
            at += len(made[0])

    def __len__(self):
        return len(self.evidence)


# ---- Training and export ----


def table(logits, good):
    """Returns the share of good pixels by logit, made monotone by pooling neighbours that are out of order."""
    count = torch.bincount(logits + MOST_LOGIT, minlength=2 * MOST_LOGIT + 1).double() + 2e-6
    right = torch.bincount(logits + MOST_LOGIT, weights=good.double(), minlength=2 * MOST_LOGIT + 1) + 1e-6
    shares, weights, lengths = [], [], []
    for r, n in zip(right.tolist(), count.tolist()):
        shares.append(r / n), weights.append(n), lengths.append(1)
        while len(shares) > 1 and shares[-2] > shares[-1]:
            share, weight, length = shares.pop(), weights.pop(), lengths.pop()
            shares[-1] = (shares[-1] * weights[-1] + share * weight) / (weights[-1] + weight)
            weights[-1] += weight
            lengths[-1] += length
    return np.repeat(shares, lengths).astype("<f4")


def augmented(e):
    """Drops channels, and scales the channels of grey levels, at random for each crop."""
    count, device = len(e), e.device
    factor = torch.exp(0.3 * torch.randn(count, 1, 1, 1, device=device))
    levels = torch.zeros(CHANNELS, 1, 1, dtype=torch.bool, device=device)
    levels[[5, 6, 9]] = True
    e = torch.where(levels, (e * factor).clamp(max=127), e.float())
    return torch.where(torch.rand(count, CHANNELS, 1, 1, device=device) < 0.1, 0, e)


def to_bytes(network, probabilities):
    """Returns the file, little-endian.

    "STEREOCF", uint32 version 3; for each layer int32 biases [out] and int8 weights [out][in][3][3] (layer 0:
    [out][in]); 255 float32 probabilities.
    """
    data = MAGIC + struct.pack("<I", VERSION)
    for layer in range(9):
        weights, biases = network.integers(layer)
        data += biases.detach().cpu().numpy().astype("<i4").tobytes() + weights.detach().cpu().numpy().astype("i1").tobytes()
    return data + probabilities.tobytes()


def from_bytes(data):
    """Returns the network and the probabilities of a file."""
    if data[:8] != MAGIC or struct.unpack_from("<I", data, 8)[0] != VERSION:
        raise ValueError(f"not a file of weights of the learned confidence in version {VERSION}; train them again")
    network, at = Network(), 12
    with torch.no_grad():
        for weights, biases in zip(network.weights, network.biases):
            biases.copy_(torch.frombuffer(bytearray(data[at : at + 4 * len(biases)]), dtype=torch.int32) / (64 * 128))
            at += 4 * len(biases)
            integers = torch.frombuffer(bytearray(data[at : at + weights.numel()]), dtype=torch.int8)
            weights.copy_(integers.view(weights.shape) / 128)
            at += weights.numel()
    return network, np.frombuffer(data, "<f4", offset=at)


@torch.no_grad()
def held_out_table(network, data, first, say):
    """Returns the table of probabilities of the maps from `first` on, and prints how well they describe these maps."""
    logits = torch.cat([network(data.evidence[at : at + 1]).flatten().long().cpu() for at in range(first, len(data))])
    good = data.good[first:].flatten().cpu()
    made = table(logits, good)
    p = torch.from_numpy(made.astype("f4"))[logits + MOST_LOGIT].clamp(1e-4, 1 - 1e-4)
    entropy, sure = functional.binary_cross_entropy(p, good.float()), p > 0.9
    say(f"held out, {len(data) - first} maps: cross entropy of the confidence {entropy:.4f}; above 0.9: "
        f"{100 * sure.float().mean():.2f} %, and {100 * (~good[sure]).float().mean():.2f} % of these wrong")  # fmt: skip
    return made


def main():
    options, begin = arguments(), time.time()
    log = options.output.with_suffix(".log").open("w")

    def say(*words):
        print(round(time.time() - begin), *words, flush=True)
        print(round(time.time() - begin), *words, file=log, flush=True)

    numbers = range(options.shards)
    if options.stereopsis:
        meshes = options.meshes and [options.meshes, "--pack", options.pack, *scenes.RANDOM]
        work = Work(options.scenes, options.scene_seed, options.shard, options.stereopsis, scenes.synth(options.stereopsis), meshes,
                    options.field, options.match_device, options.learned)
        jobs = [(work, number) for number in numbers]
        context = multiprocessing.get_context("spawn")
        cores = context.Queue()
        for core in sorted(os.sched_getaffinity(0)):
            cores.put(core)
        with context.Pool(options.workers, keep_to_core, (cores,)) as pool:
            waiting = pool.imap_unordered(call_make_shard, jobs)
            for made in range(1, len(jobs) + 1):
                left_over = options.data_seconds - (time.time() - begin) if options.data_seconds else None
                try:
                    waiting.next(left_over if left_over is None else max(left_over, 0.01))
                except multiprocessing.TimeoutError:
                    break
                if made % 8 == 0:
                    say(f"{made} of {len(jobs)} shards")
    if options.data_only:
        return
    shards = [pathlib.Path(options.scenes) / f"{options.scene_seed}-{number:05}" for number in numbers]
    if options.existing or options.data_seconds:
        shards = [shard for shard in shards if is_matched(shard)]
    while not all(map(is_matched, shards)):
        time.sleep(0.5)
    say(f"scenes are there; device {options.device}, seed {options.seed}")
    loading = time.time()

    torch.manual_seed(options.seed)
    data = Data(shards, options.device, options.maps)
    held_out = len(data) * 9 // 10  # the table is fitted on maps of later scenes than those that are trained on
    say(f"{len(data)} maps, {held_out} to train on")
    weight = 1 / (data.wrong[:held_out].clamp(max=MOST_WRONG) + 0.04)
    network = Network().to(options.device)
    network(data.evidence[torch.randperm(held_out)[:16]], scale=True)
    mean = copy.deepcopy(network)
    optimiser = torch.optim.Adam(network.parameters(), options.rate)
    start, step = time.time(), 0
    while step < options.iterations:
        done = step / options.iterations
        if options.seconds:
            done = max(done, (time.time() - start) / max(1, options.seconds - (start - loading)))
        if done >= 1:
            break
        rate = options.rate * min(1, (step + 1) / 300) * 0.5 * (1 + math.cos(math.pi * done))
        for group in optimiser.param_groups:
            group["lr"] = rate
        index = torch.multinomial(weight, options.batch, replacement=True)
        y, x = (2 * int(torch.randint(0, (size - CROP) // 2 + 1, ())) for size in (SIZE[1], SIZE[0]))
        window = (..., slice(y, y + CROP), slice(x, x + CROP))
        there = index.to(options.device)
        logits = network(augmented(data.evidence[there][window]))
        loss = functional.binary_cross_entropy_with_logits(logits / UNIT, data.good[there][window].float())
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
        step += 1
        with torch.no_grad():  # the mean of about the last 500 steps is exported
            for kept, new in zip(mean.parameters(), network.parameters()):
                kept.lerp_(new, max(2e-3, 1 / step))
        if step % 500 == 0 or step == 20:
            say(step, f"{loss.item():.4f}")
    say(f"{step} steps")
    options.output.write_bytes(to_bytes(mean, held_out_table(mean, data, held_out, say)))
    say("wrote", options.output)


def keep_to_core(cores):
    """Keeps a process and the command that it calls to one core, because all of them together use all cores."""
    try:
        os.sched_setaffinity(0, {cores.get_nowait()})
    except queue.Empty:
        pass  # more processes than cores


def call_make_shard(job):
    return make_shard(*job)


if __name__ == "__main__":
    main()
