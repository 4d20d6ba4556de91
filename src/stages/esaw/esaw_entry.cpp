#include "stages/entry.hpp"
#include "stages/esaw/esaw.hpp"

namespace stereopsis::esaw {
namespace {

// The weights of the steps, a volume for every second one, and the sums of weights that are divided by at the end.
struct Memory {
  explicit Memory(const Shape& s, gpu::Span span = {0, 0, std::size_t{1} << 62}) {
    const auto& p = s.as<Parameters>();
    const std::size_t before = span.bytes;
    const auto image = [&]<class T>(Size size, T) {
      const auto pixels = span.take(sizeof(T) * size.width * static_cast<std::size_t>(size.height)).template as<T>();
      return gpu::View<T>{pixels.memory, pixels.offset, size.width, size.height, 1, size.width};
    };
    weights = image(weights_size(p, s.size()), std::uint32_t{});
    other = {span.take(static_cast<std::size_t>(2 * s.cells(1))).as<std::uint16_t>(), s.size().width, s.size().height,
             s.operand(1).disparities};
    if (p.normalise == Normalise::end) {
      sums = image(s.size(), 0.0f);
      other_sums = image(s.size(), 0.0f);
    }
    bytes = before - span.bytes;
  }

  gpu::View<std::uint32_t> weights;
  gpu::Volume<std::uint16_t> other;
  gpu::View<float> sums, other_sums;
  std::size_t bytes;
};

void run_oracle(const Call<On::oracle>& c) {
  const auto& p = c.as<Parameters>();
  Image<std::uint32_t> weights(weights_size(p, c.size()));
  oracle_weights(p, c.image<const std::uint32_t>(0), weights);
  oracle(p, weights, c.volume<const std::uint8_t>(1), c.volume<std::uint16_t>(2));
}

void run_gpu(const Call<On::gpu>& c) {
  const auto& p = c.as<Parameters>();
  const Memory m(c, c.scratch());
  gpu_weights(p, c.image<const std::uint32_t>(0), m.weights, m.sums, m.other_sums, c.worker());
  gpu(p, m.weights, c.volume<const std::uint8_t>(1), c.volume<std::uint16_t>(2), m.other, c.worker());
}

const Entry entry{
    .slot = Slot::aggregation,
    .name = "esaw",
    .title = "exponential step aggregation",
    .parameters = Parameters{},
    .ports =
        [](const StageParameters&, const PairInfo&) {
          return Ports{in("lab"), in_volume("costs", {Element::u8}), out_volume("costs", Element::u16)};
        },
    .functions = {.oracle = run_oracle, .gpu = run_gpu},
    .required_input = [](const StageParameters& p,
                         const Rect& output) { return required_input(p.as<Parameters>(), output); },
    .scratch = [](const Shape& s) { return s.target.device == On::gpu ? Memory(s).bytes : 0; },
    .work = [](const Shape& s) { return Work{.bytes = 4.0 * s.as<Parameters>().iterations * s.cells(1)}; },
    .units = [](const StageParameters&) { return CostUnits{.largest = 255 * 128, .units = 128}; },
    .examples = {{}, {"normalise=end"}}};

}  // namespace

void join(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::esaw
