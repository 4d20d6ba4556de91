#include "stereopsis/render.hpp"

#include <cmath>
#include <cstdio>
#include <vector>

#include "evaluation/checks.hpp"
#include "evaluation/font.hpp"
#include "evaluation/quantile.hpp"
#include "evaluation/sunset.hpp"

namespace stereopsis {
namespace {

constexpr Rgb invalid = {64, 64, 64}, ground = {20, 20, 20}, ink = {235, 235, 235};

// The colours of the values from low to high.
class Scale {
 public:
  explicit Scale(const Coloring& c)
      : map_(color_map(c.map.empty() ? color_map_names().front() : c.map)),
        low_(c.low),
        high_(c.high),
        reversed_(c.near_is_low) {}

  Rgb colour(double value) const {
    const double share = std::clamp((value - low_) / (high_ - low_), 0.0, 1.0);
    const double place = (reversed_ ? 1 - share : share) * static_cast<double>(map_.size() - 1);
    const std::uint32_t rgb = map_[static_cast<std::size_t>(std::lround(place))];
    return {static_cast<std::uint8_t>(rgb >> 16), static_cast<std::uint8_t>(rgb >> 8), static_cast<std::uint8_t>(rgb)};
  }

 private:
  const ColorMap& map_;
  double low_, high_;
  bool reversed_;
};

// Returns a paler colour, which is darker on diagonal lines.
Rgb hatched(Rgb colour, int x, int y, int unit) {
  const int grey = (299 * colour[0] + 587 * colour[1] + 114 * colour[2]) / 1000;
  const bool on_line = (x + y) % (6 * unit) < 2 * unit;
  for (std::uint8_t& channel : colour)
    channel = static_cast<std::uint8_t>((channel + 2 * grey) * (on_line ? 6 : 10) / 30);
  return colour;
}

int unit_of(int width) { return 1 + width / 640; }

std::string fixed(double value, int decimals) {
  char buffer[64];
  const int length = std::snprintf(buffer, sizeof buffer, "%.*f", decimals, value);
  std::string digits(buffer, static_cast<std::size_t>(length));
  if (digits.find('.') != std::string::npos) digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.back() == '.') digits.pop_back();
  return digits == "-0" ? "0" : digits;
}

// The legend in a strip below the image. All lengths are multiples of `unit` pixels, which grows with the image.
class Legend {
 public:
  Legend(int picture_width, const Coloring& c)
      : unit_(unit_of(picture_width)),
        width_(std::max(picture_width, 160)),
        low_(c.low),
        high_(c.high),
        scale_(c),
        name_(c.unit) {}

  Size size() const { return {width_, 35 * unit_}; }

  void draw(ImageView<std::uint8_t> strip) const {
    fill_rect(strip, {0, 0, strip.width, strip.height}, ground);
    for (int x = 0; x < bar_width(); ++x)
      fill_rect(strip, {bar_x() + x, bar_y(), 1, bar_height()}, scale_.colour(value_at(x)));
    draw_text(strip, bar_x() + bar_width() + 5 * unit_, bar_y() + 2 * unit_, name_, unit_, ink);

    // The limits are labelled first, then the round numbers between them for which there is space.
    const double step = tick_step();
    const int decimals = static_cast<int>(std::clamp(std::ceil(-std::log10(step) - 1e-9), 0.0, 9.0));
    std::vector<Rect> taken;
    label(strip, low_, fixed(low_, decimals + 2), taken);
    label(strip, high_, fixed(high_, decimals + 2), taken);
    const double first = std::ceil(low_ / step);
    for (int i = 0; i <= most_ticks; ++i)
      if (const double value = (first + i) * step; value < high_) label(strip, value, fixed(value, decimals), taken);
  }

 private:
  static constexpr int most_ticks = 12;

  int bar_x() const { return 18 * unit_; }
  int bar_y() const { return 7 * unit_; }
  int bar_width() const { return width_ - bar_x() - 10 * unit_ - std::max(text_size(name_, unit_).width, 12 * unit_); }
  int bar_height() const { return 11 * unit_; }
  int tick_height() const { return 5 * unit_; }

