"""The network and its costs exactly, in integers and NumPy alone: what every device computes."""

import dataclasses

import numpy as np

# The cost of two pixels: clamp((COST_OFFSET - dot) >> COST_SHIFT, 0, 127), rounded to nearest.
COST_SHIFT = 10
COST_OFFSET = 64 << COST_SHIFT
COST_LIMIT = 127


@dataclasses.dataclass
class IntegerLayer:
    weights: np.ndarray  # int8, (out, in, 3, 3)
    biases: np.ndarray  # int32
    shift: int
    low: int  # lowest value of the layer's result


def integer_features(layers, grey):
    """The exact features, int8 (components, height, width), of an 8-bit image: nothing but integers."""
    x = np.pad(grey.astype(np.int64) - 128, len(layers), mode="edge")[None]
    for layer in layers:
        height, width = x.shape[1] - 2, x.shape[2] - 2
        total = np.broadcast_to(layer.biases.astype(np.int64)[:, None, None], (len(layer.biases), height, width)).copy()
        for dy in range(3):
            for dx in range(3):
                part = x[:, dy : dy + height, dx : dx + width].reshape(x.shape[0], -1)
                total += (layer.weights[:, :, dy, dx].astype(np.int64) @ part).reshape(total.shape)
        x = np.clip((total + (1 << (layer.shift - 1))) >> layer.shift, layer.low, 127)
    return x.astype(np.int8)


def integer_costs(left, right, disparities):
    """The exact cost volume, uint8 (height, width, disparities), of two views' features."""
    left, right = left.astype(np.float32), right.astype(np.float32)  # exact: sums stay below 2^24
    _, height, width = left.shape
    costs = np.empty((height, width, disparities), np.uint8)
    columns = np.arange(width)
    for d in range(disparities):
        dot = (left * right[:, :, np.maximum(columns - d, 0)]).sum(0).astype(np.int64)
        costs[:, :, d] = np.clip((COST_OFFSET - dot + (1 << (COST_SHIFT - 1))) >> COST_SHIFT, 0, COST_LIMIT)
    return costs
