// The colour maps that pictures, the viewer and Python share.
#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include "core/suggestion.hpp"
#include "core/text.hpp"
#include "evaluation/sunset.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis {
namespace {

using Channels = std::array<double, 3>;

std::uint32_t packed(const Channels& colour) {
  std::uint32_t rgb = 0;
  for (const double channel : colour)
    rgb = rgb << 8 | static_cast<std::uint32_t>(std::lround(255 * std::clamp(channel, 0.0, 1.0)));
  return rgb;
}

// Returns the map whose channels are polynomials, with the constant coefficient first.
template <std::size_t terms>
ColorMap of_polynomials(const std::array<std::array<double, terms>, 3>& channels) {
  ColorMap map{};
  for (std::size_t i = 0; i < map.size(); ++i) {
    Channels colour{};
    for (std::size_t c = 0; c < 3; ++c)
      for (std::size_t k = terms; k-- > 0;) colour[c] = colour[c] * static_cast<double>(i) / 255 + channels[c][k];
    map[i] = packed(colour);
  }
  return map;
}

// Returns the map that joins colours at equal distances.
ColorMap between(std::span<const Channels> stops) {
  ColorMap map{};
  for (std::size_t i = 0; i < map.size(); ++i) {
    const double at = static_cast<double>(i) / 255 * static_cast<double>(stops.size() - 1);
    const std::size_t k = std::min(static_cast<std::size_t>(at), stops.size() - 2);
    Channels colour{};
    for (std::size_t c = 0; c < 3; ++c)
      colour[c] = stops[k][c] + (stops[k + 1][c] - stops[k][c]) * (at - static_cast<double>(k));
    map[i] = packed(colour);
  }
  return map;
}

// Approximations of Turbo (Mikhailov 2019) and of Viridis and Magma (Smith, van der Walt 2015), of degree 5 and 6.
constexpr std::array<std::array<double, 6>, 3> turbo = {{{0.1357, 4.5974, -42.3277, 130.5887, -150.5666, 58.1375},
                                                         {0.0914, 2.1856, 4.8052, -14.0195, 4.2109, 2.7747},
                                                         {0.1067, 12.5925, -60.1097, 109.0745, -88.5066, 26.8183}}};
constexpr std::array<std::array<double, 7>, 3> viridis = {
    {{0.2777, 0.1051, -0.3309, -4.6342, 6.2283, 4.7764, -5.4355},
     {0.0054, 1.4046, 0.2148, -5.7991, 14.1799, -13.7451, 4.6459},
     {0.3341, 1.3846, 0.0951, -19.3324, 56.6906, -65.353, 26.3124}}};
constexpr std::array<std::array<double, 7>, 3> magma = {
    {{-0.0021, 0.2517, 8.3537, -27.6687, 52.1761, -50.7685, 18.6557},
     {-0.0007, 0.6775, -3.5777, 14.2647, -27.9436, 29.0466, -11.4898},
     {-0.0054, 2.494, 0.3145, -13.6492, 12.9442, 4.2342, -5.602}}};
constexpr std::array<Channels, 2> greys = {{{0, 0, 0}, {1, 1, 1}}};
// Blue below, grey at no difference, red above.
constexpr std::array<Channels, 3> difference = {{{0.16, 0.4, 0.75}, {0.62, 0.65, 0.67}, {0.8, 0.27, 0.2}}};
// Calm without an error, then warmer.
constexpr std::array<Channels, 4> error = {
    {{0.11, 0.24, 0.25}, {0.26, 0.55, 0.5}, {0.95, 0.77, 0.36}, {0.86, 0.3, 0.2}}};

const std::map<std::string, ColorMap, std::less<>>& maps() {
  static const std::map<std::string, ColorMap, std::less<>> all = {{"sunset", sunset},
                                                                   {"turbo", of_polynomials(turbo)},
                                                                   {"viridis", of_polynomials(viridis)},
                                                                   {"magma", of_polynomials(magma)},
                                                                   {"grey", between(greys)},
                                                                   {"difference", between(difference)},
                                                                   {"error", between(error)}};
  return all;
}

}  // namespace

std::vector<std::string> color_map_names() { return {"sunset", "turbo", "viridis", "magma", "grey"}; }

const ColorMap& color_map(std::string_view name) {
  const auto found = maps().find(name);
  if (found == maps().end())
    throw Error(ErrorCategory::call, text("there is no colour map '", name, "'", did_you_mean(name, color_map_names()),
                                          "; the maps are ", join(color_map_names(), ", ")));
  return found->second;
}

}  // namespace stereopsis
