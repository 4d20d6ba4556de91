#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "stages/vote_fill/vote_fill.hpp"

namespace stereopsis::vote_fill {
namespace {

struct Sample {
  int i, j;
  std::int32_t q;
  std::int64_t weight;
};

int difference(ImageView<const std::uint8_t> image, int x, int y, int u, int v) {
  int sum = 0;
  for (int c = 0; c < 3; ++c) {
    const int channel = std::min(c, image.channels - 1);
    sum += std::abs(image(x, y, channel) - image(u, v, channel));
  }
  return sum;
}

// Returns the samples that count. Returns none if the nearest valid sample is too far away.
std::vector<Sample> samples_of(const Parameters& p, const Weights& table, ImageView<const float> disparity,
                               ImageView<const std::uint8_t> image, int x, int y) {
  std::vector<Sample> samples;
  int nearest = std::numeric_limits<int>::max();
  for (int j = -p.reach; j <= p.reach; ++j)
    for (int i = -p.reach; i <= p.reach; ++i) {
      const int u = x + p.step * i, v = y + p.step * j;
      if (u < 0 || v < 0 || u >= disparity.width || v >= disparity.height) continue;
      const std::int32_t q = in_256ths(disparity(u, v));
      if (q == nothing) continue;
      nearest = std::min(nearest, p.step * p.step * (i * i + j * j));
      const std::uint32_t space = table.distance[std::abs(j) * (largest_reach + 1) + std::abs(i)];
      const std::uint32_t colour = table.colour[std::min(difference(image, x, y, u, v), 255)];
      samples.push_back({i, j, q, space * colour >> 16});
    }
  if (nearest > p.distance * p.distance) samples.clear();
  return samples;
}

struct Filled {
  float disparity, confidence;
};

std::optional<Filled> vote(const Parameters& p, std::vector<Sample> samples, ImageView<const float> right, int x,
                           int y) {
  std::map<int, std::int64_t> votes;  // H
  std::int64_t all = 0;
  for (Sample& sample : samples) {
    const int b = whole(sample.q);
    sample.weight *= b > x || x - b >= right.width ? p.hidden : visibility(p, right(x - b, y), b);
    votes[b] += sample.weight;
    all += sample.weight;
  }
  const auto votes_of = [&](int b) { return votes.contains(b) ? votes.at(b) : 0; };
  std::int64_t most = 0;
  int best = 0;
  for (const auto& [b, unused] : votes)
    for (int candidate = b - 1; candidate <= b + 1; ++candidate) {
      const std::int64_t supported = 2 * votes_of(candidate) + votes_of(candidate - 1) + votes_of(candidate + 1);
      if (supported < most || (supported == most && candidate >= best)) continue;
      most = supported;
      best = candidate;
    }
  if (most == 0) return std::nullopt;

  std::int64_t weight = 0, moment = 0;
  for (const Sample& sample : samples) {
    if (std::abs(whole(sample.q) - best) > 1) continue;
    weight += sample.weight;
    // The moment is not negative, so that the quotient is rounded down.
    moment += sample.weight * (sample.q - 256 * (best - 2));
  }
  const int m = 256 * (best - 2) + static_cast<int>(moment / weight);
  Moments sums;
  for (const Sample& sample : samples)
    if (std::abs(sample.q - m) <= 3 * 256) sums.add(sample.weight, sample.i, sample.j, sample.q - m);
  return Filled{plane_at_centre(sums, m, added_variance(p)), static_cast<float>(most) / static_cast<float>(4 * all)};
}

}  // namespace

void oracle(const Parameters& p, const Input& in, const Map& map) {
  check_images(p, in, map);
  const auto [width, height] = map.disparity.size();
  for (int y = 0; p.reject > 0 && y < height; ++y)
    for (int x = 0; x < width; ++x)
      if (!std::isnan(map.disparity(x, y)) && map.confidence(x, y) < static_cast<float>(p.reject)) {
        map.disparity(x, y) = invalid_disparity;
        map.validity(x, y) |= validity::ambiguous;
      }

  const Weights table = weights(p);
  const Image<float> valid{ImageView<const float>(map.disparity)};
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      if (!std::isnan(valid(x, y))) continue;
      if (!map.confidence.empty()) map.confidence(x, y) = 0;
      if ((map.validity(x, y) & (validity::masked | validity::outside)) != 0) continue;
      const auto filled = vote(p, samples_of(p, table, valid, in.image, x, y), in.right, x, y);
      if (!filled) continue;
      map.disparity(x, y) = filled->disparity;
      map.validity(x, y) = static_cast<std::uint8_t>((map.validity(x, y) & ~validity::reasons) | validity::filled);
      if (!map.confidence.empty()) map.confidence(x, y) = filled->confidence;
    }
}

}  // namespace stereopsis::vote_fill
