// From a rectified pair to a disparity image: a Plan is a pipeline made ready for one problem and one
// device, a Matcher is a plan and its workspace.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stereopsis/device.hpp"
#include "stereopsis/disparity.hpp"
#include "stereopsis/image.hpp"
#include "stereopsis/pipeline.hpp"

namespace stereopsis {

// A rectified pair: both images of one size, pixel type and number of channels (1 or 3, RGB).
// A mask is 0 where a pixel is not usable; an empty one means that all are.
struct StereoPair {
  AnyImageView left;
  AnyImageView right;
  ImageView<const std::uint8_t> mask_left;
  ImageView<const std::uint8_t> mask_right;
};

// What a plan is made for.
struct Problem {
  Size size;
  PixelType pixel_type = PixelType::u8;
  int channels = 1;
  int bit_depth = 8;
  DisparityRange range;
  std::optional<Rect> region;    // only these pixels are wanted
  bool want_right = false;       // the disparity image of the right view too
  bool want_confidence = false;  // a confidence image too
  std::size_t memory_limit = 0;  // bytes of workspace; 0: no limit

  static Problem of(const StereoPair& pair, DisparityRange range);
};

struct StageTime {
  std::string name;
  double ms = 0;
  double bytes = 0;  // read and written by the stage's definition
};

struct Matched {
  Image<float> disparity;        // pixels; NaN where invalid
  Image<std::uint8_t> validity;  // bits of namespace validity
  Image<float> right;            // the right view's disparity, d = x_left − x_right, if wanted
  Image<float> confidence;       // 0 to 1, if wanted
  std::vector<StageTime> times;
};

class Plan {
 public:
  // Throws Error(call) if the pipeline and the problem do not fit together.
  Plan(const Pipeline& pipeline, const Problem& problem, const Device& device = {});

  const Pipeline& pipeline() const { return pipeline_; }
  const Problem& problem() const { return problem_; }
  const Device& device() const { return device_; }
  std::size_t workspace_bytes() const { return workspace_bytes_; }
  // The size of the result: the input's, unless the method works on reduced images.
  Size output_size() const { return output_size_; }
  // The part of the input that is read for the wanted region.
  Rect required_input() const { return required_input_; }

 private:
  Pipeline pipeline_;
  Problem problem_;
  Device device_;
  std::size_t workspace_bytes_ = 0;
  Size output_size_;
  Rect required_input_;
};

class Matcher {
 public:
  explicit Matcher(Plan plan);
  ~Matcher();
  Matcher(Matcher&&) noexcept;
  Matcher& operator=(Matcher&&) noexcept;

  const Plan& plan() const;
  Matched match(const StereoPair& pair);
  // The same, into images that are reused when their sizes fit.
  void match(const StereoPair& pair, Matched& result);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// A pair, a method, done: plans, allocates and matches once.
Matched match(const StereoPair& pair, DisparityRange range, const Pipeline& pipeline = Pipeline("sgm"),
              const Device& device = {});

}  // namespace stereopsis
