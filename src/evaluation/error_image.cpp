#include <array>
#include <cmath>

#include "evaluation/checks.hpp"
#include "evaluation/legend.hpp"
#include "stereopsis/evaluation.hpp"

namespace stereopsis {
namespace {

using Colour = std::array<double, 3>;
constexpr Colour exact = {255, 255, 255}, nearly_bad = {150, 150, 150};
constexpr Colour just_bad = {255, 170, 60}, very_bad = {130, 0, 0};
constexpr Colour invalid = {40, 90, 230}, unknown = {0, 0, 0};
constexpr double doublings = 3;  // number of doublings of the error from just_bad to very_bad

Colour mix(const Colour& a, const Colour& b, double share) {
  return {a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share, a[2] + (b[2] - a[2]) * share};
}

Colour error_colour(double disparity, double truth, double threshold) {
  if (!std::isfinite(truth)) return unknown;
  if (!std::isfinite(disparity)) return invalid;
  const double error = std::abs(disparity - truth);
  if (error <= threshold) return mix(exact, nearly_bad, threshold > 0 ? error / threshold : 0);
  return mix(just_bad, very_bad, threshold > 0 ? std::min(std::log2(error / threshold) / doublings, 1.0) : 1);
}

Rgb rounded(const Colour& colour) {
  Rgb rgb{};
  for (std::size_t c = 0; c < 3; ++c) rgb[c] = static_cast<std::uint8_t>(std::lround(colour[c]));
  return rgb;
}

// Returns the names of the colours: the errors at which the colours begin or end.
std::vector<NamedColour> names_of(double threshold, bool masked) {
  const auto pixels = [](double value) {
    std::string digits = text(std::lround(100 * value) / 100.0);
    return digits + " px";
  };
  std::vector<NamedColour> names = {{rounded(exact), "no error"},
                                    {rounded(nearly_bad), "error up to " + pixels(threshold)},
                                    {rounded(just_bad), "error above " + pixels(threshold)},
                                    {rounded(very_bad), "error " + pixels(8 * threshold) + " and more"},
                                    {rounded(invalid), "invalid"},
                                    {rounded(unknown), "no ground truth"}};
  if (masked) names.push_back({rounded(mix(unknown, exact, 1.0 / 3)), "dark  not counted"});
  return names;
}

}  // namespace

Image<std::uint8_t> error_image(ImageView<const float> disparity, ImageView<const float> truth,
                                ImageView<const std::uint8_t> mask, double threshold, bool legend) {
  check_threshold(threshold);
  check_plane("disparity", disparity);
  check_plane("truth", truth, disparity.size());
  check_mask_of(disparity.size(), mask);
  Image<std::uint8_t> picture(disparity.size(), 3);
  for (int y = 0; y < picture.height(); ++y)
    for (int x = 0; x < picture.width(); ++x) {
      const Colour colour = error_colour(disparity(x, y), truth(x, y), threshold);
      const double brightness = counts(mask, x, y) ? 1 : 1.0 / 3;
      for (int c = 0; c < 3; ++c)
        picture(x, y, c) = static_cast<std::uint8_t>(std::lround(colour[static_cast<std::size_t>(c)] * brightness));
    }
  return legend ? with_legend(picture, names_of(threshold, !mask.empty())) : picture;
}

}  // namespace stereopsis