  // Return the value at the centre of a column of the bar, and the column for a value.
  double value_at(int x) const { return low_ + (high_ - low_) * x / (bar_width() - 1); }
  int column_of(double value) const {
    return static_cast<int>(std::lround((value - low_) / (high_ - low_) * (bar_width() - 1)));
  }

  // Returns the distance between ticks: the smallest of 1, 2, 5, 10, 20, 50, … (or their fractions) that leaves space
  // for a label.
  double tick_step() const {
    const double room = static_cast<double>(bar_width()) / text_size("0000000", unit_).width;
    const double least = (high_ - low_) / std::clamp(room, 1.0, static_cast<double>(most_ticks));
    const double power = std::pow(10, std::floor(std::log10(least)));
    for (const double factor : {1, 2, 5})
      if (factor * power >= least) return factor * power;
    return 10 * power;
  }

  // Draws a tick under the bar, and its label unless the label would touch a label that is already drawn.
  void label(ImageView<std::uint8_t> strip, double value, const std::string& digits, std::vector<Rect>& taken) const {
    const int x = bar_x() + column_of(value);
    const Size size = text_size(digits, unit_);
    const int left = std::clamp(x - size.width / 2, 2 * unit_, std::max(2 * unit_, width_ - size.width - 2 * unit_));
    const Rect box = {left, bar_y() + bar_height() + tick_height(), size.width, size.height};
    for (const Rect& other : taken)
      if (!intersect(grow(box, 4 * unit_, 0), other).empty()) return;
    taken.push_back(box);
    fill_rect(strip, {x - unit_ / 2, bar_y() + bar_height(), unit_, 3 * unit_}, ink);
    draw_text(strip, box.x, box.y, digits, unit_, ink);
  }

  int unit_;
  int width_;
  double low_, high_;
  Scale scale_;
  std::string name_;
};

void check_limits(const Coloring& c) {
  constexpr double largest = 1e6;
  if (!(c.low < c.high) || !(std::abs(c.low) <= largest) || !(std::abs(c.high) <= largest))
    throw Error(ErrorCategory::call,
                text("display limits of ", number_text(c.low), " and ", number_text(c.high), " ", c.unit,
                     " are not allowed; the lower one must be below the upper one, and both "
                     "between -1000000 and 1000000"));
}

}  // namespace

Image<std::uint8_t> colour_values(ImageView<const float> values, const Coloring& coloring) {
  check_plane("values", values);
  check_limits(coloring);
  const ImageView<const std::uint8_t>& states = coloring.validity;
  if (!states.empty()) check_plane("validity", states, values.size());
  const Scale scale(coloring);
  const Legend legend(values.width, coloring);
  const Size strip = coloring.legend ? legend.size() : Size{values.width, 0};
  Image<std::uint8_t> picture({strip.width, values.height + strip.height}, 3, ground[0]);
  for (int y = 0; y < values.height; ++y)
    for (int x = 0; x < values.width; ++x) {
      const float value = values(x, y);
      Rgb colour = std::isfinite(value) ? scale.colour(value) : invalid;
      if (!states.empty() && std::isfinite(value) && (states(x, y) & (validity::filled | validity::repaired)) != 0)
        colour = hatched(colour, x, y, unit_of(values.width));
      for (int c = 0; c < 3; ++c) picture(x, y, c) = colour[static_cast<std::size_t>(c)];
    }
  if (coloring.legend) legend.draw(picture.view().crop({0, values.height, strip.width, strip.height}));
  return picture;
}

Image<std::uint8_t> colour_disparity(ImageView<const float> disparity, double low, double high, bool legend) {
  return colour_values(disparity, {.low = low, .high = high, .legend = legend});
}

std::pair<double, double> display_limits(ImageView<const float> disparity) { return display_limits(disparity, 1); }

std::pair<double, double> display_limits(ImageView<const float> disparity, double least) {
  check_plane("disparity", disparity);
  std::vector<float> values;
  for (int y = 0; y < disparity.height; ++y)
    std::copy_if(disparity.row(y), disparity.row(y) + disparity.width, std::back_inserter(values),
                 [](float d) { return std::isfinite(d); });
  if (values.empty()) return {0, 1};
  const double low = quantile(values, 1), high = quantile(values, 99);
  const double widen = std::max(0.0, least - (high - low)) / 2;
  return {low - widen, high + widen};
}

}  // namespace stereopsis
