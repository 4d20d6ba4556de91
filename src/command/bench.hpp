// Types shared by the two halves of `bench`: generated pairs of chosen sizes, and scenes with ground truth.
#pragma once

#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "command/common.hpp"
#include "command/comparison.hpp"
#include "command/frames.hpp"
#include "command/group_options.hpp"
#include "command/peers.hpp"

namespace stereopsis::command {

extern const char* const built_commit;  // the commit of the sources, or empty without Git

// A method with its settings on a device and a SIMD target of the CPU; `label` is the text given to --method.
struct Contender {
  std::string label;
  Pipeline pipeline;
  Device device;
  std::string simd = "auto";
  std::string own_device = {};  // the device of a method from outside the library, whose other steps run on `device`

  const std::string& runs_on() const { return own_device.empty() ? device.name : own_device; }
};
// Returns the name of the device, and of a SIMD target that was chosen: "cpu avx2".
inline std::string device_text(const std::string& device, const std::string& simd) {
  return simd == "auto" ? device : device + " " + simd;
}

struct Bench {
  std::vector<Contender> contenders;
  std::vector<PeerName> peers;
  std::string left_out;  // a sentence about the peers that are not there
  bool stream = true;
  bool confidence = false;  // the methods compute the confidence, too
  int threads = 0;          // 0: all
  int repeat = 0;
  double most_seconds = std::numeric_limits<double>::infinity();  // no run of a scene begins later
  int batch = 1;
  std::filesystem::path json, html;
  bool alone =
      false;  // one method is evaluated: a scene that a peer does not support fails, and the caller writes --json
  jobs::RowSettings rows = {.is_off = true, .fixed = {}};  // the rows of a dataset's scenes
  CallFiles files;                                         // pipelines that the call reads
};

// Parses NAME or FILE.json, optionally with :slot.parameter=value,…, which follow the settings for all methods; or a
// method from outside the library, which has the settings for all methods alone.
Contender contender_of(const std::string& text, std::vector<std::string> settings, const DeviceOptions& device);
// Adds a method, or the peers that it names.
void add_method(Bench& bench, const std::string& text, const std::vector<std::string>& settings,
                const DeviceOptions& device);
// Registers the pipeline files among the methods as inputs.
void reads_methods(CallFiles& files, const std::vector<std::string>& methods);

// Converts grey or RGB to grey by BT.601, rounded to nearest.
Image<std::uint8_t> grey(ImageView<const std::uint8_t> image);

struct Workload {
  Size size;
  int disparities = 0;

  std::string text() const { return size_text(size) + "×" + std::to_string(disparities); }
};

void bench_sizes(const Bench& bench, const std::vector<Workload>& workloads);
void bench_dataset(const Bench& bench, const std::filesystem::path& dataset);

// The methods and peers on the scenes of a dataset.
struct Compared {
  std::vector<Entry> entries;
  std::vector<std::string> left_out;            // sentences about peers that do not support every scene
  std::vector<Image<std::uint8_t>> lefts = {};  // small left images, if --html is given
};
// Runs everything on each scene with a progress bar, as compare_on_scenes does.
Compared compare_with_progress(const Bench& bench, const std::filesystem::path& dataset, SceneFailures& failures);
// Runs everything on each scene, and writes --json and --html. `on_scene` is called before the first scene and after each
// one, with the numbers of finished scenes and of all.
Compared compare_on_scenes(const Bench& bench, const std::filesystem::path& dataset, SceneFailures& failures,
                           const std::function<void(std::size_t, std::size_t)>& on_scene);
Json comparison_json(const Bench& bench, const Compared& compared, const SceneFailures& failures);

}  // namespace stereopsis::command
