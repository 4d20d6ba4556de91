// Types shared by the two halves of `bench`: generated pairs of chosen sizes, and scenes with ground truth.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "command/common.hpp"
#include "command/frames.hpp"

namespace stereopsis::command {

// A method with its settings on a device and a SIMD target of the CPU; `label` is the text given to --method.
struct Contender {
  std::string label;
  Pipeline pipeline;
  Device device;
  std::string simd = "auto";
};
// Returns the name of the device, and of a SIMD target that was chosen: "cpu avx2".
inline std::string device_text(const std::string& device, const std::string& simd) {
  return simd == "auto" ? device : device + " " + simd;
}

struct Bench {
  std::vector<Contender> contenders;
  bool peers = true, stream = true;
  bool confidence = false;  // the methods compute the confidence, too
  int threads = 0;          // 0: all
  int repeat = 0;
  int batch = 1;
  std::filesystem::path json, html;
  CallFiles files;  // pipelines that the call reads
};

// Parses NAME or FILE.json, optionally with :slot.parameter=value,…, which follow the settings for all methods; or a
// method from outside the library, which has the settings for all methods alone.
Contender contender_of(const std::string& text, std::vector<std::string> settings, const DeviceOptions& device);
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

}  // namespace stereopsis::command
