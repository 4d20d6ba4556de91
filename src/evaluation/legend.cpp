#include "evaluation/legend.hpp"

namespace stereopsis {
namespace {

constexpr Rgb ground = {20, 20, 20}, ink = {235, 235, 235};
constexpr int narrowest = 160, box = 9, gap = 4, line_height = 14;  // font pixels

int width_of(const NamedColour& entry) { return box + gap + text_size(entry.name, 1).width + 3 * gap; }

}  // namespace

Image<std::uint8_t> with_legend(const Image<std::uint8_t>& picture, const std::vector<NamedColour>& names) {
  const int unit = 1 + picture.width() / 640, width = std::max(picture.width(), narrowest * unit);
  std::vector<std::vector<NamedColour>> lines(1);
  int used = gap;
  for (const NamedColour& entry : names) {
    if (!lines.back().empty() && (used + width_of(entry)) * unit > width) {
      lines.emplace_back();
      used = gap;
    }
    used += width_of(entry);
    lines.back().push_back(entry);
  }
  const int strip_height = (line_height * static_cast<int>(lines.size()) + gap) * unit;
  Image<std::uint8_t> whole({width, picture.height() + strip_height}, 3, ground[0]);
  for (int y = 0; y < picture.height(); ++y) std::copy_n(picture.row(y), 3 * picture.width(), whole.row(y));
  int y = picture.height() + gap * unit;
  for (const auto& line : lines) {
    int x = gap * unit;
    for (const NamedColour& entry : line) {
      fill_rect(whole, {x, y, box * unit, box * unit}, entry.colour);
      draw_text(whole, x + (box + gap) * unit, y + unit, entry.name, unit, ink);
      x += width_of(entry) * unit;
    }
    y += line_height * unit;
  }
  return whole;
}

}  // namespace stereopsis
