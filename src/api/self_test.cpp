// Compares every operation of every stage with its oracle, on small generated images. Compares every fused operation,
// in the pipelines that its rule names, with the composed oracles.
#include "stereopsis/self_test.hpp"

#include <algorithm>
#include <cstring>

#include "api/self_test_example.hpp"
#include "core/text.hpp"
#include "stereopsis/matcher.hpp"
#ifdef STEREOPSIS_SIMD
#include "device/cpu/has_simd.hpp"
#include "device/cpu/threads.hpp"
#endif

namespace stereopsis {
namespace {

using namespace self_test;

// Compares the results of a device with the oracles.
class Checker {
 public:
  explicit Checker(const Device& device) : device_(device) {
    if (device.name != "cpu") {
      gpu_ = &gpu::device(device.name);
      queue_ = gpu_->make_queue();
      target_ = Target(gpu_->properties());
    } else {
#ifdef STEREOPSIS_SIMD
      threads_ = std::make_unique<Threads>(device.threads);
      if (has_simd()) target_ = {On::cpu, threads_->count()};
#endif
    }
  }

  void check_entry(const StageDescriptor& entry) {
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
  // Operations that read the pair's own pixels are checked with each kind of pixels.
  static std::vector<PairInfo> pairs_of(const StageDescriptor& entry, const StageParameters& parameters) {
    const Ports ports = entry.ports(parameters, {});
    const bool on_pixels = std::any_of(ports.begin(), ports.end(), [](const Port& port) {
      const std::string_view name = port.name;
      return port.use == Port::Use::in &&
             (name == "image" || name == "grey" || name == "raw" || name == "channels" || name == "mosaic");
    });
    if (!on_pixels) return {{Element::u8, 3}};
    return {{Element::u8, 3}, {Element::u8, 1}, {Element::u16, 3}, {Element::f32, 3}, {Element::f32, 1}};
  }

  // Checks an operation. An operation that reads packed words is checked with the words of every cost that may precede
  // it.
  void check_words(const StageDescriptor& entry, const StageParameters& parameters, const PairInfo& pair,
                   const std::string& name) {
    const Ports ports = entry.ports(parameters, pair);
    const bool takes_words = std::any_of(ports.begin(), ports.end(), [](const Port& port) {
      return port.name == std::string_view("words") && port.use == Port::Use::in;
    });
    const std::string pixels =
        text(name, pairs_of(entry, parameters).size() > 1 ? text(", ", name_of(pair.element)) : "");
    if (!takes_words) return check(pixels, Example(entry, parameters, pair, {}, Element::u8));
    for (const StageDescriptor* cost : registry().entries) {
      const auto* words = cost->facet<WordCosts>();
      if (words == nullptr) continue;
      for (const Port& port : cost->ports(cost->parameters, pair))
        if (port.name == std::string_view("words")) {
          Example example(entry, parameters, pair, words->cost(cost->parameters), port.element);
          if (fits(example)) check(text(pixels, ", ", cost->name), example);
        }
    }
  }
  bool fits(const Example& example) const {
    std::vector<AnyView> shapes;
    for (const Made& made : example.operands) shapes.push_back(made.shape);
    try {
      if (example.entry.check != nullptr) example.entry.check({example.step, shapes, target_});
      return true;
    } catch (const Error&) {
      return false;
    }
  }

  void check(const std::string& name, const Example& example) {
    record(name, [&] {
      const std::vector<Made> expected = made_on_host<On::oracle>(example, {On::oracle, 1}, nullptr);
      return same_results(made_here(example), expected);
    });
  }
  std::vector<Made> made_here(const Example& example) {
    if (gpu_ != nullptr) return made_on_gpu(example, target_, *gpu_, *queue_);
#ifdef STEREOPSIS_SIMD
    if (target_.device == On::cpu) return made_on_host<On::cpu>(example, target_, threads_.get());
#endif
    return made_on_host<On::oracle>(example, target_, nullptr);
  }

  // Returns nothing if the rule does not apply to this example on this device.
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
    if (std::ranges::none_of(plan.steps(), [&](const PlanStep& s) { return s.stage == rule.operation->name; }))
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

  // Records a result; `f` returns whether the results are equal, or nothing if there was nothing to compare.
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
  Target target_{On::oracle, 1};
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
  for (const StageDescriptor* entry : registry().entries) checker.check_entry(*entry);
  for (const Rule* rule : registry().rules) checker.check_rule(*rule);
  return std::move(checker.list);
}

}  // namespace stereopsis
