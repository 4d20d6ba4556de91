// Every operation of every stage against its definition, on small made images; every fused operation, in the pipelines that its
// rule names, against the composed definitions.
#include "stereopsis/self_test.hpp"

#include <algorithm>
#include <cstring>
#include <list>

#include "core/text.hpp"
#include "device/gpu/device.hpp"
#include "program/pipeline_data.hpp"
#include "stages/cross/arms.hpp"
#include "stages/cross_scale/cross_scale.hpp"
#include "stages/window_sad/window_sad.hpp"
#include "stereopsis/matcher.hpp"
#ifdef STEREOPSIS_SIMD
#include "device/cpu/threads.hpp"
#endif

namespace stereopsis {
namespace {

constexpr Size size{61, 29};
constexpr DisparityRange range{-3, 24};

// Numbers that are the same on every machine.
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

// The bytes of an operand, and its shape.
struct Made {
  AnyView shape;
  std::vector<std::byte> bytes;
  bool compared = false;  // what an operation makes; the rest is nobody's business
};

// What a port's name means: intervals of integers, or of quarters.
double random_value(const std::string& name, Element element, Random& random) {
  const auto is = [&](const char* what) { return name.find(what) != std::string::npos; };
  if (is("disparity") || is("right") || is("guess"))
    return random(1, 6) == 1 ? invalid_disparity : 0.25 * random(4 * range.min, 4 * range.max());
  if (is("confidence")) return random(0, 128) / 128.0;
  if (is("validity")) return 0;
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

double arms_within(Size s, int x, int y, Random& random) {
  constexpr int longest = 20;
  const auto arm = [&](int room) { return random(0, std::min(room, longest)); };
  const int left = arm(x), right = arm(s.width - 1 - x), up = arm(y), down = arm(s.height - 1 - y);
  return cross::word_of({left, right, up, down});
}

Made made_image(const std::string& name, const AnyView& shape, int most_word, bool random) {
  Made made{shape, {}};
  const std::size_t element = bytes_of(shape.element), rows = static_cast<std::size_t>(shape.height);
  made.bytes.assign(element * rows * static_cast<std::size_t>(shape.pitch) + 64, std::byte{0xA5});
  if (!random) return made;
  Random numbers(name);
  for (std::size_t y = 0; y < rows; ++y)
    for (int i = 0; i < shape.row_elements(); ++i) {
      std::byte* at = made.bytes.data() + element * (y * static_cast<std::size_t>(shape.pitch) + i);
      const double value = name.starts_with("cross") ? arms_within(shape.size(), i, static_cast<int>(y), numbers)
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
  Example(const Entry& entry_, const StageParameters& parameters_, const PairInfo& pair, const cost::AnyKind& kind,
          Element words)
      : entry(entry_), parameters(parameters_) {
    numbers.range = range;
    numbers.bit_depth = pair.element == Element::u16 ? 12 : 8;
    numbers.channels = pair.channels;
    numbers.element = pair.element;
    numbers.rows = {0, size.height};
    numbers.kind = kind;
    for (const Port& port : entry.ports(parameters, pair))
      for (int v = 0; v < (port.side == Side::both ? 2 : 1); ++v) add(port, v, pair, words);
  }

  const Entry& entry;
  StageParameters parameters;
  Numbers numbers;
  std::vector<Made> operands;

 private:
  void add(const Port& port, int view, const PairInfo& pair, Element words) {
    const std::string name = port.name;
    const bool reads = port.use == Port::Use::in || port.use == Port::Use::if_there || port.use == Port::Use::change;
    AnyView shape{.element = port.element};
    if (shape.element == Element::same) shape.element = element_of_port(port, pair, words);
    Size s = size;
    if (name.starts_with("full_")) s = {2 * size.width - 1, 2 * size.height};
    if (name == "coarse_costs") s = cross_scale::half(size);
    if (!reads && !operands.empty() && entry.output_size != nullptr)
      s = entry.output_size(parameters, operands[0].shape.size());
    shape.width = s.width;
    shape.height = s.height;
    if (name == "image" || name == "image8" || name == "raw")
      shape.channels = operands.empty() || reads ? pair.channels : operands[0].shape.channels;
    if (name == "map") shape.channels = 2;
    if (name == "points") shape.channels = 3;
    if (port.volume) shape.disparities = name == "coarse_costs" ? 12 : range.count;
    shape.pitch = shape.row_elements();
    // The words of colour + gradient have 9 bits above the first 32.
    const int most_word = std::holds_alternative<cost::ColourGradient>(numbers.kind) ? 511 : (1 << 30) - 1;
    operands.push_back(made_image(name + (view == 0 ? "" : "'"), shape, most_word, reads));
    operands.back().compared = !reads ? port.use != Port::Use::scratch : port.use == Port::Use::change;
  }
  Element element_of_port(const Port& port, const PairInfo& pair, Element words) const {
    const std::string name = port.name;
    if (port.volume) return port.accepts.empty() ? Element::f32 : port.accepts.front();
    if (port.use == Port::Use::out) return operands[0].shape.element;
    if (name == "words") return words;
    if (name == "census9x7") return Element::u64;
    if (name == "image" || name == "grey" || name == "raw") return pair.element;
    if (name == "map") return Element::s32;
    if (name == "samples") return Element::s16;
    if (name == "colours" || name == "rgb" || name == "lab" || name == "cross") return Element::u32;
    if (name == "disparity" || name == "right" || name == "guess" || name == "confidence") return Element::f32;
    return Element::u8;
  }
};

template <On on>
void call(const Example& example, std::span<const AnyView> views, typename Call<on>::Worker* worker,
          const Target& target, typename Call<on>::Scratch scratch) {
  const Functions& f = example.entry.functions;
  const Call<on> c({example.parameters, example.numbers, views, target}, worker, scratch);
  if constexpr (on == On::gpu)
    f.gpu(c);
  else if constexpr (on == On::cpu)
    f.cpu(c);
  else
    f.oracle(c);
}

std::size_t scratch_of(const Example& example, const Target& target) {
  std::vector<AnyView> shapes;
  for (const Made& made : example.operands) shapes.push_back(made.shape);
  if (example.entry.scratch == nullptr) return 0;
  return example.entry.scratch({example.parameters, example.numbers, shapes, target});
}

// The bytes that an operation makes of its example on the host.
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

std::vector<Made> made_on_gpu(const Example& example, const Target& target, gpu::Device& device, gpu::Queue& queue) {
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
  call<On::gpu>(example, views, &queue, target, scratch.span());
  auto buffer = buffers.begin();
  for (Made& m : made) queue.download(there(*buffer++, m), bytes_of_made(m));
  queue.wait();
  return made;
}

bool same_results(const std::vector<Made>& a, const std::vector<Made>& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i].compared && a[i].bytes != b[i].bytes) return false;
  return true;
}

// What a device does, beside what it should do.
class Checker {
 public:
  explicit Checker(const Device& device) : device_(device) {
    if (device.name != "cpu") {
      gpu_ = &gpu::device(device.name);
      queue_ = gpu_->make_queue();
      target_ = {On::gpu, 1, gpu_->cuda_capability()};
    } else {
#ifdef STEREOPSIS_SIMD
      threads_ = std::make_unique<Threads>(device.threads);
      target_ = {On::cpu, threads_->count(), 0};
#else
      target_ = {On::oracle, 1, 0};
#endif
    }
  }

