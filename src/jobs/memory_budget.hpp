// The memory of a run besides the matching: images, maps of rectification, results, and the frames in flight. It is
// computed from sizes alone, before anything is allocated.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "jobs/cameras.hpp"
#include "jobs/sinks.hpp"
#include "stereopsis/device.hpp"

namespace stereopsis::jobs {

struct MemoryLimit {
  std::optional<std::size_t> bytes;  // half of the host's memory if it is not given; a GPU then has its own limit
  std::string text;                  // the setting as the user wrote it, for sentences
};

class MemoryBudget {
 public:
  // `wants_confidence`: results have a confidence even if no file holds it. All arguments must outlive the object. The
  // first frame and the calibration must have been read.
  MemoryBudget(const MemoryLimit& limit, const Inputs& inputs, const Cameras& cameras, const SinkSettings& sinks,
               bool wants_confidence, const std::vector<Device>& devices, const SettingNames& names);

  // Throws Error(memory) if the images and results alone exceed the limit.
  void check() const;
  // Returns the bytes that matching may use: the limit minus everything else. On a GPU, which has memory of its own, 0
  // lets the library choose.
  std::size_t for_matching() const;
  // Throws an error of the library again. If it names the memory left for matching, adds the limit that the user gave.
  [[noreturn]] void explain(const Error& error) const;

  // Returns the number of frames in flight: two on each device, so that no device waits for the host, and one more for
  // each GPU, which starts it as soon as it has finished another one.
  std::size_t frames_in_flight() const;
  // Returns the number of frames that are read, and the number that are written, at the same time; 1 if they must be
  // read and written in order. A GPU matches faster than one thread reads and writes; on the CPU, matching needs the
  // cores.
  std::size_t files_at_once(bool in_order) const;

 private:
  std::size_t limit() const;
  std::size_t bytes_of_frame() const;
  std::size_t bytes_beside_matching(std::size_t files_at_once = 1) const;
  bool on_cpu() const { return devices_.front().name == "cpu"; }

  const MemoryLimit& limit_;
  const Inputs& inputs_;
  const Cameras& cameras_;
  const SinkSettings& sinks_;
  const bool wants_confidence_;
  const std::vector<Device>& devices_;
  const SettingNames& names_;
};

}  // namespace stereopsis::jobs
