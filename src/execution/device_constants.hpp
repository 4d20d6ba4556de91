// What all runs of a plan read on a GPU, copied there once: the maps of a rectification, and constants of stages.
#pragma once

#include <map>

#include "device/gpu/device.hpp"
#include "planning/program.hpp"

namespace stereopsis {

struct RectificationMaps;

class DeviceConstants {
 public:
  void upload(const Program&, const RectificationMaps*, gpu::Device&, gpu::Queue&);
  // Of a view; empty where nothing is rectified.
  const AnyView& map(int view) const { return maps_[view]; }
  // Of a step's entry; empty where it has none.
  gpu::Span constants(const Step&) const;

 private:
  gpu::Buffer memory_;
  std::array<AnyView, 2> maps_;
  std::map<const std::int32_t*, gpu::Span> constants_;  // by their place on the host
};

}  // namespace stereopsis
