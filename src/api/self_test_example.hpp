// Examples for self_test.cpp: an operation with small generated images for its operands, a generated pair, and results.
#pragma once

#include <cstring>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "core/text.hpp"
#include "device/gpu/device.hpp"
#include "graph/pipeline.hpp"
#include "stages/cost/any_kind.hpp"
#include "stages/cross_scale/cross_scale.hpp"
#include "stages/sgm/sgm.hpp"
#include "stages/shared/arms.hpp"
#include "stages/shared/segments.hpp"
#include "stages/window_sad/window_sad.hpp"

namespace stereopsis::self_test {

inline constexpr Size size{61, 29};
inline constexpr DisparityRange range{-3, 24};

// Random numbers that are the same on every machine.
class Random {
 public:
  explicit Random(std::string_view seed) {
    for (const char c : seed) state_ = state_ * 31 + static_cast<unsigned char>(c);
  }
  int operator()(int low, int high) {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return low + static_cast<int>((state_ >> 33) % static_cast<unsigned>(high - low + 1));
  }

 private:
  std::uint64_t state_ = 1;
};

// The bytes of an operand or of a map, and its shape.
struct Made {
  std::string name;
  AnyView shape;
  std::vector<std::byte> bytes;
  bool compared = false;  // true for outputs; all other operands are scratch memory and not compared
};

// Returns a random value in the range that the name of a port implies: an integer, or a multiple of a quarter.
inline double random_value(const std::string& name, Element element, Random& random) {
  const auto is = [&](const char* what) { return name.find(what) != std::string::npos; };
  if (is("disparity") || is("right") || is("guess") || is("seeds"))
    return random(1, 6) == 1 ? invalid_disparity : 0.25 * random(4 * range.min, 4 * range.max());
  if (is("confidence") || is("trust")) return random(0, 128) / 128.0;
  if (is("prior")) return random(0, 1) * (256 * random(0, 16 * range.count) + random(0, 255));
  if (is("validity")) return random(1, 5) == 1 ? validity::filled : 0;
  if (is("kinds")) return random(0, 2);
  if (is("mask")) return random(0, 9);
  if (is("map")) return random(-500, 256 * size.height);
  if (is("samples")) return random(-128, 128);
  if (is("words") && element == Element::u8) return random(0, 80);
  if (is("lab") || is("rgb") || is("colours")) return random(0, (1 << 24) - 1);
  if (is("costs") && element == Element::u16) return random(0, 4000);
  if (element == Element::u16) return random(0, 4095);
  return random(0, 255);
}

inline double arms_within(Size s, int x, int y, Random& random) {
  constexpr int longest = 20;
  const auto arm = [&](int room) { return random(0, std::min(room, longest)); };
  const int left = arm(x), right = arm(s.width - 1 - x), up = arm(y), down = arm(s.height - 1 - y);
  return cross::word_of({left, right, up, down});
}

inline bool is_segments(const std::string& name) { return name == "slic" || name == "superpixels"; }

// Returns the number of a segment: that of the pixel's block, or of a neighbouring block.
inline double segment_near(Size s, int x, int y, Random& random) {
  const auto beside = [&](int at, int blocks) { return std::clamp(at / slic::block + random(-1, 1), 0, blocks - 1); };
  const int across = slic::blocks_across(s.width), column = beside(x, across);
  return beside(y, slic::blocks_across(s.height)) * across + column + (slic::block << slic::number_bits);
}

inline Made made_image(const std::string& name, const AnyView& shape, int most_word, bool random) {
  Made made{name, shape, {}};
  const std::size_t element = bytes_of(shape.element), rows = static_cast<std::size_t>(shape.height);
  made.bytes.assign(element * rows * static_cast<std::size_t>(shape.pitch) + 64, std::byte{0xA5});
  if (!random) return made;
  Random numbers(name);
  for (std::size_t y = 0; y < rows; ++y)
    for (int i = 0; i < shape.row_elements(); ++i) {
      std::byte* at = made.bytes.data() + element * (y * static_cast<std::size_t>(shape.pitch) + i);
      const int x = i, row = static_cast<int>(y);
      const double value = name.starts_with("cross") ? arms_within(shape.size(), x, row, numbers)
                           : is_segments(name)       ? segment_near(shape.size(), x, row, numbers)
                                                     : random_value(name, shape.element, numbers);
      const auto store = [&](auto v) { std::memcpy(at, &v, sizeof v); };
      switch (shape.element) {
        case Element::u8: store(static_cast<std::uint8_t>(value)); break;
        case Element::u16: store(static_cast<std::uint16_t>(value)); break;
        case Element::s16: store(static_cast<std::int16_t>(value)); break;
        case Element::f32: store(static_cast<float>(value)); break;
        default:
          for (std::size_t b = 0; b < element; b += 4) {
            const bool words = name.starts_with("words") || name.starts_with("census");
            const int word = words ? numbers(0, b == 4 ? most_word : (1 << 30) - 1) : static_cast<int>(value);
            std::memcpy(at + b, &word, 4);
          }
      }
    }
  return made;
}

// An operation with operands for each of its ports.
class Example {
 public:
  Example(const StageDescriptor& entry_, const StageParameters& parameters_, const PairInfo& pair, const WordCost& cost,
          Element words)
      : entry(entry_), step{&entry_, parameters_, {}, {}, {}, {}} {
    const PipelineData pipeline;
    if (entry.plan != nullptr) entry.plan(step.parameters, {pipeline, pipeline.cost.parameters, cost, 255});
    StepContext& context = step.context;
    context.range = range;
    context.bit_depth = pair.element == Element::u16 ? 12 : 8;
    context.channels = pair.channels;
    context.element = pair.element;
    context.rows = {0, size.height};
    for_each_operand(entry.ports(step.parameters, pair),
                     [&](const Port& port, Side view) { add(port, view, pair, cost, words); });
  }

