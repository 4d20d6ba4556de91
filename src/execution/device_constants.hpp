// Data that all runs of a plan read on a GPU, copied there once: the maps of a rectification, and constants of stages.
#pragma once

#include <map>

#include "device/gpu/device.hpp"
#include "planning/program.hpp"

namespace stereopsis {

struct RectificationMaps;

class DeviceConstants {
 public:
  void upload(const Program&, const RectificationMaps*, gpu::Device&, gpu::Queue&);
  // Returns the rectification map of a view; empty without rectification.
  const AnyView& map(int view) const { return maps_[view]; }
  // Returns the constants of the step's stage; empty if the stage has none.
  gpu::Span constants(const Step&) const;

 private:
  gpu::Buffer memory_;
  std::array<AnyView, 2> maps_;
  std::map<const std::int32_t*, gpu::Span> constants_;  // by their place on the host
};

}  // namespace stereopsis
