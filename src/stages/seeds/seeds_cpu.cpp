#include "stages/seeds/seeds.hpp"

#include "device/cpu/threads.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/seeds/seeds_cpu.cpp"
#include <hwy/foreach_target.h>

#include "device/cpu/highway-inl.hpp"
#include "stages/seeds/seeds_cpu-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::seeds::HWY_NAMESPACE {

// Adds the terms of a row. `further` may be null.
void add_row(const Parameters& p, const std::uint32_t* prior, const std::uint32_t* further, std::uint8_t* costs,
             int columns, int disparities) {
  for (int x = 0; x < columns; ++x, costs += disparities)
    for (const std::uint32_t* const seeds : {prior, further})
      if (seeds != nullptr)
        if (const Term term(p, seeds[x]); !term.is_zero()) term.add(costs, disparities);
}

}  // namespace stereopsis::seeds::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::seeds {

HWY_EXPORT(add_row);

void cpu(const Parameters& p, ImageView<const std::uint32_t> prior, ImageView<const std::uint32_t> further,
         VolumeView<std::uint8_t> costs, Threads& threads) {
  threads.rows(costs.height, [&](int first, int last) {
    for (int y = first; y < last; ++y) HWY_DYNAMIC_DISPATCH(add_row)
    (p, prior.row(y), further.empty() ? nullptr : further.row(y), costs.row(y), costs.width, costs.disparities);
  });
}

}  // namespace stereopsis::seeds
#endif
