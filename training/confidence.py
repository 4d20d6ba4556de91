#!/usr/bin/env python3
"""Renders scenes, matches them by several methods, trains the network of the learned confidence, and exports its weights.

    python3 training/confidence.py --stereopsis build/release/bin/stereopsis --output training/weights/confidence.weights

The Python package `stereopsis` must be installed, because it matches the scenes. The definition is in
src/stages/learned_confidence/learned_confidence.hpp.
"""

import argparse
import copy
import pathlib
import time

import numpy as np
import torch
from torch.nn import functional

import scenes
import stereopsis as st

METHODS = ("sgm", "balanced", "sgm-learned", "banz-sgm", "zncc", "ad-census", "census-guided")
FILLERS = {
    "vote_fill", "fill", "region_voting", "interpolation", "discontinuity", "repair", "propagation", "subpixel",
}  # fmt: skip
SIZE = (384, 256)
PICTURES = ((384, 256), (560, 420), (800, 600), (640, 480), (1000, 560))
DISPARITIES = 96
SHARD = 50  # scenes
CROP = 192
MOST_WRONG = 0.25  # share of wrong visible pixels; maps with more are not trained on
CHANNELS = 21
MOST_LOGIT = 127


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = lambda name, default, help: parser.add_argument(
        name, type=type(default), default=default, help=f"{help} [{default}]"
    )
    parser.add_argument("--stereopsis", help="the command, which renders the scenes; without it they must be there")
    parser.add_argument("--output", type=pathlib.Path, required=True, help="the weights; a log is written beside them")
    add("--scenes", "confidence-scenes", "folder for rendered scenes; shards that are there are used again")
    add("--shards", 40, f"number of shards of {SHARD} scenes")
    add("--iterations", 10500, "steps of the optimiser")
    add("--batch", 24, f"crops of {CROP}×{CROP} pixels in a step")
    add("--seed", 1, "seed of weights, scenes and batches")
    add("--rate", 2e-3, "learning rate at the start; it falls as a cosine")
    add("--device", "cuda" if torch.cuda.is_available() else "cpu", "device of PyTorch")
    add("--matcher", "cuda:0" if torch.cuda.is_available() else "cpu", "device of the matchers")
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
    """Returns (batch, 21, height, width) uint8 from 8-bit grey views, a float disparity and its validity, (batch, height, width)."""
    left, right = left.int(), right.int()
    device, (height, width) = left.device, left.shape[-2:]
    valid = disparity.abs() < 32768  # False for NaN
    q = torch.where(valid, torch.floor(torch.where(valid, disparity, 0) * 16 + 0.5), 0).int()
    measured = valid & (validity == 0)
    d = (q + 8) >> 4
    x = torch.arange(width, device=device, dtype=torch.int32).expand(left.shape)

    def agreement(reach, step, tolerance):
        total, sums = torch.zeros_like(left), [torch.zeros_like(left), torch.zeros_like(left)]
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
    column = u.clamp(0, width - 1).long()
    nearest = torch.full_like(d, -70000).scatter_reduce(-1, column, torch.where(points, d, -70000), "amax")
    occlusion = torch.where(points, (8 * (nearest.gather(-1, column) - d)).clamp(0, 127), 0)

    def step_to(dy, dx):
        step = (64 + ((shifted(q, dy, dx) - q) >> 1)).clamp(0, 127)
        return torch.where(shifted(valid, dy, dx), step, 64)

    steps = [step_to(*at) for at in ((0, -3), (0, 3), (0, -9), (0, 9), (-3, 0), (3, 0), (-9, 0), (9, 0))]
    channels = [measured.int() * 127, *agreement(2, 1, 16), *agreement(3, 4, 24)]
    channels += [(own >> 2).clamp(max=127), 5 * order, aside(2), aside(1), texture, occlusion, (4 * u).clamp(0, 127)]
    made = torch.stack([*channels, *steps, left >> 1], 1)
    return (made * valid[:, None].int()).to(torch.uint8)


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
    """Computes 16 times the logits of evidence, with the rounding of the library from the first step on."""

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
        x = Round.apply(functional.conv2d(x, weights / 128, biases / 128))
        return x.clamp(-MOST_LOGIT, MOST_LOGIT) if layer == 8 else x.clamp(0, 127)

    @torch.no_grad()
    def _scale(self, layer, x, wanted):
        """Scales a layer so that its outputs have about this mean and deviation, which rounding to integers needs."""
        mean, deviation = wanted
        w = self.weights[layer]
        w.mul_((deviation / functional.conv2d(x, w).std((0, 2, 3)).clamp(min=1e-3))[:, None, None, None]).clamp_(-0.9, 0.9)
        self.biases[layer].copy_((mean - functional.conv2d(x, w).mean((0, 2, 3))) / 64)

    def forward(self, e, scale=False):
        run = lambda layer, x: self.layer(layer, x, ((8, 16) if layer == 8 else (20, 30)) if scale else None)
        halved = lambda x: Round.apply(functional.avg_pool2d(to_even(x), 2))
        doubled = lambda x, size: x.repeat_interleave(2, -1).repeat_interleave(2, -2)[..., : size[0], : size[1]]
        plus = lambda x, skip: Round.apply((doubled(x, skip.shape[-2:]) + skip) / 2)
        s0 = run(1, functional.pixel_unshuffle(to_even(run(0, e.float())), 2))
        s1 = run(3, run(2, halved(s0)))
        coarsest = run(5, run(4, halved(s1)))
        logits = run(8, run(7, plus(run(6, plus(coarsest, s1)), s0)))
        return functional.pixel_shuffle(logits, 2)[:, 0, : e.shape[-2], : e.shape[-1]]


