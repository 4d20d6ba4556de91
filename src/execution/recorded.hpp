// A graph of GPU commands, and what was recorded in it.
#pragma once

#include <memory>
#include <optional>

#include "device/gpu/device.hpp"
#include "planning/program.hpp"

namespace stereopsis {

inline bool same_places(const FrameImages& a, const FrameImages& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i].memory != b[i].memory || a[i].offset != b[i].offset || a[i].pitch != b[i].pitch) return false;
  return true;
}

// Steps that are recorded as a graph. Steps are recorded when the same device images come for the second time, and are
// then replayed.
struct Recorded {
  const Program* program = nullptr;
  Masks masks{};
  std::optional<FrameImages> images;  // the caller's images that the steps read
  std::unique_ptr<gpu::Graph> graph;

  // Returns whether the steps read the same images as the last time. If not, stores the new images.
  bool see(const Program& p, const Masks& masks_now, const FrameImages& now) {
    if (program == &p && masks == masks_now && images && same_places(*images, now)) return true;
    program = &p;
    masks = masks_now;
    images = now;
    graph.reset();
    return false;
  }
};

}  // namespace stereopsis
