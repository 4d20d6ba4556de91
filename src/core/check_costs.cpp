#include "core/check_costs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "core/text.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis {
namespace {

template <class T>
bool is_candidate(T cost) {
  if constexpr (std::is_same_v<T, float>) return std::isfinite(cost);
  return sizeof(T) == 1 || cost < std::numeric_limits<T>::max();
}

template <class T>
void check_costs_of(const std::string& name, ImageView<const T> volume, T largest) {
  constexpr T zero = 0;
  T least = zero, most = zero;
  const std::ptrdiff_t elements = std::ptrdiff_t{volume.width} * volume.channels;
  for (int y = 0; y < volume.height; ++y) {
    const T* const row = volume.row(y);
    bool any = false;
    for (std::ptrdiff_t i = 0; i < elements; ++i) any |= row[i] < zero || row[i] > largest;  // no branch: it vectorises
    for (std::ptrdiff_t i = 0; any && i < elements; ++i)
      if (is_candidate(row[i])) {
        least = std::min(least, row[i]);
        most = std::max(most, row[i]);
      }
  }
  const auto refuse = [&](const std::string& sentence) { throw Error(ErrorCategory::call, text(name, sentence)); };
  if (least < zero)
    refuse(
        text(" has costs down to ", +least, ", and costs below 0 would be clamped to 0; add a constant to all costs"));
  if (most > largest)
    refuse(text(" has costs up to ", +most, ", and costs above ", +largest, " would be clamped to ", +largest,
                "; set cost.largest=", +most, ", or scale the costs"));
}

}  // namespace

void check_costs(const std::string& name, const AnyImageView& volume, double largest) {
  if (volume.type == PixelType::f32)
    return check_costs_of(name, volume.as<float>(), largest > 0 ? static_cast<float>(largest) : 1.f);
  if (largest <= 0) return;
  with_pixels(volume, [&]<class T>(ImageView<const T> costs) {
    check_costs_of<T>(name, costs, static_cast<T>(std::min<double>(largest, std::numeric_limits<T>::max())));
  });
}

}  // namespace stereopsis
