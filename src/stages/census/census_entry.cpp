#include "graph/registry.hpp"
#include "stages/census/census.hpp"
#include "stages/cost/cost.hpp"

namespace stereopsis::census {
namespace {

constexpr auto transform = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

int bits_of(const Parameters& p) { return shape_of(p.window).bits(); }

// Calls f<Word>() with the narrowest word that holds so many bits.
template <class F>
void with_word(int bits, F&& f) {
  if (bits <= 32)
    f.template operator()<std::uint32_t>();
  else if (bits <= 64)
    f.template operator()<std::uint64_t>();
  else
    f.template operator()<Word128>();
}

const StageDescriptor entry{
    .slot = Slot::cost,
    .name = "census",
    .title = "census",
    .parameters = Parameters{},
    .ports =
        [](const Parameters& p) {
          Ports ports{in("grey", both)};
          with_word(bits_of(p), [&]<class W>() { ports.push_back(out("words", element_of<W>(), both)); });
          return ports;
        },
    .functions = on_every_device([](const auto& c) {
      const auto& p = c.template as<Parameters>();
      c.with_pixels([&]<class T>() {
        with_word(bits_of(p), [&]<class Word>() {
          const auto grey = c.template images<const T>("grey");
          const auto words = c.template images<Word>("words");
          if constexpr (device_of<decltype(c)> == On::gpu)  // one kernel transforms both views
            transform(c, p, grey, words);
          else
            in_turn(transform, c, p, grey, words);
        });
      });
    }),
    .required_input = required_input,
    .work =
        [](const stereopsis::Shape& s) {
          const int bytes = bytes_of(s.operand("grey").element);
          const double pixels = 2 * s.pixels();
          return Work{.bytes = (bytes + bytes_of(s.operand("words").element)) * pixels,
                      .int_ops = 0.5 * bits_of(s.as<Parameters>()) * bytes * pixels};
        },
    .facets = {WordCosts{.cost =
                             [](const Parameters& p) {
                               WordCost kind;
                               with_word(bits_of(p), [&]<class W>() { kind = cost::Census<W>{bits_of(p)}; });
                               return kind;
                             }}},
    .examples = {{"window=5x5"}, {"window=9x7"}, {"window=11x9"}}};

// Census words for costs that also read other features.
const StageDescriptor words9x7{.slot = Slot::image,
                               .name = "census9x7",
                               .title = "census",
                               .ports = {in("grey"), out("census9x7", Element::u64)},
                               .functions = on_every_device([](const auto& c) {
                                 c.with_pixels([&]<class T>() {
                                   transform(c, Parameters{.window = Window::w9x7}, c.template image<const T>("grey"),
                                             c.template image<std::uint64_t>("census9x7"));
                                 });
                               })};

}  // namespace

void register_stage(Registry& registry) {
  registry.add(entry);
  registry.add(words9x7);
}

}  // namespace stereopsis::census