  const StageDescriptor& entry;
  Step step;
  std::vector<Made> operands;

 private:
  void add(const Port& port, Side view, const PairInfo& pair, const WordCost& cost, Element words) {
    const std::string name = port.name;
    const bool is_read = reads(port.use);
    AnyView shape{.element = port.element};
    if (shape.element == Element::same) shape.element = element_of_port(port, pair, words);
    Size s = size;
    if (name.starts_with("full_")) s = {2 * size.width - 1, 2 * size.height};
    if (name == "coarse_costs") s = cross_scale::half(size);
    // A whole image has no rows beyond its border, so there are no path costs from there.
    if (name.starts_with("paths_")) s = {};
    if (name == "paths") s.height = sgm::kinds_of({}), shape.channels = range.count;
    if (const auto* made = entry.facet<ImageShape>(); !is_read && !operands.empty() && made && made->size != nullptr)
      s = made->size(step.parameters, operands[0].shape.size());
    if (name == "chroma") s = {size.width / 2 + 1, size.height / 2 + 1}, shape.channels = 2;
    shape.width = s.width;
    shape.height = s.height;
    const bool makes_picture = !is_read && name == "image" && entry.slot == Slot::image && entry.name != "remap";
    if (name == "channels" || makes_picture)
      shape.channels = 3;
    else if (name == "image" || name == "image8" || name == "raw" || name == "given")
      shape.channels = operands.empty() || is_read ? pair.channels : operands[0].shape.channels;
    if (name == "map" || name == "aligned_map") shape.channels = 2;
    if (name == "points") shape.channels = 3;
    if (port.volume) shape.disparities = name == "coarse_costs" ? 12 : range.count;
    shape.pitch = shape.row_elements();
    // The words of colour + gradient have 9 bits in addition to the first 32.
    const int most_word = cost.get_if<cost::ColourGradient>() != nullptr ? 511 : (1 << 30) - 1;
    operands.push_back(made_image(name + (view == Side::reference ? "" : "'"), shape, most_word, is_read));
    operands.back().compared = !is_read ? port.use != Port::Use::scratch : port.use == Port::Use::change;
    step.operands.push_back(named({}, port, view));
  }
  Element element_of_port(const Port& port, const PairInfo& pair, Element words) const {
    const std::string name = port.name;
    if (port.volume) return port.accepts.empty() ? Element::f32 : port.accepts.front();
    if (port.use == Port::Use::out) return operands[0].shape.element;
    if (name == "words") return words;
    if (name == "census9x7") return Element::u64;
    if (name == "image" || name == "grey" || name == "raw" || name == "given" || name == "channels" || name == "mosaic")
      return pair.element;
    if (name == "map") return Element::s32;
    if (name == "samples") return Element::s16;
    if (name == "colours" || name == "rgb" || name == "lab" || name == "cross" || is_segments(name) ||
        name.ends_with("prior"))
      return Element::u32;
    for (const char* map : {"disparity", "right", "guess", "confidence", "seeds", "seed_trust"})
      if (name.ends_with(map)) return Element::f32;
    return Element::u8;
  }
};

template <On on>
void call(const Example& example, std::span<const AnyView> views, typename Call<on>::Worker* worker,
          const Target& target, typename Call<on>::Scratch scratch, const gpu::Span& constants = {}) {
  const Functions& f = example.entry.functions;
  const auto c = Call<on>({example.step, views, target}, worker, scratch).with_constants(constants);
  if constexpr (on == On::gpu)
    f.gpu(c);
  else if constexpr (on == On::cpu)
    f.cpu(c);
  else
    f.oracle(c);
}

inline std::size_t scratch_of(const Example& example, const Target& target) {
  std::vector<AnyView> shapes;
  for (const Made& made : example.operands) shapes.push_back(made.shape);
  return example.entry.scratch({example.step, shapes, target});
}

// Runs an operation on its example on the host, and returns the bytes of all operands.
template <On on>
std::vector<Made> made_on_host(const Example& example, const Target& target, Threads* threads) {
  std::vector<Made> made = example.operands;
  std::vector<AnyView> views;
  for (Made& m : made) {
    views.push_back(m.shape);
    views.back().memory = reinterpret_cast<std::uint64_t>(m.bytes.data());
  }
  const std::size_t bytes = scratch_of(example, target);
  const std::unique_ptr<std::byte, detail::AlignedDelete> memory(
      static_cast<std::byte*>(detail::allocate_aligned(bytes)));
  call<on>(example, views, threads, target, {memory.get(), bytes});
  return made;
}

inline std::vector<Made> made_on_gpu(const Example& example, const Target& target, gpu::Device& device,
                                     gpu::Queue& queue) {
  std::vector<Made> made = example.operands;
  std::list<gpu::Buffer> buffers;
  std::vector<AnyView> views;
  const auto bytes_of_made = [](Made& m) {
    return ImageView<std::uint8_t>(reinterpret_cast<std::uint8_t*>(m.bytes.data()), static_cast<int>(m.bytes.size()),
                                   1);
  };
  const auto there = [](const gpu::Buffer& b, const Made& m) {
    const int bytes = static_cast<int>(m.bytes.size());
    return gpu::View<std::uint8_t>{b.handle(), 0, bytes, 1, 1, bytes};
  };
  for (Made& m : made) {
    buffers.emplace_back(device, m.bytes.size());
    queue.upload<std::uint8_t>(bytes_of_made(m), there(buffers.back(), m));
    views.push_back(m.shape);
    views.back().memory = buffers.back().handle();
  }
  const gpu::Buffer scratch(device, scratch_of(example, target));
  std::span<const std::int32_t> numbers;
  if (const auto* given = example.entry.facet<Constants>()) numbers = given->list(example.step.parameters);
  const gpu::Buffer constants(device, numbers.size_bytes());
  const int count = static_cast<int>(numbers.size());
  if (count > 0) queue.upload<std::int32_t>({numbers.data(), count, 1}, {constants.handle(), 0, count, 1, 1, count});
  call<On::gpu>(example, views, &queue, target, scratch.span(), constants.span());
  auto buffer = buffers.begin();
  for (Made& m : made) queue.download(there(*buffer++, m), bytes_of_made(m));
  queue.wait();
  return made;
}

// Returns the hash (FNV-1a) of all results, in hexadecimal digits.
inline std::string hash_of(const std::vector<Made>& results) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const Made& m : results)
    for (std::size_t i = 0; m.compared && i < m.bytes.size(); ++i)
      hash = (hash ^ static_cast<std::uint8_t>(m.bytes[i])) * 0x100000001b3u;
  std::string digits(16, '0');
  for (std::size_t i = 0; i < digits.size(); ++i) digits[i] = "0123456789abcdef"[hash >> (60 - 4 * i) & 15];
  return digits;
}

