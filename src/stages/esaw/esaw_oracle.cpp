#include <algorithm>

#include "stages/esaw/esaw.hpp"

namespace stereopsis::esaw {
namespace {

struct Offset {
  int x, y;
};

// Returns n for `end`, counted as in the definition in the header.
int count(float part, float sum) {
  int n = 0;
  for (int k = 1; k <= 255; ++k) {
    const float limit = (static_cast<float>(k) - 0.5f) * sum;
    n += limit <= 256.0f * part;
  }
  return n;
}

class Weigher {
 public:
  Weigher(const Parameters& p, ImageView<const std::uint32_t> lab)
      : parameters_(p),
        scales_(support_weight::scales(p.gamma_colour, p.gamma_distance)),
        lab_(lab),
        sums_({lab.width, lab.height}, 1, 1.0f) {}

  // Computes n of all pixels for the neighbours at −offset and +offset.
  void run(const Step& step, Offset offset, int shift, ImageView<std::uint32_t> words) {
    Image<float> next(sums_.size());
    for (int y = 0; y < lab_.height; ++y)
      for (int x = 0; x < lab_.width; ++x) {
        const int before = weight(x, y, x - offset.x, y - offset.y, step),
                  behind = weight(x, y, x + offset.x, y + offset.y, step);
        Shares n = shares(before, behind);
        if (parameters_.normalise == Normalise::end) {
          const float part_before = static_cast<float>(before) * sums_.view().clamped(x - offset.x, y - offset.y);
          const float part_behind = static_cast<float>(behind) * sums_.view().clamped(x + offset.x, y + offset.y);
          const float centre_and_before = 65536.0f * sums_(x, y) + part_before;
          const float sum = centre_and_before + part_behind;
          n.before = count(part_before, sum);
          n.behind = std::min(count(part_behind, sum), 256 - n.before);
          next(x, y) = sum / 65536.0f;
        }
        words(x, y) |= static_cast<std::uint32_t>(n.before | n.behind << 8) << shift;
      }
    if (parameters_.normalise == Normalise::end) sums_ = next;
  }

 private:
  int weight(int x, int y, int other_x, int other_y, const Step& step) const {
    const int distance = support_weight::colour_distance(lab_(x, y), lab_.clamped(other_x, other_y));
    return table_.of[support_weight::exponent(scales_, distance, step.distance_part)];
  }

  const Parameters parameters_;
  const support_weight::Table table_ = support_weight::make_table();
  const support_weight::Scales scales_;
  ImageView<const std::uint32_t> lab_;
  Image<float> sums_;  // N
};

// Computes one of the two sums of a step.
template <class T>
Volume<std::uint16_t> average(VolumeView<const T> costs, int unit, ImageView<const std::uint32_t> weights,
                              Offset offset, int shift) {
  Volume<std::uint16_t> result({costs.width, costs.height}, costs.disparities);
  const auto clamped = [&](int x, int y, int k) {
    return unit * int{costs(std::clamp(x, 0, costs.width - 1), std::clamp(y, 0, costs.height - 1), k)};
  };
  for (int y = 0; y < costs.height; ++y)
    for (int x = 0; x < costs.width; ++x) {
      const std::uint32_t word = weights(x, y);
      const int before = word >> shift & 255, behind = word >> (shift + 8) & 255;
      for (int k = 0; k < costs.disparities; ++k)
        result(x, y, k) = static_cast<std::uint16_t>((before * clamped(x - offset.x, y - offset.y, k) +
                                                      rest(word, shift) * clamped(x, y, k) +
                                                      behind * clamped(x + offset.x, y + offset.y, k) + 128) >>
                                                     8);
    }
  return result;
}

}  // namespace

void oracle_weights(const Parameters& p, ImageView<const std::uint32_t> lab, ImageView<std::uint32_t> weights) {
  Weigher weigher(p, lab);
  int t = 0;
  for (const Step& step : steps(p)) {
    const auto words = weights.crop({0, t++ * lab.height, lab.width, lab.height});
    for (int y = 0; y < lab.height; ++y) std::fill_n(words.row(y), lab.width, 0);
    weigher.run(step, {step.offset, 0}, 0, words);
    weigher.run(step, {0, step.offset}, 16, words);
  }
}

void oracle(const Parameters& p, ImageView<const std::uint32_t> weights, VolumeView<const std::uint8_t> costs,
            VolumeView<std::uint16_t> aggregated) {
  Volume<std::uint16_t> current;
  int t = 0;
  for (const Step& step : steps(p)) {
    const auto words = weights.crop({0, t * costs.height, costs.width, costs.height});
    if (t++ == 0)
      current = average<std::uint8_t>(costs, 128, words, {step.offset, 0}, 0);
    else
      current = average<std::uint16_t>(current, 1, words, {step.offset, 0}, 0);
    current = average<std::uint16_t>(current, 1, words, {0, step.offset}, 16);
  }
  for (int y = 0; y < costs.height; ++y)
    std::copy_n(current.view().row(y), static_cast<std::size_t>(costs.width) * costs.disparities, aggregated.row(y));
}

}  // namespace stereopsis::esaw
