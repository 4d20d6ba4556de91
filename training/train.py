#!/usr/bin/env python3
"""Renders scenes, trains the feature network with semi-global matching in the loop, and exports the weights.

    python3 training/train.py --stereopsis build/release/bin/stereopsis --output learned.weights
"""

import argparse
import copy
import json
import pathlib
import time

import torch
from torch.nn import functional

import network
import scenes
import sgm
import weights


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = lambda name, default, help: parser.add_argument(
        name, type=type(default), default=default, help=f"{help} [{default}]"
    )
    parser.add_argument("--stereopsis", help="the command, which renders the scenes; without it they must be there")
    parser.add_argument("--output", type=pathlib.Path, required=True, help="the weights; a log is written beside them")
    add("--scenes", "scenes", "folder for rendered scenes; shards that are there are used again")
    add("--channels", 32, "of the first three layers")
    add("--iterations", 13000, "steps of the optimiser")
    add("--batch", 16, "strips of 320×56 a step")
    add("--seed", 1, "of weights, scenes and batches")
    add("--shards", 32, "number of shards of scenes, one more every so many steps that all are there after four fifths")
    add("--shard", scenes.SHARD, "scenes in a shard")
    add("--census-gradient", 0.6, "share of census and gradient that is added to the learned cost")
    add("--rate", 2e-3, "of learning, at the start; falls as a cosine")
    add("--field", 0.0, "share of the scenes that get random conditions of cameras.py")
    add("--border-weight", 3.5, "of pixels near discontinuities of disparity")
    add("--device", "cuda" if torch.cuda.is_available() else "cpu", "of PyTorch")
    add("--log-every", 1000, "steps between lines of the log")
    parser.add_argument("--keep", action="store_true", help="the weights of every line of the log, too: OUTPUT-STEP.weights")
    return parser.parse_args()


def near_discontinuities(disparity, radius=4):
    jump = torch.zeros_like(disparity)
    jump[:, :, 1:] = ((disparity[:, :, 1:] - disparity[:, :, :-1]).abs() > 1).float()
    jump[:, 1:] = torch.maximum(jump[:, 1:], ((disparity[:, 1:] - disparity[:, :-1]).abs() > 1).float())
    return functional.max_pool2d(jump[:, None], 2 * radius + 1, 1, radius)[:, 0]


def path_sums(features, left, right, census_gradient, disparities=scenes.DISPARITIES):
    both, clipped = features(torch.cat([left, right]))
    costs = network.learned_costs(both[: len(left)], both[len(left) :], disparities)
    if census_gradient > 0:
        costs = costs + census_gradient * network.census_gradient_costs(left, right, disparities)
    return sgm.sums(costs, left[:, 0].to(torch.uint8)), clipped


def cross_entropy(sums, sharpness, disparity, weight):
    """The cross-entropy between softmax(-sharpness · S) over all disparities and the truth, split over its two neighbouring integers."""
    low = disparity.floor().clamp(0, sums.shape[-1] - 2)
    share = (disparity - low).clamp(0, 1)
    log_share = functional.log_softmax(-sharpness * sums, -1)
    at = lambda d: log_share.gather(-1, d.long()[..., None])[..., 0]
    return -(weight * ((1 - share) * at(low) + share * at(low + 1))).sum() / weight.sum().clamp(min=1)


@torch.no_grad()
def bad_pixels(features, shard, census_gradient):
    """Percent of visible pixels whose least sum is more than a pixel off, on scenes that are not trained on."""
    bad = visible = 0
    for first in range(0, len(shard[0]), 32):
        left, right, disparity, seen = (t[first : first + 32] for t in shard)
        weights_of_grey = torch.tensor([0.299, 0.587, 0.114], device=left.device)
        left, right = scenes.grey(left, weights_of_grey), scenes.grey(right, weights_of_grey)
        if features is None:
            costs = network.census_gradient_costs(left, right, scenes.DISPARITIES)
            sums = sgm.sums(costs, left[:, 0].to(torch.uint8))
        else:
            sums, _ = path_sums(features, left, right, census_gradient)
        bad += (((sums.argmin(-1) - disparity).abs() > 1) & seen).sum().item()
        visible += seen.sum().item()
    return 100 * bad / visible


def train(options):
    torch.manual_seed(options.seed)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True  # exact: all factors are below 2^10
    torch.backends.cudnn.benchmark = False
    device = torch.device(options.device)
    generator = torch.Generator().manual_seed(options.seed)
    features = network.Features(options.channels).to(device)
    average = copy.deepcopy(features)
    log_sharpness = torch.nn.Parameter(torch.tensor(-3.0, device=device))
    optimiser = torch.optim.Adam([*features.parameters(), log_sharpness], lr=options.rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, options.iterations)
    command = scenes.synth(options.stereopsis)
    held_out = scenes.load(scenes.render(command, options.scenes, scenes.HELD_OUT // 1_000_000, 1, count=options.shard))
    held_out = [t[:256].to(device) for t in held_out]
    data = scenes.Scenes(command, options.scenes, options.seed, options.shards, device, options.field, options.shard)
    curve, start, recent = [], time.time(), []
    print(f"census and gradient: {bad_pixels(None, held_out, 0):.2f} % bad", flush=True)
    for step in range(options.iterations):
        data.ready(1 + 5 * step * options.shards // (4 * options.iterations))
        left, right, disparity, seen = data.batch(options.batch, generator)
        left, right = scenes.augmented(left, right, generator)
        if torch.rand((), generator=generator) < 0.5:  # upside down
            left, right = left.flip(2), right.flip(2)
            disparity, seen = disparity.flip(1), seen.flip(1)
        sums, clipped = path_sums(features, left, right, options.census_gradient)
        weight = seen * (1 + (options.border_weight - 1) * near_discontinuities(disparity))
        entropy = cross_entropy(sums, log_sharpness.exp(), disparity, weight)
        optimiser.zero_grad(set_to_none=True)
        (entropy + 1e-4 * clipped).backward()
        torch.nn.utils.clip_grad_norm_(features.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        with torch.no_grad():
            share = max(1e-3, 1 / (step + 1))
            for mean, now in zip(average.parameters(), features.parameters()):
                mean.lerp_(now, share)
        if (step + 1) % 50 == 0:
            recent.append(entropy.item())
        if (step + 1) % options.log_every == 0 or step + 1 == options.iterations:
            line = {
                "step": step + 1,
                "seconds": round(time.time() - start, 1),
                "loss": round(sum(recent) / max(len(recent), 1), 4),
                "sharpness": round(log_sharpness.exp().item(), 4),
                "bad": round(bad_pixels(average, held_out, options.census_gradient), 3),
            }
            curve.append(line)
            recent = []
            print(json.dumps(line), flush=True)
            weights.write(options.output, average.export())
            if options.keep:
                weights.write(options.output.with_stem(f"{options.output.stem}-{step + 1:05}"), average.export())
            if not torch.isfinite(entropy):
                raise SystemExit("the training diverged: the loss is not finite; use a lower --rate")
    log = {"options": {k: str(v) for k, v in vars(options).items()}, "curve": curve}
    options.output.with_suffix(".json").write_text(json.dumps(log, indent=1))


if __name__ == "__main__":
    train(arguments())