# ---- Scenes and maps ----


def matchers(method, device):
    """Returns matchers of the method, of its winners without refinements, and of its checks without filling."""
    checked = st.Pipeline(method)
    kept = []
    for slot in (slot for slot in checked.slots() if slot.is_refinement):
        if slot.stage in FILLERS:
            break
        if checked.get(f"{slot.slot}.enabled"):
            kept.append(slot.slot)
    checked.set("refinements", tuple(kept) or ("none",))
    raw = st.Pipeline(method)
    raw.set("refinements", ("none",))
    raw.set("select.uniqueness", 0)
    return [st.Matcher(p, disparities=DISPARITIES, device=device) for p in (st.Pipeline(method), raw, checked)]


def samples(options):
    """Yields the evidence, the pixels within 1 pixel of the truth, and a weight for each map that is trained on."""
    device, generator = options.device, np.random.default_rng(options.seed)
    by_method = {method: matchers(method, options.matcher) for method in METHODS}
    for number in range(options.shards):
        shard = scenes.render(options.stereopsis, options.scenes, options.seed, number, SIZE, PICTURES, DISPARITIES, SHARD)
        left, right, truth, visible = scenes.load(shard, SIZE)
        for i in range(SHARD):
            pair = left[i].numpy(), right[i].numpy()
            grey = [scenes.grey8(torch.from_numpy(view)).to(device)[None] for view in pair]
            for method in generator.choice(METHODS, 3, replace=False):
                full, winners, checks = (matcher(*pair) for matcher in by_method[method])
                for disparity, validity in ((full.disparity, full.validity), (winners.disparity, checks.validity)):
                    d, v = (torch.from_numpy(np.array(a)).to(device)[None] for a in (disparity, validity))
                    good = (d - truth[i].to(device)).abs() <= 1
                    wrong = float(((~good[0]) & visible[i].to(device)).sum() / visible[i].sum().clamp(min=1))
                    if wrong < MOST_WRONG:
                        yield evidence(*grey, d, v)[0], good[0], 1 / (wrong + 0.04)


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


def to_bytes(network, probabilities):
    """The file: for each layer int32 biases [out] and int8 weights [out][in][3][3] (layer 0: [out][in]); 255 float32."""
    data = b""
    for layer in range(9):
        weights, biases = network.integers(layer)
        data += biases.detach().cpu().numpy().astype("<i4").tobytes() + weights.detach().cpu().numpy().astype("i1").tobytes()
    return data + probabilities.tobytes()


def from_bytes(data):
    """Returns the network and the probabilities of a file."""
    network, at = Network(), 0
    with torch.no_grad():
        for weights, biases in zip(network.weights, network.biases):
            biases.copy_(torch.frombuffer(bytearray(data[at : at + 4 * len(biases)]), dtype=torch.int32) / (64 * 128))
            at += 4 * len(biases)
            integers = torch.frombuffer(bytearray(data[at : at + weights.numel()]), dtype=torch.int8)
            weights.copy_(integers.view(weights.shape) / 128)
            at += weights.numel()
    return network, np.frombuffer(data, "<f4", offset=at)


def main():
    options, begin = arguments(), time.time()
    log = options.output.with_suffix(".log").open("w")

    def say(*words):
        print(round(time.time() - begin), *words, flush=True)
        print(round(time.time() - begin), *words, file=log, flush=True)

    torch.manual_seed(options.seed)
    made, good, weight = (list(column) for column in zip(*samples(options)))
    e, good, weight = torch.stack(made), torch.stack(good), torch.tensor(weight)
    say(f"{len(e)} maps")
    held_out = len(e) * 9 // 10  # the table is fitted on maps of later scenes than those that are trained on
    network = Network().to(options.device)
    network(e[torch.randperm(held_out)[:16]], scale=True)
    mean = copy.deepcopy(network)
    optimiser = torch.optim.Adam(network.parameters(), options.rate)
    for step in range(options.iterations):
        rate = options.rate * min(1, (step + 1) / 300) * 0.5 * (1 + np.cos(np.pi * step / options.iterations))
        for group in optimiser.param_groups:
            group["lr"] = rate
        index = torch.multinomial(weight[:held_out], options.batch, replacement=True)
        y, x = (2 * int(torch.randint(0, (size - CROP) // 2 + 1, ())) for size in (SIZE[1], SIZE[0]))
        crop, wanted = e[index, :, y : y + CROP, x : x + CROP], good[index, y : y + CROP, x : x + CROP].float()
        dropped = torch.rand(options.batch, CHANNELS, 1, 1, device=crop.device) < 0.1
        loss = functional.binary_cross_entropy_with_logits(network(torch.where(dropped, 0, crop)) / 16, wanted)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
        with torch.no_grad():  # the mean of about the last 500 steps is exported
            for kept, new in zip(mean.parameters(), network.parameters()):
                kept.lerp_(new, max(2e-3, 1 / (step + 1)))
        if (step + 1) % 1000 == 0:
            say(step + 1, f"{loss.item():.4f}")
    with torch.no_grad():
        logits = torch.cat([mean(one[None]).flatten().long().cpu() for one in e[held_out:]])
    options.output.write_bytes(to_bytes(mean, table(logits, good[held_out:].flatten().cpu())))
    say("wrote", options.output)


if __name__ == "__main__":
    main()