  void check_entry(const Entry& entry) {
    const Functions& f = entry.functions;
    const bool there = target_.device == On::gpu   ? f.gpu != nullptr
                       : target_.device == On::cpu ? f.cpu != nullptr
                                                   : true;
    if (!there || f.oracle == nullptr) return;
    for (const auto& settings : entry.examples) {
      StageParameters parameters = entry.parameters;
      for (const std::string& setting : settings) {
        const std::size_t equals = setting.find('=');
        parameters.set(entry.name, setting.substr(0, equals), setting.substr(equals + 1));
      }
      const std::string name = settings.empty() ? entry.name : text(entry.name, ", ", join(settings, ", "));
      for (const PairInfo& pair : pairs_of(entry, parameters)) check_words(entry, parameters, pair, name);
    }
  }

  void check_rule(const Rule& rule) {
    for (const std::string& example : rule.examples)
      for (const bool all : {false, true})
        record(text(rule.name, ", ", example, all ? ", all maps" : ""), [&] { return matches(rule, example, all); });
  }

  std::vector<StageCheck> list;

 private:
  // Operations on the pair's own pixels are checked with each kind of them.
  static std::vector<PairInfo> pairs_of(const Entry& entry, const StageParameters& parameters) {
    const Ports ports = entry.ports(parameters, {});
    const bool on_pixels = std::any_of(ports.begin(), ports.end(), [](const Port& port) {
      const std::string_view name = port.name;
      return port.use == Port::Use::in && (name == "image" || name == "grey" || name == "raw");
    });
    if (!on_pixels) return {{Element::u8, 3}};
    return {{Element::u8, 3}, {Element::u8, 1}, {Element::u16, 3}, {Element::f32, 3}, {Element::f32, 1}};
  }

