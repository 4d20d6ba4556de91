// Adds the steps that align the right image or its map, and that move the right map back.
#include <algorithm>
#include <cmath>

#include "graph/builder.hpp"
#include "stages/align_rows/align_rows.hpp"

namespace stereopsis::align_rows {

// Adds the field to the parameters.
void Planned::add_field(Parameters& p, const RowField& field) const {
  const auto intervals = [](double count) { return static_cast<std::int64_t>(std::llround(count * 0x1p32)); };
  const double across = static_cast<double>(std::max(field.columns - 3, 0)) / whole.width,
               down = static_cast<double>(std::max(field.rows - 3, 0)) / whole.height;
  p.columns = field.columns;
  p.rows = field.rows;
  p.per_column = intervals(across);
  p.per_row = intervals(down);
  p.left = intervals(across / 2) + p.per_column * origin.x;
  p.top = intervals(down / 2) + p.per_row * origin.y;
  for (std::size_t i = 0; i < p.knots.size(); ++i)
    p.knots[i] =
        static_cast<std::int16_t>(std::clamp(std::lround(1024 * static_cast<double>(field.knots[i])), -32768L, 32767L));
}

// Moving the origin is exact, so that parts of an image have the same positions as the whole image.
Parameters Planned::for_kernels() const {
  constexpr double unit = static_cast<double>(std::int64_t{1} << plane_bits);
  const auto fixed = [](double pixels) { return static_cast<std::int64_t>(std::llround(pixels * unit)); };
  const RowAlignment a = alignment.scaled(1.0 / factor);
  const double w = whole.width, h = whole.height, left = (1 - w) / (2 * w), top = (1 - h) / (2 * h);
  const std::int64_t both = fixed(a.keystone / (w * h)), across = fixed(a.roll / w + a.keystone / w * top),
                     down = fixed(a.zoom / h + a.keystone / h * left) + fixed(1);
  Parameters p = {fixed(a.offset + a.roll * left + a.zoom * top + a.keystone * left * top) + across * origin.x +
                      (down + both * origin.x) * origin.y - fixed(1) * first_row,
                  across + both * origin.y, down + both * origin.x, both, white};
  add_field(p, a.field);
  return p;
}

int align_right(Builder& b, int given, int first_row, int mask) {
  const Request& request = b.request();
  const int made = b.image(b.shown().size(), b.raw.info.element, b.shape_of(given).channels);
  const int white = request.element == Element::u16 ? (1 << request.bit_depth) - 1 : 255;
  b.add(registry().with<AlignedView>(), Planned{{}, request.size, {b.shown().x, b.shown().y}, first_row, white}, {},
        {{"given", given}, {"given_mask", b.raw.find("mask", 1)}}, {{"image", made}, {"mask", mask}});
  return made;
}

int align_map(Builder& b, int map) {
  const int made = b.image(b.shown().size(), Element::s32, 2);
  const Planned planned{{}, b.request().rectification->size, {b.shown().x, b.shown().y}, 0, 0};
  b.add(registry().with<AlignedMap>(), planned, {}, {{"map", map}}, {{"aligned_map", made}});
  return made;
}

void restore_right(Builder& b, Maps& maps) {
  const auto right = maps.find("right");
  if (!b.request().requests(Binding::output_right) || right == maps.end()) return;
  const int factor = output_factor(b.pipeline()), map = right->second;
  const Size whole = output_size(b.pipeline(), b.request().seen_size());
  const Pixel origin{b.shown().x / factor, b.shown().y / factor};
  right->second = b.image(b.shape_of(map).size(), Element::f32);
  b.add(registry().with<RestoredView>(), Planned{{}, whole, origin, origin.y, 0, factor}, {}, {{"right", map}},
        {{"restored", right->second}});
}

}  // namespace stereopsis::align_rows
