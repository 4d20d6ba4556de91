
#include "evaluation/checks.hpp"
#include "evaluation/legend.hpp"
#include "stereopsis/disparity.hpp"
#include "stereopsis/render.hpp"

namespace stereopsis {
namespace {

struct Kind {
  std::uint8_t bits;  // a pixel is of this kind if it has at least one of these bits
  NamedColour named;
};

// Returns the kinds of pixels by precedence. A pixel with none of their bits was measured.
const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {{validity::outside, {{0, 0, 0}, "outside"}},
                                        {validity::masked, {{90, 90, 90}, "masked"}},
                                        {validity::no_candidate, {{60, 60, 160}, "no candidate"}},
                                        {validity::left_right, {{230, 120, 30}, "left-right"}},
                                        {validity::ambiguous, {{240, 210, 60}, "ambiguous"}},
                                        {validity::speckle, {{190, 40, 40}, "speckle"}},
                                        {validity::filled, {{120, 190, 120}, "filled"}},
                                        {validity::repaired, {{110, 180, 220}, "repaired"}},
                                        {0, {{240, 240, 240}, "measured"}}};
  return all;
}

}  // namespace

Image<std::uint8_t> colour_validity(ImageView<const std::uint8_t> validity, bool legend) {
  check_plane("validity", validity);
  Image<std::uint8_t> picture(validity.size(), 3);
  for (int y = 0; y < validity.height; ++y)
    for (int x = 0; x < validity.width; ++x)
      for (const Kind& kind : kinds())
        if ((validity(x, y) & kind.bits) != 0 || kind.bits == 0) {
          for (int c = 0; c < 3; ++c) picture(x, y, c) = kind.named.colour[static_cast<std::size_t>(c)];
          break;
        }
  if (!legend) return picture;
  std::vector<NamedColour> names;
  for (const Kind& kind : kinds()) names.push_back(kind.named);
  return with_legend(picture, names);
}

}  // namespace stereopsis
