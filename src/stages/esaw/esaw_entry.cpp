#include "graph/registry.hpp"
#include "stages/esaw/esaw.hpp"

namespace stereopsis::esaw {
namespace {

constexpr std::size_t piece_bytes(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

// The scratch memory: the weights of the steps, a volume between sums or steps, and the sums of weights by which the
// costs are divided at the end.
struct Pieces {
  explicit Pieces(const Shape& s)
      : weights(weights_size(s.as<Parameters>(), s.size())),
        weights_bytes(piece_bytes(sizeof(std::uint32_t) * weights.width * static_cast<std::size_t>(weights.height))),
        volume_bytes(piece_bytes(static_cast<std::size_t>(2 * s.cells()))),
        sums_bytes(s.as<Parameters>().normalise == Normalise::end
                       ? piece_bytes(static_cast<std::size_t>(sizeof(float) * s.pixels()))
                       : 0) {}
  std::size_t bytes() const { return weights_bytes + volume_bytes + 2 * sums_bytes; }

  Size weights;
  std::size_t weights_bytes, volume_bytes, sums_bytes;
};

void run(const Call<On::oracle>& c) {
  const auto& p = c.as<Parameters>();
  Image<std::uint32_t> weights(weights_size(p, c.size()));
  oracle_weights(p, c.image<const std::uint32_t>("lab"), weights);
  oracle(p, weights, c.volume<const std::uint8_t>("costs"), c.volume<std::uint16_t>("costs"));
}

[[maybe_unused]] void run(const Call<On::cpu>& c) {
  const auto& p = c.as<Parameters>();
  const Pieces pieces(c);
  std::byte* next = c.scratch().data();
  const auto take = [&]<class T>(T*, std::size_t bytes) {
    T* const piece = reinterpret_cast<T*>(next);
    next += bytes;
    return piece;
  };
  const auto [width, height] = c.size();
  const ImageView<std::uint32_t> weights{take(static_cast<std::uint32_t*>(nullptr), pieces.weights_bytes), width,
                                         pieces.weights.height};
  const int disparities = c.disparities();
  const VolumeView<std::uint16_t> other{take(static_cast<std::uint16_t*>(nullptr), pieces.volume_bytes), width, height,
                                        disparities, static_cast<std::ptrdiff_t>(width) * disparities};
  ImageView<float> sums[2];
  if (pieces.sums_bytes > 0)
    for (auto& view : sums) view = {take(static_cast<float*>(nullptr), pieces.sums_bytes), width, height};
  cpu_weights(p, c.image<const std::uint32_t>("lab"), weights, sums[0], sums[1], c.worker());
  cpu(p, weights, c.volume<const std::uint8_t>("costs"), c.volume<std::uint16_t>("costs"), other, c.worker());
}

void run(const Call<On::gpu>& c) {
  const auto& p = c.as<Parameters>();
  const Pieces pieces(c);
  gpu::Span memory = c.scratch();
  const auto image = [&]<class T>(gpu::Array<T> at, Size size) {
    return gpu::View<T>{at.memory, at.offset, size.width, size.height, 1, size.width};
  };
  const auto weights = image(memory.take(pieces.weights_bytes).as<std::uint32_t>(), pieces.weights);
  const gpu::Volume<std::uint16_t> other{memory.take(pieces.volume_bytes).as<std::uint16_t>(), c.size().width,
                                         c.size().height, c.disparities()};
  gpu::View<float> sums[2];
  if (pieces.sums_bytes > 0)
    for (auto& view : sums) view = image(memory.take(pieces.sums_bytes).as<float>(), c.size());
  gpu_weights(p, c.image<const std::uint32_t>("lab"), weights, sums[0], sums[1], c.worker());
  gpu(p, weights, c.volume<const std::uint8_t>("costs"), c.volume<std::uint16_t>("costs"), other, c.worker());
}

const StageDescriptor entry{
    .slot = Slot::aggregation,
    .name = "esaw",
    .title = "exponential step aggregation",
    .parameters = Parameters{},
    .ports = {in("lab"), in_volume("costs", {Element::u8}), out_volume("costs", Element::u16)},
    .functions = on_every_device([](const auto& c) { run(c); }),
    .required_input = required_input,
    .scratch = {.cpu = [](const Shape& s) { return Pieces(s).bytes(); },
                .gpu = [](const Shape& s) { return Pieces(s).bytes(); }},
    .work = [](const Shape& s) { return Work{.bytes = 4.0 * s.as<Parameters>().iterations * s.cells()}; },
    .facets = {Costs{.units = CostUnits{.largest = 255 * 128, .units = 128}}},
    .examples = {{}, {"normalise=end"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::esaw