inline std::string element_text(const Made& m, std::size_t element) {
  const auto load = [&](auto value) {
    std::memcpy(&value, m.bytes.data() + element * bytes_of(m.shape.element), sizeof value);
    return number_text(static_cast<double>(value));
  };
  switch (m.shape.element) {
    case Element::u8: return load(std::uint8_t());
    case Element::u16: return load(std::uint16_t());
    case Element::s16: return load(std::int16_t());
    case Element::s32: return load(std::int32_t());
    case Element::f32: return load(0.0f);
    default: return load(std::uint32_t());
  }
}

// Describes the first element that differs; returns an empty text if none does.
inline std::string first_difference(const std::vector<Made>& results, const std::vector<Made>& expected) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Made& got = results[i];
    const auto at = std::ranges::mismatch(got.bytes, expected[i].bytes).in1;
    if (!got.compared || at == got.bytes.end()) continue;
    const auto element = static_cast<std::size_t>(at - got.bytes.begin()) / bytes_of(got.shape.element);
    const auto pitch = static_cast<std::size_t>(got.shape.pitch);
    const std::size_t depth = got.shape.is_volume() ? got.shape.disparities : got.shape.channels;
    return text(got.name, " differs first at column ", element % pitch / depth, ", row ", element / pitch,
                depth > 1 ? text(got.shape.is_volume() ? ", candidate " : ", channel ", element % depth) : "", ": ",
                element_text(got, element), " instead of ", element_text(expected[i], element));
  }
  return {};
}

