// The images of a result, in one list: Matched and MatchedViews, of the host, and DeviceMatched have the same.
#pragma once

#include "program/engine.hpp"
#include "stereopsis/device_image.hpp"

namespace stereopsis {

// Calls f(external, image) for each but the rectified one, which a host alone has.
template <class Result, class F>
void for_each_image(Result& result, F&& f) {
  f(External::disparity, result.disparity);
  f(External::validity, result.validity);
  f(External::right_disparity, result.right);
  f(External::confidence, result.confidence);
  f(External::depth, result.depth);
  f(External::points, result.points);
  f(External::uncertainty, result.uncertainty);
}

// The same for volumes, which are as wide as the plan says.
template <class Result, class F>
void for_each_volume(Result& result, F&& f) {
  f(External::cost, result.cost);
  f(External::aggregated, result.aggregated);
  f(External::optimised, result.optimised);
}

// Of the costs that were probed.
constexpr External probed(int state) { return static_cast<External>(static_cast<int>(External::probed_cost) + state); }

inline const char* name_of(External image) {
  switch (image) {
    case External::disparity: return "the disparity";
    case External::validity: return "the validity";
    case External::right_disparity: return "the right view's disparity";
    case External::confidence: return "the confidence";
    case External::depth: return "the depth";
    case External::points: return "the points";
    case External::cost: return "the cost volume";
    case External::aggregated: return "the aggregated volume";
    case External::optimised: return "the optimised volume";
    default: return "the uncertainty";
  }
}
inline int channels_of(External image) { return image == External::points ? 3 : 1; }
inline PixelType type_of(External image) { return image == External::validity ? PixelType::u8 : PixelType::f32; }
// What pixels outside the region of interest have.
template <class T>
T outside_of(External image) {
  if constexpr (std::is_same_v<T, std::uint8_t>)
    return validity::outside;
  else
    return image == External::confidence ? 0.0f : invalid_disparity;
}

// Whether path costs alone are wanted.
inline bool follows_paths(const Problem& p) { return p.stripe && p.stripe->follow != Stripe::Follow::none; }

inline bool is_wanted(const Problem& p, External image) {
  switch (image) {
    case External::disparity:
    case External::validity: return !follows_paths(p);
    case External::right_disparity: return p.want_right;
    case External::confidence: return p.want_confidence;
    case External::depth: return p.geometry.want_depth;
    case External::points: return p.geometry.want_points;
    case External::cost: return p.volumes.want_cost;
    case External::aggregated: return p.volumes.want_aggregated;
    case External::optimised: return p.volumes.want_optimised;
    default: return p.geometry.want_uncertainty;
  }
}

// Calls f with an image of pixels of the problem's type.
template <class F>
auto with_type(const Problem& p, F&& f) {
  switch (p.pixel_type) {
    case PixelType::u8: return f(Image<std::uint8_t>());
    case PixelType::u16: return f(Image<std::uint16_t>());
    default: return f(Image<float>());
  }
}

// The images of a result, made of the right size: results.cpp. Of a region, `part` is what the engine makes of its input.
MatchedViews views_of(const Plan&, Matched& result);
MatchedViews views_of_part(const Plan&, Matched& part);
// A result with page-locked images, for the plan's device.
Matched page_locked_result(const Plan&);
// What an engine is given of a pair and its result.
FrameImages images_of(const Plan&, const StereoPair&, const MatchedViews&);
FrameImages images_of(const Plan&, const DevicePair&, const DeviceMatched&);
// The result of a region in that of the image.
void place_part(const Plan&, const MatchedViews& part, const MatchedViews& result);

// What does not fit is refused: checks.cpp, and stripe_checks.cpp.
void check(const Problem&);
void check(const Stripe&, const Problem&);
void check_refines(const Problem&);
void check_edges(const Plan&, const StereoPair&);
void check_maps(const Plan&, const GivenMaps&);
void check_extents(const Problem&, Size seen);
void check_fits(const Plan&, const StereoPair&);
void check_fits(const Plan&, const MatchedViews&);
void check_fits(const Plan&, const DevicePair&, const DeviceMatched&);

}  // namespace stereopsis
