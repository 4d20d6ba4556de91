#include "graph/descriptor.hpp"
#include "stages/census/census.hpp"
#include "stages/cost/cost.hpp"

namespace stereopsis::census {
namespace {

constexpr auto transform = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

int bits_of(const StageParameters& p) { return shape_of(p.as<Parameters>().window).bits(); }

// Calls f<Word>() with the words that hold so many bits.
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
        [](const StageParameters& p, const PairInfo&) {
          Ports ports{in("grey", both)};
          with_word(bits_of(p), [&]<class W>() { ports.push_back(out("words", element_of<W>(), both)); });
          return ports;
        },
    .functions = on_every_device([](const auto& c) {
      const auto& p = c.template as<Parameters>();
      c.with_pixels(0, [&]<class T>() {
        with_word(bits_of(c.parameters), [&]<class Word>() {
          if constexpr (device_of<decltype(c)> == On::gpu)  // both at once
            transform(c, p, std::array{c.template image<const T>(0), c.template image<const T>(1)},
                      std::array{c.template image<Word>(2), c.template image<Word>(3)});
          else
            for (const int v : {0, 1}) transform(c, p, c.template image<const T>(v), c.template image<Word>(2 + v));
        });
      });
    }),
    .required_input = [](const StageParameters& p,
                         const Rect& output) { return required_input(p.as<Parameters>(), output); },
    .work =
        [](const stereopsis::Shape& s) {
          const int bytes = bytes_of(s.operand(0).element);
          const double pixels = 2 * s.pixels();
          return Work{.bytes = (bytes + bytes_of(s.operand(2).element)) * pixels,
                      .int_ops = 0.5 * bits_of(s.parameters) * bytes * pixels};
        },
    .word_cost =
        [](const StageParameters& p) {
          WordCost kind;
          with_word(bits_of(p), [&]<class W>() { kind = cost::Census<W>{bits_of(p)}; });
          return kind;
        },
    .examples = {{"window=5x5"}, {"window=9x7"}, {"window=11x9"}}};

// Words for costs that read more than them.
const StageDescriptor words9x7{.slot = Slot::image,
                               .name = "census9x7",
                               .title = "census",
                               .ports =
                                   [](const StageParameters&, const PairInfo&) {
                                     return Ports{in("grey"), out("census9x7", Element::u64)};
                                   },
                               .functions = on_every_device([](const auto& c) {
                                 c.with_pixels(0, [&]<class T>() {
                                   transform(c, Parameters{.window = Window::w9x7}, c.template image<const T>(0),
                                             c.template image<std::uint64_t>(1));
                                 });
                               })};

}  // namespace

void register_stage(Registry& registry) {
  registry.add(entry);
  registry.add(words9x7);
}

}  // namespace stereopsis::census
