"""Semi-global matching that gradients go through: the path costs of `src/stages/sgm`, as real numbers.

    L_r(p, d) = C(p, d) + min[L_r(p-r, d), L_r(p-r, d±1) + P1, min_i L_r(p-r, i) + P2] - min_i L_r(p-r, i)

`sums` takes costs of shape (batch, height, width, disparities) and gives the sums over the four paths along rows and
columns. The subgradient of a minimum goes to the first of its least terms. `reference` is the definition; on a GPU the
kernels of sgm_kernels.cu do the same in a thousandth of the time.
"""

import ctypes
import dataclasses
import functools
import pathlib
import subprocess
import tempfile

import torch

DIRECTIONS = ((1, 0), (-1, 0), (0, 1), (0, -1))


@dataclasses.dataclass(frozen=True)
class Penalties:
    """The parameters of the method `sgm`."""

    p1: float = 20
    p2: float = 100
    p2_min: float = 30
    gradient: int = 8

    def p2_at(self, difference):
        """P2 for the absolute grey difference along the path."""
        if self.gradient == 0:
            return torch.full_like(difference, self.p2)
        falling = torch.floor(self.p2 * self.gradient / difference.clamp(min=1))
        return torch.where(difference == 0, torch.full_like(falling, self.p2), falling.clamp(self.p2_min, self.p2))


def _first_least(*terms):
    """The elementwise minimum whose gradient goes to the first of the least terms."""
    least = terms[0]
    for term in terms[1:]:
        least = torch.where(term < least, term, least)
    return least


def _along(costs, guide, penalties, dx, dy):
    if dy:
        turned = _along(costs.transpose(1, 2), guide.transpose(1, 2), penalties, dy, 0)
        return turned.transpose(1, 2)
    if dx < 0:
        return _along(costs.flip(2), guide.flip(2), penalties, 1, 0).flip(2)
    before = costs[:, :, 0]
    path = [before]
    wall = torch.full_like(before[..., :1], 1e30)
    for x in range(1, costs.shape[2]):
        p2 = penalties.p2_at((guide[:, :, x].float() - guide[:, :, x - 1].float()).abs())[..., None]
        index = before.argmin(-1, keepdim=True)
        least = before.gather(-1, index)
        below = torch.cat([wall, before[..., :-1]], -1) + penalties.p1
        above = torch.cat([before[..., 1:], wall], -1) + penalties.p1
        before = costs[:, :, x] + _first_least(before, below, above, least + p2) - least
        path.append(before)
    return torch.stack(path, 2)


def reference(costs, guide, penalties=Penalties()):
    return sum(_along(costs, guide, penalties, dx, dy) for dx, dy in DIRECTIONS)


class _Problem(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int) for name in ("batch", "height", "width", "disparities", "dx", "dy")] + [
        (name, ctypes.c_float) for name in ("p1", "p2", "p2_min")
    ] + [("gradient", ctypes.c_int)]


@functools.lru_cache(None)
def _library():
    source = pathlib.Path(__file__).with_name("sgm_kernels.cu")
    library = pathlib.Path(tempfile.mkdtemp()) / "sgm_kernels.so"
    major, minor = torch.cuda.get_device_capability()
    flags = ["-O3", "-std=c++17", f"-arch=sm_{major}{minor}", "-shared", "-Xcompiler", "-fPIC"]
    subprocess.run(["nvcc", *flags, source, "-o", library], check=True)
    return ctypes.CDLL(str(library))


def _call(function, problem, *tensors):
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
    error = function(problem, *(ctypes.c_void_p(t.data_ptr()) for t in tensors), stream)
    if error:
        raise RuntimeError(f"a kernel of semi-global matching did not start: CUDA error {error}")


class _Sums(torch.autograd.Function):
    @staticmethod
    def forward(context, costs, guide, penalties):
        costs, guide = costs.contiguous(), guide.contiguous()
        if costs.dtype != torch.float32 or guide.dtype != torch.uint8 or costs.shape[-1] > 256:
            raise ValueError("costs must be float32 of at most 256 disparities, and the guide uint8")
        p = penalties
        problems = [_Problem(*costs.shape, dx, dy, p.p1, p.p2, p.p2_min, p.gradient) for dx, dy in DIRECTIONS]
        sums = torch.zeros_like(costs)
        choices = [torch.empty_like(costs, dtype=torch.uint8) for _ in problems]
        least = [torch.empty_like(guide) for _ in problems]
        for problem, choice, index in zip(problems, choices, least):
            _call(_library().sgm_forward, problem, costs, guide, sums, choice, index)
        context.problems = problems
        context.save_for_backward(*choices, *least)
        return sums

    @staticmethod
    def backward(context, sum_gradients):
        sum_gradients = sum_gradients.contiguous()
        gradients = torch.zeros_like(sum_gradients)
        count = len(context.problems)
        saved = context.saved_tensors
        for problem, choice, index in zip(context.problems, saved[:count], saved[count:]):
            _call(_library().sgm_backward, problem, sum_gradients, choice, index, gradients)
        return gradients, None, None


def sums(costs, guide, penalties=Penalties()):
    """S(p, d) from costs of shape (batch, height, width, disparities) and the left image in 8-bit grey."""
    return _Sums.apply(costs, guide, penalties) if costs.is_cuda else reference(costs, guide, penalties)