// A pair with random texture: slanted ground with a box in front, a region without texture, and noise.
template <class T>
struct Pair {
  explicit Pair(Size s) : left(s, std::is_same_v<T, std::uint8_t> ? 3 : 1), right(s, left.channels()) {
    Random random("a pair");
    const int channels = left.channels(), largest = std::is_same_v<T, std::uint8_t> ? 255 : 4095;
    for (int y = 0; y < s.height; ++y)
      for (int i = 0; i < s.width * channels; ++i)
        left.row(y)[i] = static_cast<T>(y < 12 && i < 20 * channels ? largest / 2 : random(0, largest));
    for (int y = 0; y < s.height; ++y)
      for (int x = 0; x < s.width; ++x) {
        const bool box = x > s.width / 3 && x < s.width / 2 && y > s.height / 4 && y < s.height - 9;
        const int there = std::min(x + (box ? 15 : 4 + y / 8), s.width - 1);
        for (int c = 0; c < channels; ++c) {
          const int value = left.row(y)[there * channels + c] + random(-2, 2);
          right.row(y)[x * channels + c] = static_cast<T>(std::clamp(value, 0, largest));
        }
      }
  }
  Image<T> left, right;
};

template <class T>
void append_map(std::vector<Made>& maps, const char* name, const Image<T>& map) {
  Made made{name, AnyView::of(map.view()), {}, true};
  made.shape.memory = 0;
  made.shape.pitch = made.shape.row_elements();
  for (int y = 0; y < map.height(); ++y) {
    const auto* row = reinterpret_cast<const std::byte*>(map.row(y));
    made.bytes.insert(made.bytes.end(), row, row + sizeof(T) * map.width() * map.channels());
  }
  maps.push_back(std::move(made));
}

}  // namespace stereopsis::self_test