  // Those that take words, with the words of every cost that they follow.
  void check_words(const Entry& entry, const StageParameters& parameters, const PairInfo& pair,
                   const std::string& name) {
    const Ports ports = entry.ports(parameters, pair);
    const bool takes_words = std::any_of(ports.begin(), ports.end(), [](const Port& port) {
      return port.name == std::string_view("words") && port.use == Port::Use::in;
    });
    const std::string pixels =
        text(name, pairs_of(entry, parameters).size() > 1 ? text(", ", name_of(pair.element)) : "");
    if (!takes_words) return check(pixels, Example(entry, parameters, pair, {}, Element::u8));
    for (const Entry* cost : registry().entries) {
      if (cost->kind == nullptr) continue;
      for (const Port& port : cost->ports(cost->parameters, pair))
        if (port.name == std::string_view("words")) {
          Example example(entry, parameters, pair, cost->kind(cost->parameters), port.element);
          if (fits(example)) check(text(pixels, ", ", cost->name), example);
        }
    }
  }
  bool fits(const Example& example) const {
    std::vector<AnyView> shapes;
    for (const Made& made : example.operands) shapes.push_back(made.shape);
    try {
      if (example.entry.check != nullptr) example.entry.check({example.parameters, example.numbers, shapes, target_});
      return true;
    } catch (const Error&) {
      return false;
    }
  }

  void check(const std::string& name, const Example& example) {
    record(name, [&] {
      const std::vector<Made> expected = made_on_host<On::oracle>(example, {On::oracle, 1, 0}, nullptr);
      return same_results(made_here(example), expected);
    });
  }
  std::vector<Made> made_here(const Example& example) {
    if (gpu_ != nullptr) return made_on_gpu(example, target_, *gpu_, *queue_);
#ifdef STEREOPSIS_SIMD
    return made_on_host<On::cpu>(example, target_, threads_.get());
#else
    return made_on_host<On::oracle>(example, target_, nullptr);
#endif
  }

  // Nothing where the rule does not serve on this device.
  std::optional<bool> matches(const Rule& rule, const std::string& example, bool all) {
    const std::vector<std::string> words = split(example, ' ');
    Pipeline pipeline(words[0]);
    for (std::size_t i = 1; i < words.size(); ++i) {
      const std::size_t equals = words[i].find('=');
      pipeline.set(words[i].substr(0, equals), words[i].substr(equals + 1));
    }
    const Size scene{150, 40};  // wide enough for tuned kernels
    Image<std::uint8_t> left(scene, 3), right(scene, 3);
    Random random("a pair");
    for (int y = 0; y < scene.height; ++y)
      for (int i = 0; i < 3 * scene.width; ++i)
        left.row(y)[i] = right.row(y)[i] = static_cast<std::uint8_t>(random(0, 255));
    for (int y = 0; y < scene.height; ++y)
      std::copy_n(left.row(y) + 3 * (4 + y / 8), 3 * (scene.width - 12), right.row(y));
    const StereoPair pair{left, right, {}, {}};
    Problem problem = Problem::of(pair, {0, 24});
    problem.want_right = problem.want_confidence = all;
    const Plan plan(pipeline, problem, device_);
    const std::vector<PlanStep> steps = plan.steps();
    if (std::none_of(steps.begin(), steps.end(), [&](const PlanStep& s) { return s.stage == rule.operation->name; }))
      return std::nullopt;
    const Matched got = Matcher(plan).match(pair);
    const Matched expected = Matcher(Plan(pipeline, problem, {"cpu", 1, Implementation::oracle})).match(pair);
    return same(got.disparity, expected.disparity) && same(got.validity, expected.validity) &&
           same(got.right, expected.right) && same(got.confidence, expected.confidence);
  }
  template <class T>
  static bool same(const Image<T>& a, const Image<T>& b) {
    if (a.size() != b.size()) return false;
    for (int y = 0; y < a.height(); ++y)
      if (std::memcmp(a.row(y), b.row(y), sizeof(T) * static_cast<std::size_t>(a.width()) * a.channels()) != 0)
        return false;
    return true;
  }

  // f says whether it was the same, or nothing where there was nothing to compare.
  template <class F>
  void record(const std::string& name, F&& f) {
    try {
      const std::optional<bool> result = f();
      if (result) list.push_back({name, *result, {}});
    } catch (const Error& error) {
      list.push_back({name, false, error.what()});
    }
  }

  const Device device_;
  Target target_;
  gpu::Device* gpu_ = nullptr;
  std::unique_ptr<gpu::Queue> queue_;
#ifdef STEREOPSIS_SIMD
  std::unique_ptr<Threads> threads_;
#endif
};

}  // namespace

std::vector<StageCheck> check_stages(const Device& device) {
  Device there = device;
  there.name = resolve_device(device.name);
  Checker checker(there);
  for (const Entry* entry : registry().entries) checker.check_entry(*entry);
  for (const Rule* rule : registry().rules) checker.check_rule(*rule);
  return std::move(checker.list);
}

}  // namespace stereopsis
