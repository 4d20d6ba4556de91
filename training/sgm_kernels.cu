// Semi-global matching along the paths of one direction, and its exact subgradient. A warp follows one path; its lanes
// hold neighbouring disparities. The volumes are float32, (batch, y, x, d), disparity fastest; `guide` is 8-bit grey.
#include <cstdint>
#include <type_traits>

struct Problem {
  int batch, height, width, disparities;
  int dx, dy;
  float p1, p2, p2_min;
  int gradient;

  __device__ int paths() const { return batch * (dx != 0 ? height : width); }
  __device__ int steps() const { return dx != 0 ? width : height; }
  // The pixel number of a step on a path, from where it starts.
  __device__ long long pixel(int path, int step) const {
    const int lines = dx != 0 ? height : width;
    const int image = path / lines, line = path % lines;
    const int along = dx + dy > 0 ? step : steps() - 1 - step;
    const int x = dx != 0 ? along : line, y = dx != 0 ? line : along;
    return (static_cast<long long>(image) * height + y) * width + x;
  }
  __device__ float penalty(int difference) const {
    if (gradient == 0 || difference == 0) return p2;
    const float p = floorf(p2 * gradient / difference);
    return fmaxf(p2_min, fminf(p2, p));
  }
};

namespace {

constexpr unsigned all_lanes = 0xffffffff;
constexpr float infinite = 1e30f;

// The least of all lanes, and its disparity: the lowest of equal ones.
__device__ void least_of_warp(float& value, int& index) {
  for (int step = 16; step > 0; step /= 2) {
    const float other = __shfl_xor_sync(all_lanes, value, step);
    const int other_index = __shfl_xor_sync(all_lanes, index, step);
    if (other < value || (other == value && other_index < index)) value = other, index = other_index;
  }
}

// The predecessor that a path cost came from: the same disparity, the one below, the one above, or the least of all.
enum Choice : uint8_t { same, below, above, any };

template <int per_lane>
__global__ void forward(Problem problem, const float* costs, const uint8_t* guide, float* sums, uint8_t* choices,
                        uint8_t* least_before) {
  const int path = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (path >= problem.paths()) return;
  float before[per_lane];
  float least = 0;
  int least_at = 0;
  for (int step = 0; step < problem.steps(); ++step) {
    const long long pixel = problem.pixel(path, step);
    const long long cell = pixel * problem.disparities + lane * per_lane;
    const float p2 = step == 0 ? 0 : problem.penalty(abs(guide[pixel] - guide[problem.pixel(path, step - 1)]));
    const float from_left = __shfl_up_sync(all_lanes, before[per_lane - 1], 1);
    const float from_right = __shfl_down_sync(all_lanes, before[0], 1);
    float now[per_lane];
#pragma unroll
    for (int i = 0; i < per_lane; ++i) {
      const int d = lane * per_lane + i;
      if (d >= problem.disparities) {
        now[i] = infinite;
        continue;
      }
      now[i] = costs[cell + i];
      if (step == 0) continue;
      const float low = (i > 0 ? before[i - 1] : lane > 0 ? from_left : infinite) + problem.p1;
      const float high = (i + 1 < per_lane ? before[i + 1] : lane < 31 ? from_right : infinite) + problem.p1;
      float best = before[i];
      uint8_t choice = same;
      if (low < best) best = low, choice = below;
      if (high < best) best = high, choice = above;
      if (least + p2 < best) best = least + p2, choice = any;
      now[i] += best - least;
      choices[cell + i] = choice;
    }
    if (step > 0 && lane == 0) least_before[pixel] = least_at;
    least = infinite, least_at = 0;
#pragma unroll
    for (int i = 0; i < per_lane; ++i) {
      before[i] = now[i];
      if (lane * per_lane + i < problem.disparities) sums[cell + i] += now[i];
      if (now[i] < least) least = now[i], least_at = lane * per_lane + i;
    }
    least_of_warp(least, least_at);
  }
}

__device__ float sum_of_warp(float value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(all_lanes, value, step);
  return value;
}

template <int per_lane>
__global__ void backward(Problem problem, const float* sum_gradients, const uint8_t* choices,
                         const uint8_t* least_before, float* cost_gradients) {
  const int path = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (path >= problem.paths()) return;
  float flow[per_lane] = {};  // to the path costs of this step from those of the next
  for (int step = problem.steps() - 1; step >= 0; --step) {
    const long long pixel = problem.pixel(path, step);
    const long long cell = pixel * problem.disparities + lane * per_lane;
    float gradient[per_lane];
    uint8_t choice[per_lane];
    float all = 0, jumps = 0;
#pragma unroll
    for (int i = 0; i < per_lane; ++i) {
      const bool inside = lane * per_lane + i < problem.disparities;
      gradient[i] = inside ? flow[i] + sum_gradients[cell + i] : 0;
      choice[i] = inside && step > 0 ? choices[cell + i] : same;
      if (inside) cost_gradients[cell + i] += gradient[i];
      all += gradient[i];
      if (choice[i] == any) jumps += gradient[i];
    }
    if (step == 0) return;
    const float to_least = sum_of_warp(jumps) - sum_of_warp(all);
    const int least_at = least_before[pixel];
    // Gradients that go one disparity up or down.
    const float upwards = __shfl_up_sync(all_lanes, choice[per_lane - 1] == above ? gradient[per_lane - 1] : 0.f, 1);
    const float downwards = __shfl_down_sync(all_lanes, choice[0] == below ? gradient[0] : 0.f, 1);
#pragma unroll
    for (int i = 0; i < per_lane; ++i) {
      float sum = choice[i] == same ? gradient[i] : 0;
      if (i > 0)
        sum += choice[i - 1] == above ? gradient[i - 1] : 0;
      else if (lane > 0)
        sum += upwards;
      if (i + 1 < per_lane)
        sum += choice[i + 1] == below ? gradient[i + 1] : 0;
      else if (lane < 31)
        sum += downwards;
      if (lane * per_lane + i == least_at) sum += to_least;
      flow[i] = sum;
    }
  }
}

constexpr int threads = 128;

template <class Launch>
int with_lanes(const Problem& p, Launch&& launch) {
  const int paths = p.batch * (p.dx != 0 ? p.height : p.width), blocks = (paths + threads / 32 - 1) / (threads / 32);
  if (p.disparities <= 64)
    launch(std::integral_constant<int, 2>(), blocks);
  else if (p.disparities <= 96)
    launch(std::integral_constant<int, 3>(), blocks);
  else if (p.disparities <= 128)
    launch(std::integral_constant<int, 4>(), blocks);
  else
    launch(std::integral_constant<int, 8>(), blocks);
  return cudaGetLastError();
}

}  // namespace

extern "C" int sgm_forward(Problem problem, const float* costs, const uint8_t* guide, float* sums, uint8_t* choices,
                           uint8_t* least_before, cudaStream_t stream) {
  return with_lanes(problem, [&](auto per_lane, int blocks) {
    forward<per_lane.value><<<blocks, threads, 0, stream>>>(problem, costs, guide, sums, choices, least_before);
  });
}

extern "C" int sgm_backward(Problem problem, const float* sum_gradients, const uint8_t* choices,
                            const uint8_t* least_before, float* cost_gradients, cudaStream_t stream) {
  return with_lanes(problem, [&](auto per_lane, int blocks) {
    backward<per_lane.value>
        <<<blocks, threads, 0, stream>>>(problem, sum_gradients, choices, least_before, cost_gradients);
  });
}
