// A toy of the slots `cost` and `plus`: a cost of feature words that no other stage knows.
//
//   word(x, y) = grey(x, y) + 256 slope(x, y)
//   C(p, d) = min(255, |Δgrey| + |Δslope|) of the words at (x, y) and (x − d, y); borders replicate
#include "device/cpu/threads.hpp"
#include "device/gpu/device.hpp"
#include "graph/registry.hpp"

namespace stereopsis::slope_words {
namespace {

using Word = std::uint16_t;
using Bytes = ImageView<const std::uint8_t>;
using Words = ImageView<const Word>;

struct Kind {
  int max_cost() const { return 255; }
  int operator()(Word a, Word b) const {
    return std::min(255, std::abs((a & 255) - (b & 255)) + std::abs((a >> 8) - (b >> 8)));
  }
};

void word_rows(const Bytes& grey, const Bytes& slope, const ImageView<Word>& words, int first, int last) {
  for (int y = first; y < last; ++y)
    for (int x = 0; x < grey.width; ++x) words(x, y) = static_cast<Word>(grey(x, y) | slope(x, y) << 8);
}

constexpr auto make_words = [](const auto& c, const auto& grey, const auto& slope, const auto& words) {
  constexpr On on = device_of<decltype(c)>;
  if constexpr (on == On::gpu)
    c.worker().launch({"slope_words", "words", "any"}, gpu::over(grey.size()), grey, slope, words);
  else if constexpr (on == On::cpu)
    c.worker().rows(grey.height, [&](int first, int last) { word_rows(grey, slope, words, first, last); });
  else
    word_rows(grey, slope, words, 0, grey.height);
};

void cost_rows(const std::array<Words, 2>& words, int min, const VolumeView<std::uint8_t>& costs, int first, int last) {
  for (int y = first; y < last; ++y)
    for (int x = 0; x < costs.width; ++x)
      for (int k = 0; k < costs.disparities; ++k)
        costs(x, y, k) = static_cast<std::uint8_t>(Kind()(words[0](x, y), words[1].clamped(x - min - k, y)));
}

constexpr auto evaluate = [](const auto& c) {
  constexpr On on = device_of<decltype(c)>;
  const auto words = c.template images<const Word>("words");
  const auto costs = c.template volume<std::uint8_t>("costs");
  const int min = c.context.range.min;
  if constexpr (on == On::gpu)
    c.worker().launch({"slope_words", "costs", "any"}, gpu::over(words[0].size()), words[0], words[1], costs.cells,
                      costs.disparities, min);
  else if constexpr (on == On::cpu)
    c.worker().rows(costs.height, [&](int first, int last) { cost_rows(words, min, costs, first, last); });
  else
    cost_rows(words, min, costs, 0, costs.height);
};
constexpr Functions evaluator = on_every_device(evaluate);

const StageDescriptor entry{
    .slot = Slot::cost,
    .name = "slope_words",
    .title = "slope words",
    .ports = {in("grey8", both), in("slope", both), out("words", Element::u16, both)},
    .functions = on_every_device([](const auto& c) {
      in_turn(make_words, c, c.template images<const std::uint8_t>("grey8"),
              c.template images<const std::uint8_t>("slope"), c.template images<Word>("words"));
    }),
    .required_input = [](const StageParameters&, const Rect& output) { return grow(output, 1, 0); },
    .facets = {WordCosts{.cost = WordCost(Kind(), &evaluator)}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::slope_words
