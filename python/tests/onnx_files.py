"""Small networks as ONNX files, for the tests: matching of blocks in one graph, its variants, and the features of the cost `learned`."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper


class Graph:
    """Collects nodes; each function returns the name of its result."""

    def __init__(self):
        self.nodes, self.constants = [], []

    def add(self, kind, *inputs, **attributes):
        name = f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants.append(onnx.numpy_helper.from_array(np.asarray(array), name))
        return name

    def write(self, file, inputs, result, shape, dtype=TensorProto.FLOAT):
        """Writes the graph; `inputs` are (name, type, shape)."""
        self.nodes.append(helper.make_node("Identity", [result], ["disparity"]))
        values = [helper.make_tensor_value_info(*one) for one in inputs]
        output = helper.make_tensor_value_info("disparity", dtype, shape)
        graph = helper.make_graph(self.nodes, "test", values, [output], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
        model.ir_version = 9
        onnx.checker.check_model(model)
        onnx.save(model, file)


def best_of(g, left, right, disparities):
    """Winner takes all of absolute differences, summed over channels; NCHW in, (1, 1, height, width) out."""
    ends, width_axis = g.constant(np.array([2**31], np.int64)), g.constant(np.array([3], np.int64))
    costs = []
    for d in range(disparities):
        cut = g.add("Slice", right, g.constant(np.array([0], np.int64)), g.constant(np.array([-d], np.int64)) if d else ends, width_axis)
        pads = g.constant(np.array([0, 0, 0, d, 0, 0, 0, 0], np.int64))
        shifted = g.add("Pad", cut, pads, mode="edge") if d else right
        difference = g.add("Abs", g.add("Sub", left, shifted))
        costs.append(g.add("ReduceSum", difference, g.constant(np.array([1], np.int64)), keepdims=1))
    volume = g.add("Concat", *costs, axis=1)
    return g.add("Cast", g.add("ArgMin", volume, axis=1, keepdims=1), to=TensorProto.FLOAT)


def expected(left, right, disparities):
    """The map of `best_of`, by NumPy."""
    columns = np.arange(left.shape[1])
    costs = [
        np.abs(left.astype(int) - right[:, np.maximum(columns - d, 0)]).reshape(*left.shape[:2], -1).sum(axis=2)
        for d in range(disparities)
    ]
    return np.argmin(np.stack(costs, axis=2), axis=2).astype(np.float32)


def pair_network(file, disparities, *, shape=(1, 3, "h", "w"), dtype=TensorProto.FLOAT, factor=1.0, quarter=False):
    """Two inputs. NHWC if the last axis has 3 entries; `quarter`: the output has a quarter of the width and the height."""
    g, tensors = Graph(), []
    for name in ("left", "right"):
        tensor = g.add("Transpose", name, perm=[0, 3, 1, 2]) if shape[3] == 3 else name
        tensors.append(g.add("Cast", tensor, to=TensorProto.FLOAT))
    if quarter:
        tensors = [g.add("AveragePool", tensor, kernel_shape=[4, 4], strides=[4, 4]) for tensor in tensors]
    result = g.add("Mul", best_of(g, *tensors, disparities), g.constant(np.float32(factor)))
    g.write(file, [(name, dtype, shape) for name in ("left", "right")], result, (1, 1, None, None))


def stacked_network(file, disparities):
    """One input with both images in its channels; the result is a flow with two planes, to the right view."""
    g = Graph()
    axis = g.constant(np.array([1], np.int64))
    left, right = (
        g.add("Slice", "images", g.constant(np.array([k], np.int64)), g.constant(np.array([k + 3], np.int64)), axis) for k in (0, 3)
    )
    disparity = best_of(g, left, right, disparities)
    flow = g.add("Concat", g.add("Neg", disparity), g.add("Mul", disparity, g.constant(np.float32(0))), axis=1)
    g.write(file, [("images", TensorProto.FLOAT, (1, 6, "h", "w"))], flow, (1, 2, None, None))


def volume_network(file, disparities):
    """Two inputs, and the costs of all candidates as the output."""
    g = Graph()
    best_of(g, "left", "right", disparities)
    volume = next(node.output[0] for node in g.nodes if node.op_type == "Concat")
    g.write(file, [(name, TensorProto.FLOAT, (1, 3, "h", "w")) for name in ("left", "right")], volume, (1, disparities, None, None))


def features_network(file):
    """One input; the features are the sums of 3×3 pixels, by a grouped convolution whose integers are exact in any order."""
    g = Graph()
    x = g.add("Pad", "image", g.constant(np.array([0, 0, 1, 1] * 2, np.int64)), mode="edge")
    x = g.add("Conv", x, g.constant(np.ones((3, 1, 3, 3), np.float32)), group=3)
    g.write(file, [("image", TensorProto.FLOAT, (1, 3, "h", "w"))], x, (1, 3, None, None))


def learned_network(file, layers):
    """The integer layers of the cost `learned`. Floats hold these integers exactly, so that the features are the same."""
    g = Graph()
    beyond = len(layers)
    x = g.add("Sub", "image", g.constant(np.float32(128)))
    x = g.add("Pad", x, g.constant(np.array([0, 0, beyond, beyond] * 2, np.int64)), mode="edge")
    for layer in layers:
        half = 1 << (layer.shift - 1)
        total = g.add("Conv", x, g.constant(layer.weights.astype(np.float32)), g.constant((layer.biases + half).astype(np.float32)))
        shifted = g.add("Floor", g.add("Mul", total, g.constant(np.float32(2.0**-layer.shift))))
        x = g.add("Clip", shifted, g.constant(np.float32(layer.low)), g.constant(np.float32(127)))
    g.write(file, [("image", TensorProto.FLOAT, (1, 1, "h", "w"))], x, (1, layers[-1].weights.shape[0], None, None))
