#include <algorithm>
#include <array>

#include "graph/builder.hpp"
#include "stages/black_border/black_border.hpp"

namespace stereopsis::black_border {

void check(const PipelineData&, const Request&);
void mask_view(Builder&, Images&, int view, const Rect& part);

namespace {

// Returns whether the region of a black pixel has at least `fewest` pixels; visits no more than that.
template <class T>
bool is_large(const ImageView<const T>& image, float level, const Pixel& start) {
  std::array<Pixel, fewest> found{start};
  int count = 1;
  for (int i = 0; i < count; ++i) {
    const auto [x, y] = found[static_cast<std::size_t>(i)];
    for (const Pixel q : {Pixel{x - 1, y}, Pixel{x + 1, y}, Pixel{x, y - 1}, Pixel{x, y + 1}}) {
      if (q.x < 0 || q.y < 0 || q.x >= image.width || q.y >= image.height) continue;
      if (!is_black(image, level, q.x, q.y) ||
          std::find(found.begin(), found.begin() + count, q) != found.begin() + count)
        continue;
      found[static_cast<std::size_t>(count)] = q;
      if (++count == fewest) return true;
    }
  }
  return false;
}

template <class T>
bool touches(const ImageView<const T>& image, float level) {
  for (int y = 0; y < image.height; ++y) {
    const int step = y == 0 || y == image.height - 1 ? 1 : std::max(1, image.width - 1);
    for (int x = 0; x < image.width; x += step)
      if (is_black(image, level, x, y) && is_large(image, level, {x, y})) return true;
  }
  return false;
}

constexpr auto mask = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{
    .slot = Slot::internal,
    .name = "black_border",
    .title = "black regions at the border",
    .parameters = Parameters{},
    .ports = {in("given"), if_there("mask"), out("mask", Element::u8)},
    .functions = on_every_device([](const auto& c) {
      c.with_pixels([&]<class T>() {
        mask(c, c.template as<Parameters>(), c.template of<InputOf, T>(c("given"), c("mask")), c("mask"));
      });
    }),
    .scratch = {.cpu = [](const Shape& s) { return scratch_bytes(s.size()); },
                .gpu = [](const Shape& s) { return gpu_scratch_bytes(s.size()); }},
    .work = [](const Shape& s) { return Work{.bytes = 6 * s.pixels()}; },

    .check_pipeline = check,
    .facets = {BlackMask{.mask_view = mask_view, .has_effect = [](const StageParameters& p, const AnyView& image) {
                           return has_region(p.as<Parameters>(), image);
                         }}}};

}  // namespace

bool has_region(const Parameters& p, const AnyView& image) {
  return with_element<std::uint8_t, std::uint16_t, float>(
      image.element, [&]<class T>() { return touches(image.on_host<const T>(), p.level); });
}

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::black_border
