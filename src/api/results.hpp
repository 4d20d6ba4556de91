// The images of a result, in one list: Matched and MatchedViews, of the host, and DeviceMatched have the same.
#pragma once

#include "program/engine.hpp"
#include "stereopsis/device_image.hpp"

namespace stereopsis {

// Calls f(binding, image) for each but the rectified one, which a host alone has.
template <class Result, class F>
void for_each_image(Result& result, F&& f) {
  f(Binding::disparity, result.disparity);
  f(Binding::validity, result.validity);
  f(Binding::right_disparity, result.right);
  f(Binding::confidence, result.confidence);
  f(Binding::depth, result.depth);
  f(Binding::points, result.points);
  f(Binding::uncertainty, result.uncertainty);
}

// The same for volumes, which are as wide as the plan says.
template <class Result, class F>
void for_each_volume(Result& result, F&& f) {
  f(Binding::cost, result.cost);
  f(Binding::aggregated, result.aggregated);
  f(Binding::optimised, result.optimised);
}

// Of the costs that were probed.
constexpr Binding probed(int state) { return static_cast<Binding>(static_cast<int>(Binding::probed_cost) + state); }

inline const char* name_of(Binding image) {
  switch (image) {
    case Binding::disparity: return "the disparity";
    case Binding::validity: return "the validity";
    case Binding::right_disparity: return "the right view's disparity";
    case Binding::confidence: return "the confidence";
    case Binding::depth: return "the depth";
    case Binding::points: return "the points";
    case Binding::cost: return "the cost volume";
    case Binding::aggregated: return "the aggregated volume";
    case Binding::optimised: return "the optimised volume";
    default: return "the uncertainty";
  }
}
inline int channels_of(Binding image) { return image == Binding::points ? 3 : 1; }
inline PixelType type_of(Binding image) { return image == Binding::validity ? PixelType::u8 : PixelType::f32; }
// What pixels outside the region of interest have.
template <class T>
T outside_of(Binding image) {
  if constexpr (std::is_same_v<T, std::uint8_t>)
    return validity::outside;
  else
    return image == Binding::confidence ? 0.0f : invalid_disparity;
}

// Whether path costs alone are wanted.
inline bool follows_paths(const Problem& p) { return p.stripe && p.stripe->follow != Stripe::Follow::none; }

inline bool is_wanted(const Problem& p, Binding image) {
  switch (image) {
    case Binding::disparity:
    case Binding::validity: return !follows_paths(p);
    case Binding::right_disparity: return p.want_right;
    case Binding::confidence: return p.want_confidence;
    case Binding::depth: return p.geometry.want_depth;
    case Binding::points: return p.geometry.want_points;
    case Binding::cost: return p.volumes.want_cost;
    case Binding::aggregated: return p.volumes.want_aggregated;
    case Binding::optimised: return p.volumes.want_optimised;
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
