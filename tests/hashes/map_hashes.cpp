// Prints a hash of every map that the methods make of the scenes in a folder: a change that should change no bit leaves
// the output as it was. Each line is METHOD SCENE SETTINGS HASH. Where two devices disagree, stderr says so and the
// program fails.
#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>

#include "adversary/call.hpp"
#include "core/text.hpp"
#include "stereopsis/dataset.hpp"

namespace stereopsis {
namespace {

class Hash {
 public:
  void add(std::string_view text) { add_bytes(text.data(), text.size()); }
  template <class T>
  void add(const Image<T>& image) {
    for (int y = 0; y < image.height(); ++y) add_bytes(image.row(y), sizeof(T) * image.width() * image.channels());
  }
  std::uint64_t value() const { return value_; }
  std::string str() const {
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(value_));
    return digits;
  }

 private:
  // FNV-1a.
  void add_bytes(const void* data, std::size_t count) {
    const auto* const bytes = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < count; ++i) value_ = (value_ ^ bytes[i]) * 0x100000001B3u;
  }

  std::uint64_t value_ = 0xCBF29CE484222325u;
};

struct Scene {
  std::string name;
  LoadedScene images;
  int disparities;
};

StereoPair crop_of(const Scene& scene, const Rect& part) {
  const auto cut = [&](const AnyImage& image) {
    return std::visit([&](const auto& pixels) { return AnyImageView(pixels.view().crop(part), image.bit_depth); },
                      image.pixels);
  };
  return {cut(scene.images.left), cut(scene.images.right), {}, {}};
}

std::string text_of(const adversary::Settings& settings) {
  std::string list;
  for (const auto& [name, value] : settings) list += (list.empty() ? "" : ";") + name + "=" + value;
  return list.empty() ? "defaults" : list;
}

// The hash of all maps, or why the call is rejected.
std::string hash_of(const Pipeline& pipeline, const StereoPair& pair, int disparities, const Device& device) try {
  Problem problem = Problem::of(pair, {0, disparities});
  problem.want_right = problem.want_confidence = true;
  const Matched m = Matcher(Plan(pipeline, problem, device)).match(pair);
  Hash hash;
  hash.add(m.disparity);
  hash.add(m.validity);
  hash.add(m.right);
  hash.add(m.confidence);
  return hash.str();
} catch (const Error& e) {
  if (e.category() != ErrorCategory::call) throw;
  return "rejected";
}

class Run {
 public:
  explicit Run(std::vector<Device> devices) : devices_(std::move(devices)) {}

  void operator()(const Pipeline& pipeline, const std::string& name, const StereoPair& pair, int disparities) {
    std::string first;
    for (const Device& device : devices_) {
      const std::string hash = hash_of(pipeline, pair, disparities, device);
      if (first.empty()) first = hash;
      if (hash == first) continue;
      std::fprintf(stderr, "%s: %s on %s, not %s\n", name.c_str(), hash.c_str(), device.name.c_str(), first.c_str());
      ++disagreements_;
    }
    std::printf("%s %s\n", name.c_str(), first.c_str());
    std::fflush(stdout);
  }
  int disagreements() const { return disagreements_; }

 private:
  std::vector<Device> devices_;
  int disagreements_ = 0;
};

std::vector<Device> fused_and_plain(const std::vector<std::string>& names) {
  std::vector<Device> list;
  for (const std::string& name : names)
    for (const Implementation how : {Implementation::fused, Implementation::plain})
      list.push_back({.name = name, .implementation = how});
  return list;
}

std::vector<std::string> all_methods() {
  std::vector<std::string> names;
  for (const auto* list : {&methods(), &presets()})
    for (const MethodInfo& method : *list) names.push_back(method.name);
  return names;
}

// Small parts of the first and the last scene, with settings that follow from the method's name.
void hash_crops(const std::vector<Scene>& scenes, const std::string& method, int settings, Run& run) {
  const Scene& first = scenes.front();
  const Scene& last = scenes.back();
  Hash seed;
  seed.add(method);
  adversary::Dice dice(seed.value());
  for (int i = 0; i < settings; ++i) {
    Pipeline pipeline(method);
    const adversary::Settings changed = i == 0 ? adversary::Settings() : change_parameters(pipeline, dice);
    for (const Scene* scene : {&first, &last}) {
      const std::string name = text(method, ' ', scene->name, "@crop ", text_of(changed));
      run(pipeline, name, crop_of(*scene, {100, 100, 93, 61}), 24);
    }
  }
}

int main_of(int argc, char** argv) {
  CLI::App app("Hashes of all methods' maps");
  std::string folder;
  std::vector<std::string> names{"cpu"};
  int settings = 12;
  bool whole = false;
  app.add_option("FOLDER", folder, "Folder of scenes, each with a dataset.json")->required();
  app.add_option("--device", names, "Devices to run on, which must agree; repeatable [cpu]");
  app.add_option("--settings", settings, "Settings per method on crops [12]");
  app.add_flag("--whole", whole, "Whole scenes with the defaults, too");
  CLI11_PARSE(app, argc, argv);

  std::vector<Scene> scenes;
  for (const DatasetScene& found : find_scenes(folder))
    scenes.push_back({text(found.dataset, '/', found.name), load_scene(found), found.disparities});
  Run run(fused_and_plain(names));
  for (const std::string& method : all_methods()) {
    hash_crops(scenes, method, settings, run);
    for (const Scene& scene : scenes)
      if (whole) {
        const Size size = scene.images.left.view().size();
        run(Pipeline(method), text(method, ' ', scene.name, " defaults"),
            crop_of(scene, {0, 0, size.width, size.height}), scene.disparities);
      }
  }
  return run.disagreements() > 0 ? 1 : 0;
}

}  // namespace
}  // namespace stereopsis

int main(int argc, char** argv) { return stereopsis::main_of(argc, argv); }
