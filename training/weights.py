"""The weights file. Little-endian:

    8 bytes   "STEREOLF"
    uint32    version, 1
    uint32    number of layers
    per layer uint32 channels in, uint32 channels out, uint32 shift
    int32     cost offset; uint32 cost shift; uint32 cost limit
    per layer int32 biases [out], int8 weights [out][in][3][3]
    uint64    FNV-1a hash of all bytes before
"""

import struct

import numpy as np

import emulation

MAGIC = b"STEREOLF"
VERSION = 1


def fnv1a(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return value


def to_bytes(layers):
    data = MAGIC + struct.pack("<II", VERSION, len(layers))
    for layer in layers:
        data += struct.pack("<III", layer.weights.shape[1], layer.weights.shape[0], layer.shift)
    data += struct.pack("<iII", emulation.COST_OFFSET, emulation.COST_SHIFT, emulation.COST_LIMIT)
    for layer in layers:
        data += layer.biases.astype("<i4").tobytes() + layer.weights.astype("i1").tobytes()
    return data + struct.pack("<Q", fnv1a(data))


def from_bytes(data):
    if data[:8] != MAGIC:
        raise ValueError("not a file of learned weights: it does not begin with STEREOLF")
    if len(data) < 24 or struct.unpack("<Q", data[-8:])[0] != fnv1a(data[:-8]):
        raise ValueError("the file of learned weights is damaged: its hash differs; get it again")
    version, count = struct.unpack_from("<II", data, 8)
    if version != VERSION:
        raise ValueError(f"the file of learned weights has version {version}; this program reads {VERSION}")
    shapes = [struct.unpack_from("<III", data, 16 + 12 * i) for i in range(count)]
    at = 16 + 12 * count + 12
    layers = []
    for i, (channels_in, channels_out, shift) in enumerate(shapes):
        biases = np.frombuffer(data, "<i4", channels_out, at)
        at += 4 * channels_out
        size = channels_out * channels_in * 9
        weights = np.frombuffer(data, "i1", size, at).reshape(channels_out, channels_in, 3, 3)
        at += size
        layers.append(emulation.IntegerLayer(weights, biases, shift, -127 if i == count - 1 else 0))
    return layers


def write(path, layers):
    path.with_suffix(".part").write_bytes(to_bytes(layers))
    path.with_suffix(".part").replace(path)


def read(path):
    return from_bytes(path.read_bytes())
