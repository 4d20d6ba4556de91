"""The feature network: four 3×3 convolutions in 8-bit integers, as `src/stages/learned_features` computes them.

Trained with the rounding in place (straight through); emulation.py has it exactly, in integers.
"""

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from emulation import COST_LIMIT, COST_SHIFT, IntegerLayer

COMPONENTS = 32
BIAS_UNIT = 16  # bias = BIAS_UNIT · its parameter, so that biases learn as fast as weights
BORDER = 4  # pixels that the convolutions take away at each side
SHIFTS = (5, 7, 7, 7)  # for each layer: its weights are multiples of 2^-shift


class _Round(torch.autograd.Function):
    """Rounded to nearest, halves up; the gradient passes as if nothing were."""

    @staticmethod
    def forward(context, x):
        return torch.floor(x + 0.5)

    @staticmethod
    def backward(context, gradient):
        return gradient


def rounded(x):
    return _Round.apply(x)


def zero_sum(weights):
    """Integers near `weights`, whose own sum over the filter is 0, with that sum exactly: the ones whose rounding
    went farthest are changed by one."""
    whole = torch.floor(weights + 0.5)
    flat = (weights - whole).flatten(1)
    excess = whole.flatten(1).sum(1, keepdim=True)
    rank = flat.argsort(1).argsort(1)  # 0: rounded up the most
    down = (rank < excess).float()
    up = (flat.shape[1] - 1 - rank < -excess).float()
    return (whole.flatten(1) - down + up).view_as(whole)


class Features(nn.Module):
    def __init__(self, channels=32, components=COMPONENTS):
        super().__init__()
        self.widths = (1, channels, channels, channels, components)
        self.weights = nn.ParameterList()
        self.biases = nn.ParameterList()
        for i, shift in enumerate(SHIFTS):
            fan_in = 9 * self.widths[i]
            spread = 0.5 if i == 0 else (2 / fan_in) ** 0.5
            self.weights.append(nn.Parameter(torch.randn(self.widths[i + 1], self.widths[i], 3, 3) * spread))
            self.biases.append(nn.Parameter(torch.zeros(self.widths[i + 1])))

    def integer_weights(self, i):
        scaled = self.weights[i] * 2.0 ** SHIFTS[i]
        if i == 0:
            scaled = scaled - scaled.mean((1, 2, 3), keepdim=True)
            return scaled + (zero_sum(scaled.clamp(-126, 126)) - scaled).detach()
        return rounded(scaled).clamp(-127, 127)

    def forward(self, grey):
        """Features (batch, components, height, width) of grey images (batch, 1, height, width), and how far the last
        layer's values lie beyond their limits."""
        x = functional.pad(grey - 128, (BORDER,) * 4, mode="replicate")
        last = len(SHIFTS) - 1
        for i, shift in enumerate(SHIFTS):
            scale = 2.0 ** -shift
            biases = rounded(self.biases[i] * (BIAS_UNIT / scale)) * scale
            raw = functional.conv2d(x, self.integer_weights(i) * scale, biases)
            x = rounded(raw).clamp(-127 if i == last else 0, 127)
        return x, functional.relu(raw.abs() - 120).square().mean()

    @torch.no_grad()
    def export(self):
        layers = []
        for i, shift in enumerate(SHIFTS):
            weights = self.integer_weights(i).round().cpu().numpy().astype(np.int8)
            biases = torch.floor(self.biases[i] * (BIAS_UNIT * 2.0**shift) + 0.5).cpu().numpy().astype(np.int32)
            layers.append(IntegerLayer(weights, biases, shift, -127 if i == len(SHIFTS) - 1 else 0))
        return layers


def band(left, right, disparities):
    """dot(left(x), right(x - d)) of shape (batch, height, width, disparities); beyond the border the nearest pixel."""
    batch, components, height, width = left.shape
    rows_left = left.permute(0, 2, 3, 1).reshape(batch * height, width, components)
    rows_right = right.permute(0, 2, 1, 3).reshape(batch * height, components, width)
    products = torch.bmm(rows_left, rows_right)
    columns = torch.arange(width, device=left.device)
    index = (columns[:, None] - torch.arange(disparities, device=left.device)).clamp(min=0)
    return products.gather(2, index.expand(batch * height, -1, -1)).view(batch, height, width, disparities)


def learned_costs(left, right, disparities):
    return (64 - band(left, right, disparities) * 2.0**-COST_SHIFT).clamp(0, COST_LIMIT)


def census_gradient_words(grey):
    """24 census bits and the horizontal gradient of images (batch, 1, height, width): stages/census_gradient."""
    padded = functional.pad(grey, (2,) * 4, mode="replicate")
    height, width = grey.shape[-2:]
    neighbours = [(dy, dx) for dy in range(5) for dx in range(5) if (dy, dx) != (2, 2)]
    bits = [padded[..., dy : dy + height, dx : dx + width] < grey for dy, dx in neighbours]
    gradient = (128 + padded[..., 2:-2, 3 : 3 + width] - padded[..., 2:-2, 1 : 1 + width]).clamp(0, 255)
    return torch.cat(bits, 1).float(), gradient


@torch.no_grad()
def census_gradient_costs(left, right, disparities, census_weight=2, gradient_limit=10):
    bits_left, gradient_left = census_gradient_words(left)
    bits_right, gradient_right = census_gradient_words(right)
    # The dot product of two ±1 vectors is 24 - 2 · Hamming.
    hamming = 12 - 0.5 * band(2 * bits_left - 1, 2 * bits_right - 1, disparities)
    width = left.shape[-1]
    columns = torch.arange(width, device=left.device)
    index = (columns[:, None] - torch.arange(disparities, device=left.device)).clamp(min=0)
    difference = (gradient_left[:, 0, :, :, None] - gradient_right[:, 0][:, :, index]).abs()
    return census_weight * hamming + difference.clamp(max=gradient_limit)
