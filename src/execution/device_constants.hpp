// Data that many runs of a plan read on a GPU: the rectification maps, and constants of stages.
#pragma once

#include <map>

#include "device/gpu/device.hpp"
#include "planning/program.hpp"

namespace stereopsis {

struct RectificationMaps;

class DeviceConstants {
 public:
  void upload(const Program&, const RectificationMaps*, gpu::Device&, gpu::Queue&);
  // Replaces the maps by others of their sizes, while nothing reads them.
  void upload_maps(const RectificationMaps&, gpu::Queue&);
  // Returns the rectification map of a view; the map is empty without rectification.
  const AnyView& map(int view) const { return maps_[view]; }
  // Returns all rows of the right view's map, in the columns of map(1).
  const AnyView& map_rows_right() const { return map_rows_right_; }
  // Returns the constants of the step's stage; the span is empty if the stage has none.
  gpu::Span constants(const Step&) const;

 private:
  gpu::Buffer memory_;
  std::array<gpu::View<std::int32_t>, 2> whole_maps_;
  std::array<AnyView, 2> maps_;
  AnyView map_rows_right_;
  std::map<const std::int32_t*, gpu::Span> constants_;  // constants by their address in host memory
};

}  // namespace stereopsis
