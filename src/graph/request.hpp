// The request for a program: the public Problem in terms of the planner. The conversion is in src/api.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "graph/binding.hpp"
#include "stereopsis/constant_regions.hpp"
#include "stereopsis/disparity.hpp"
#include "stereopsis/pixel_format.hpp"
#include "stereopsis/rig.hpp"

namespace stereopsis {

struct Request {
  // Properties of the pair that the caller passes.
  Size size;
  Element element = Element::u8;
  int channels = 1;
  int bit_depth = 8;
  std::optional<PixelFormat> format;
  std::array<bool, 2> masks{};   // flags for the views that have masks
  std::optional<Element> costs;  // element type of a volume that the caller passes with the pair
  bool without_images = false;   // true if the caller passes only the volume

  // Maps that rectify the pair.
  struct Rectification {
    Size size;                       // size of the rectified images
    std::array<bool, 2> complete{};  // flags for the views in which every pixel has a source
  };
  std::optional<Rectification> rectification;
  bool with_rows = false;  // true if an alignment of rows comes with the pair

  DisparityRange range;
  std::optional<Rect> region;

  // Rows of larger images, with the meaning of BoundaryStripe.
  struct Stripe {
    int first_row = 0, rows = 0;
    bool above = false, below = false;
    bool follows_down = false, follows_up = false;  // true if only path costs are requested, downwards or upwards

    bool follows() const { return follows_down || follows_up; }
  };
  std::optional<Stripe> stripe;
  bool refine_only = false;
  ConstantRegions constant;

  std::array<bool, binding_count> requested{};  // outputs
  std::vector<Pixel> probes;
  std::optional<Rig> rig;
  Frame frame = Frame::optical;
  // Disparity error that the uncertainty assumes; 0 means that the error follows from the confidence, if the pipeline
  // has a confidence.
  double disparity_error = 0;
  bool fill_depth = false;  // true if depth and points include pixels that were not measured

  // Returns whether all pixels of a resampled view without a mask have a source. The rows of an image without a mask are
  // aligned only if they move by less than half a pixel (Programs::of).
  bool complete(int view) const {
    return !rectification || (rectification->complete[static_cast<std::size_t>(view)] && !(with_rows && view == 1));
  }
  // Returns whether the rows of the right image are resampled, and not the map that rectifies it.
  bool aligns_image() const { return with_rows && !rectification; }
  Size seen_size() const { return rectification ? rectification->size : size; }
  bool requests(Binding output) const { return requested[index_of(output)]; }
  // Returns whether cost volumes are requested in addition to maps.
  bool requests_costs() const {
    for (const Binding volume : volume_outputs)
      if (requests(volume)) return true;
    return !probes.empty();
  }
};

}  // namespace stereopsis
