// Runs every operation of every stage on small generated images, and every method and the pipelines of every fused
// operation on a generated pair. Compares the hashes of the results with those in self_test_hashes.inc.
#include "stereopsis/self_test.hpp"

#include <algorithm>
#include <functional>
#include <set>

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

struct StoredHash {
  const char* hash;
  std::string_view name;
};
// ./dev hashes writes the file.
constexpr StoredHash stored_hashes[] = {
#include "api/self_test_hashes.inc"
};

std::string stored_hash(const std::string& name) {
  const auto* found = std::ranges::find(stored_hashes, std::string_view(name), &StoredHash::name);
  return found == std::end(stored_hashes) ? "" : found->hash;
}

void apply(Pipeline& pipeline, const std::string& setting) {
  const std::size_t equals = setting.find('=');
  pipeline.set(setting.substr(0, equals), setting.substr(equals + 1));
}

// Compares the results of a device with the stored hashes.
class Checker {
 public:
  explicit Checker(const Device& device) : device_(device) {
    if (device.implementation == Implementation::oracle) return;
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
      const std::string name = text("stage ", entry.name, settings.empty() ? "" : ", ", join(settings, ", "));
      for (const PairInfo& pair : pairs_of(entry, parameters)) check_words(entry, parameters, pair, name);
    }
  }

  // Checks a pipeline, written as METHOD NAME=VALUE …, with and without all maps.
  void check_pipeline(const std::string& words) {
    record(text("method ", words), [&](const Device& device) { return maps(words, colours_, {0, 24}, false, device); });
    record(text("method ", words, ", all maps"), [&](const Device& device) {
      return maps(words, colours_, {0, 24}, true, device);
    });
    record(text("method ", words, ", all maps, u16 grey, from disparity -5"), [&](const Device& device) {
      return maps(words, grey_, {-5, 29}, true, device);
    });
  }

  std::vector<ConformanceCase> list;

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
    const std::string pixels = pairs_of(entry, parameters).size() > 1
                                   ? text(name, ", ", name_of(pair.element), pair.channels == 3 ? " RGB" : " grey")
                                   : name;
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
    record(name, [&](const Device& device) {
      return device.implementation == Implementation::oracle
                 ? made_on_host<On::oracle>(example, {On::oracle, 1}, nullptr)
                 : made_here(example);
    });
  }
  std::vector<Made> made_here(const Example& example) {
    if (gpu_ != nullptr) return made_on_gpu(example, target_, *gpu_, *queue_);
#ifdef STEREOPSIS_SIMD
    if (target_.device == On::cpu) return made_on_host<On::cpu>(example, target_, threads_.get());
#endif
    return made_on_host<On::oracle>(example, target_, nullptr);
  }

  template <class T>
  static std::vector<Made> maps(const std::string& words, const Pair<T>& images, DisparityRange range, bool all,
                                const Device& device) {
    const std::vector<std::string> settings = split(words, ' ');
    Pipeline pipeline(settings[0]);
    for (std::size_t i = 1; i < settings.size(); ++i) apply(pipeline, settings[i]);
    StereoPair pair{images.left, images.right, {}, {}};
    if constexpr (std::is_same_v<T, std::uint16_t>) pair.left.bit_depth = pair.right.bit_depth = 12;
    Problem problem = Problem::of(pair, range);
    problem.want_right = problem.want_confidence = all;
    const Matched matched = Matcher(Plan(pipeline, problem, device)).match(pair);
    std::vector<Made> made;
    append_map(made, "disparity", matched.disparity);
    append_map(made, "validity", matched.validity);
    append_map(made, "right", matched.right);
    append_map(made, "confidence", matched.confidence);
    return made;
  }

  // Records a case; `results_on` returns the results of a device.
  void record(const std::string& name, const std::function<std::vector<Made>(const Device&)>& results_on) {
    ConformanceCase& one = list.emplace_back(ConformanceCase{name, {}, stored_hash(name), {}});
    try {
      const std::vector<Made> results = results_on(device_);
      one.hash = hash_of(results);
      if (one.hash == one.expected) return;
      const std::vector<Made> defined = results_on({"cpu", 1, Implementation::oracle});
      one.problem = first_difference(results, defined);
      if (!one.expected.empty() && hash_of(defined) != one.expected)
        one.problem += text(one.problem.empty() ? "" : "; ", "the oracle of this build returns ", hash_of(defined),
                            " instead of ", one.expected);
    } catch (const Error& error) {
      one.problem = error.what();
    }
  }

  const Device device_;
  const Pair<std::uint8_t> colours_{{150, 40}};  // wide enough for tuned kernels
  const Pair<std::uint16_t> grey_{{150, 40}};
  Target target_{On::oracle, 1};
  gpu::Device* gpu_ = nullptr;
  std::unique_ptr<gpu::Queue> queue_;
#ifdef STEREOPSIS_SIMD
  std::unique_ptr<Threads> threads_;
#endif
};

}  // namespace

std::vector<ConformanceCase> check_conformance(const Device& device) {
  Device there = device;
  there.name = resolve_device(device.name);
  Checker checker(there);
  for (const StageDescriptor* entry : registry().entries) checker.check_entry(*entry);
  std::set<std::string> pipelines;
  for (const auto* infos : {&methods(), &presets()})
    for (const MethodInfo& method : *infos) pipelines.insert(method.name);
  for (const Rule* rule : registry().rules) pipelines.insert(rule->examples.begin(), rule->examples.end());
  for (const std::string& pipeline : pipelines) checker.check_pipeline(pipeline);
  return std::move(checker.list);
}

}  // namespace stereopsis
