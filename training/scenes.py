"""Generated scenes: rendered in shards by `stereopsis synth --random --stacked`, drawn in batches on the device."""

import pathlib
import subprocess
import threading
import time

import numpy as np
import torch

import cameras

SIZE = (320, 56)
PICTURES = ((400, 300), (560, 420), (800, 600), (560, 420), (1000, 560))  # rendered in turn, and cut into strips
DISPARITIES = 96
SHARD = 512  # scenes
RANDOM = ("synth", "--random", "--stacked")  # subcommand and options of `stereopsis` and mesh_scenes
HELD_OUT = 1_000_000_000  # seeds from here on are never trained on


def is_whole(shard):
    return (shard / "scenes.json").exists()


def render(
    command, folder, seed, number, size=SIZE, pictures=PICTURES, disparities=DISPARITIES, count=SHARD, like="varied",
    field=0, without=cameras.NOT_IN_STRIPS,
):  # fmt: skip
    """Writes shard `number` of a seed, unless it is there; without a command another training into the same folder
    does.

    The command is a list: the program, and its own arguments. A share of the scenes, `field`, gets conditions of
    cameras.py.
    """
    shard = pathlib.Path(folder) / f"{seed}-{number:05}"
    shard.parent.mkdir(parents=True, exist_ok=True)
    while not command and not is_whole(shard):
        time.sleep(0.1)
    if is_whole(shard):
        return shard
    width, height = pictures[number % len(pictures)]
    part = shard.with_name(shard.name + ".part")
    arguments = {
        "-o": part, "--count": count, "--seed": (seed * 1_000_000 + number * count) % 2**31,
        "--width": size[0], "--height": size[1], "--disparities": disparities,
        "--picture-width": width, "--picture-height": height, "--like": like,
    }  # fmt: skip
    subprocess.run([*command, *(str(v) for pair in arguments.items() for v in pair)], check=True, stdout=subprocess.DEVNULL)
    cameras.finish(part, (seed, number), field, without)
    part.rename(shard)
    return shard


def synth(command):
    """Returns the call of `stereopsis` for `render`; None if there is no command."""
    return command and [command, *RANDOM]


def load(shard, size=SIZE):
    """Returns the left and the right images, the true disparities and whether both eyes see the pixel."""
    shape = (-1, size[1], size[0])
    read = lambda name: torch.from_numpy(np.load(shard / f"{name}.npy"))
    return (
        read("left").view(*shape, 3), read("right").view(*shape, 3),
        read("disp_left").view(shape), (read("mask_nonocc").view(shape) >= cameras.VISIBLE - cameras.BACKDROP),
    )  # fmt: skip


def backdrop(shard, size=SIZE):
    """Returns where the scenes end."""
    mask = torch.from_numpy(np.load(shard / "mask_nonocc.npy")).view(-1, size[1], size[0])
    return (mask == cameras.VISIBLE - cameras.BACKDROP) | (mask == cameras.OCCLUDED - cameras.BACKDROP)


class Scenes:
    """Shards 0 to `count` - 1 of a seed, rendered on the processor while the device trains."""

    def __init__(self, command, folder, seed, count, device, field=0, shard=SHARD):
        self.count, self.device, self._field, self._shard = count, device, field, shard
        self.shards = []
        self._folder, self._command, self._seed = pathlib.Path(folder), command, seed
        self._failure = None
        threading.Thread(target=self._render, daemon=True).start()

    def _render(self):
        try:
            for number in range(self.count):
                render(self._command, self._folder, self._seed, number, count=self._shard, field=self._field)
        except Exception as error:  # `ready` raises it in the thread that trains
            self._failure = error

    def ready(self, count):
        """Waits until so many shards, or all, are loaded: on nothing else depends what a batch is drawn from."""
        while len(self.shards) < min(count, self.count):
            shard = self._folder / f"{self._seed}-{len(self.shards):05}"
            if is_whole(shard):
                self.shards.append([t.to(self.device) for t in load(shard)])
            elif self._failure:
                raise self._failure
            else:
                time.sleep(0.05)

    def batch(self, size, generator):
        """Draws a batch from one shard: left and right (batch, height, width, 3), disparity and visibility."""
        shard = self.shards[int(torch.randint(len(self.shards), (), generator=generator))]
        index = torch.randint(len(shard[0]), (size,), generator=generator).to(self.device)
        return [t[index] for t in shard]


def grey8(image):
    """8-bit grey (height, width) of 8-bit RGB, as the library computes it."""
    red, green, blue = image.int().unbind(-1)
    return ((19595 * red + 38470 * green + 7471 * blue + 32768) >> 16).to(torch.uint8)


def grey(image, weights):
    """8-bit grey (batch, 1, height, width), as real numbers."""
    return torch.floor((image.float() * weights).sum(-1) + 0.5).clamp(0, 255)[:, None]


def augmented(left, right, generator):
    """Grey views with other weights of the colours, contrast, exposure and noise than the scenes: little of each."""
    device, count = left.device, len(left)
    draw = lambda low, high: (low + (high - low) * torch.rand((count, 1, 1, 1), generator=generator)).to(device)
    often = lambda share: (torch.rand((count, 1, 1, 1), generator=generator) < share).to(device)
    weights = torch.tensor([0.299, 0.587, 0.114], device=device)
    mixed = torch.rand((count, 1, 1, 3), generator=generator).to(device)
    weights = torch.where(often(0.3), mixed / mixed.sum(-1, keepdim=True), weights)
    left, right = grey(left, weights), grey(right, weights)
    contrast = torch.where(often(0.4), draw(0.35, 1), torch.ones_like(draw(1, 1)))
    level = draw(0, 1) * 255 * (1 - contrast)
    gain = torch.where(often(0.1), draw(0.92, 1.08), torch.ones_like(contrast))
    noise = draw(0, 0.75)
    normal = lambda image: torch.randn(image.shape, device=device)
    left = contrast * left + level + noise * normal(left)
    right = gain * (contrast * right + level) + noise * normal(right)
    return torch.floor(left + 0.5).clamp(0, 255), torch.floor(right + 0.5).clamp(0, 255)
