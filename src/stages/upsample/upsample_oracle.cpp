#include <cmath>
#include <cstdlib>

#include "stages/upsample/upsample_rows.hpp"

namespace stereopsis::upsample {
namespace {

struct Neighbour {
  int x, y;
  int weight;
};

// A coordinate of the image in the reduced image, in units of 1 / (2 factor): the reduced pixel before it, and the
// distance from that pixel.
struct Position {
  Position(const Parameters& p, int i) {
    const int twice = 2 * i + (p.centred ? 1 - p.factor : 0), unit = 2 * p.factor;
    before = twice < 0 ? -1 : twice / unit;
    behind = twice - before * unit;
  }
  int before, behind;
};

void upsample_pixel(const Parameters& p, const Input& in, const Output& out, int x, int y) {
  const Position px(p, x), py(p, y);
  const int unit = 2 * p.factor;
  Neighbour near[4];
  int strongest = -1, nearest = 0, nearest_weight = -1;
  for (int i = 0; i < 4; ++i) {
    const int right = i % 2, below = i / 2;
    Neighbour& q = near[i];
    q.x = std::clamp(px.before + right, 0, in.disparity.width - 1);
    q.y = std::clamp(py.before + below, 0, in.disparity.height - 1);
    const int bilinear = (right ? px.behind : unit - px.behind) * (below ? py.behind : unit - py.behind);
    const int steps = std::abs(in.grey(x, y) - in.reduced_grey(q.x, q.y)) / p.edge;
    q.weight = std::isnan(in.disparity(q.x, q.y)) ? 0 : bilinear * (64 >> std::min(steps, 6));
    if (bilinear > nearest_weight) nearest = i, nearest_weight = bilinear;
    if (q.weight > 0 && (strongest < 0 || q.weight > near[strongest].weight)) strongest = i;
  }
  const bool masked = !in.mask.empty() && in.mask(x, y) == 0;
  const Neighbour& q0 = near[strongest < 0 ? nearest : strongest];
  if (!out.validity.empty()) out.validity(x, y) = masked ? validity::masked : in.validity(q0.x, q0.y);
  if (!out.confidence.empty()) out.confidence(x, y) = masked || strongest < 0 ? 0.0f : in.confidence(q0.x, q0.y);
  if (masked || strongest < 0) return void(out.disparity(x, y) = invalid_disparity);

  const float d0 = in.disparity(q0.x, q0.y);
  int sum = 0, weights = 0;
  for (const Neighbour& q : near) {
    if (q.weight == 0) continue;
    const float difference = in.disparity(q.x, q.y) - d0;
    if (std::abs(difference) > 1) continue;
    sum += q.weight * static_cast<int>(std::rint(256.0f * difference));
    weights += q.weight;
  }
  const float offset = static_cast<float>(sum) / static_cast<float>(weights);
  out.disparity(x, y) = (d0 + offset * (1.0f / 256.0f)) * static_cast<float>(p.factor);
}

}  // namespace

void upsample_rows(const Parameters& p, const Input& in, const Output& out, int first, int last) {
  for (int y = first; y < last; ++y)
    for (int x = 0; x < out.disparity.width; ++x) upsample_pixel(p, in, out, x, y);
}

void oracle(const Parameters& p, const Input& in, const Output& out) {
  upsample_rows(p, in, out, 0, out.disparity.height);
}

}  // namespace stereopsis::upsample
