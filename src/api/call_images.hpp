// The images of one call by their bindings. Every call of a matcher collects its inputs and outputs here, from any of
// the public structs, so that all arguments are checked in the same way.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "api/due_images.hpp"
#include "execution/engine.hpp"
#include "stereopsis/device_image.hpp"

namespace stereopsis {

class CallImages {
 public:
  explicit CallImages(const StereoPair& pair);
  explicit CallImages(const DevicePair& pair);
  void add(const Matched& result);
  void add(const MatchedViews& result);
  void add(const DeviceMatched& result);

  // Throw Error(call) for images that do not fit the plan: another shape, missing memory, a pitch below a row, values
  // that are not allowed, or images that were not planned.
  void check_inputs(const Plan& plan) const;
  void check_outputs(const Plan& plan) const;
  // Throws Error(call) if an output shares memory with an input or with another output.
  void check_overlaps(const Plan& plan) const;

  // Returns the arguments of the engine. Input images are cropped to the part that the plan's region requires.
  FrameArguments frame(const Plan& plan) const;
  // Returns the rectification maps of this pair; null without rectification.
  std::shared_ptr<const RectificationMaps> maps(const Plan& plan) const {
    return maps_ ? maps_ : plan.problem().geometry.rectification;
  }

 private:
  const AnyView& at(Binding binding) const { return images_[static_cast<std::size_t>(binding)]; }
  void check_views(const Plan& plan) const;
  void check_image(const Plan& plan, const std::string& name, const AnyView& image, const DueImage& due, bool is_volume,
                   const std::string& how_to_plan) const;
  void check_values(const Plan& plan) const;
  void check_rows(const Plan& plan) const;
  void check_maps(const Plan& plan) const;
  void check_seeds() const;

  FrameImages images_{};  // uncropped images; a volume is an image with a channel for each candidate
  std::array<int, 2> bit_depths_{};
  std::optional<PixelFormat> format_;
  std::optional<RowAlignment> rows_;
  std::shared_ptr<const RectificationMaps> maps_;
  const bool is_on_device_;
};

}  // namespace stereopsis
