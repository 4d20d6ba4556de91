// The rows of the tables of a matcher's inputs and outputs, which stereopsis/arguments.hpp expands.
#pragma once

// clang-format off

// X(name, field, kind, type, planned_by, sentence_name, description)
//   field          the member of StereoPair, and of DevicePair and sp_pair if the input exists there
//   kind           an InputKind, which gives the input its shape
//   type           the PixelType of masks, maps and path costs; other inputs have the type that the problem states
//   planned_by     the thing that a plan with this input is for, in error messages, or an empty string
//   sentence_name  the input's name in error messages
//   description    one sentence for reference documentation
#define STEREOPSIS_INPUTS(X)                                                                                  \
  X(left, left, picture, u8, "", "the left image",                                                            \
    "Left image; rectified, unless the problem has rectification maps.")                                      \
  X(right, right, picture, u8, "", "the right image",                                                         \
    "Right image, with the size and type of the left one.")                                                   \
  X(mask_left, mask_left, mask, u8, "", "the left mask",                                                      \
    "Mask of the left image: 255 = usable pixel, 0 = unusable; without a mask, all pixels are usable.")       \
  X(mask_right, mask_right, mask, u8, "", "the right mask",                                                   \
    "Mask of the right image.")                                                                               \
  X(costs, costs, volume, u8, "a cost volume", "the given cost volume",                                       \
    "Matching costs of the left view, for a plan with given costs: one channel for each candidate.")          \
  X(paths_above, paths_above, path_costs, u16, "a stripe", "the path costs above the stripe",                 \
    "Path costs of the row above the stripe, if Problem::stripe.above is set.")                               \
  X(paths_below, paths_below, path_costs, u16, "a stripe", "the path costs below the stripe",                 \
    "Path costs of the row below the stripe, if Problem::stripe.below is set.")                               \
  X(given_disparity, maps.disparity, map, f32, "maps that are refined", "the given disparity",                \
    "Disparity in pixels; NaN where invalid.")                                                                \
  X(given_validity, maps.validity, map, u8, "maps that are refined", "the given validity",                    \
    "Bits of namespace validity.")                                                                            \
  X(given_right, maps.right, map, f32, "maps that are refined", "the given disparity of the right view",      \
    "Disparity of the right view; required if Plan::needs() states it.")                                      \
  X(given_confidence, maps.confidence, map, f32, "maps that are refined", "the given confidence",             \
    "Confidence, 0 to 1; required if Plan::needs() states it.")                                               \
  X(seeds, seeds, prior, f32, "seeds", "the seeds",                                                           \
    "Disparities of the rectified left image that are known beforehand, for a pipeline with seeds; NaN where unknown.") \
  X(seed_trust, seed_trust, prior, f32, "seeds", "the trust of the seeds",                                    \
    "Trust in each seed, 0 to 1; without it, 1.")

// X(name, field, kind, type, channels, outside, want_bit, flag, description)
//   name         the output's name in C, Python, the command and error messages
//   field        the member of Matched and MatchedViews, and of DeviceMatched and sp_result if the output exists there
//   kind         an OutputKind, which gives the output its shape
//   type         the PixelType of maps and path costs; other outputs have the type of their source
//   channels     the number of channels of maps
//   outside      the value of pixels outside a region of interest
//   want_bit     the bit of SP_WANT_…, 0 for outputs without a flag; bit 4 requests times
//   flag         the address of the member of a Problem `p` that requests the output, or nullptr
//   description  one sentence for reference documentation and --help
#define STEREOPSIS_OUTPUTS(X)                                                                                 \
  X(disparity, disparity, map, f32, 1, not_a_number, 0, nullptr,                                              \
    "Disparity of the left view, in pixels; NaN where a pixel is invalid.")                                   \
  X(validity, validity, map, u8, 1, validity::outside, 0, nullptr,                                            \
    "Bits that state why a pixel is invalid, or that the pixel was filled or repaired; 0 for measured pixels.") \
  X(right, right, map, f32, 1, not_a_number, 1, &p.want_right,                                                \
    "Disparity of the right view, from the same costs, in pixels; neither checked nor filled.")               \
  X(confidence, confidence, map, f32, 1, 0, 2, &p.want_confidence,                                            \
    "Probability that the disparity is within 1 pixel of the truth, also for filled pixels; 0 without a disparity.") \
  X(depth, depth, map, f32, 1, not_a_number, 8, &p.geometry.want_depth,                                       \
    "Depth Z, in the unit of the rig; NaN behind the cameras and, unless fill_depth is set, for unmeasured pixels.") \
  X(points, points, map, f32, 3, not_a_number, 16, &p.geometry.want_points,                                   \
    "Points x, y, z, in the unit of the rig and in the chosen frame; NaN where the depth is NaN.")            \
  X(uncertainty, uncertainty, map, f32, 1, not_a_number, 32, &p.geometry.want_uncertainty,                    \
    "Uncertainty of the depth, in the unit of the rig, for the assumed error of the disparity.")              \
  X(rectified, rectified, picture, u8, 1, 0, 64, &p.geometry.want_rectified,                                  \
    "Rectified left image, in the pixel type of the pair.")                                                   \
  X(cost, cost, volume, u8, 1, 0, 128, &p.volumes.want_cost,                                                  \
    "Volume of matching costs: one channel for each candidate, the lowest disparity first.")                  \
  X(aggregated, aggregated, volume, u8, 1, 0, 256, &p.volumes.want_aggregated,                                \
    "Volume of costs after aggregation: one channel for each candidate.")                                     \
  X(optimised, optimised, volume, u8, 1, 0, 512, &p.volumes.want_optimised,                                   \
    "Volume of costs after optimisation: one channel for each candidate.")                                    \
  X(paths, paths, path_costs, u16, 1, 0, 0, nullptr,                                                          \
    "Path costs at the boundary of a stripe, for the next stripe: one row for each kind of path.")            \
  X(probed_cost, probed[0], probe, u8, 1, 0, 0, nullptr,                                                      \
    "Matching costs of all candidates: one row for each probe.")                                              \
  X(probed_aggregated, probed[1], probe, u8, 1, 0, 0, nullptr,                                                \
    "Aggregated costs of all candidates: one row for each probe.")                                            \
  X(probed_optimised, probed[2], probe, u8, 1, 0, 0, nullptr,                                                 \
    "Optimised costs of all candidates: one row for each probe.")

// clang-format on

namespace stereopsis {

// Kind of an input. The kind determines the shape of the input.
enum class InputKind {
  picture,     // a view, described by Problem::size, pixel_type, channels, bit_depth and format
  mask,        // an 8-bit mask of Problem::size
  volume,      // a cost volume of Problem::volumes.given
  path_costs,  // path costs, with the shape from Plan::path_costs()
  map,         // a map of Problem::size
  prior,       // a map of the rectified left image, if a stage reads it
};

// Kind of an output. The kind determines the shape of the output.
enum class OutputKind {
  map,         // a map of Plan::output_size()
  picture,     // an image of the size Problem::rectified_size(), with the pixel type and channels of the pair
  volume,      // a cost volume, with the shape from Plan::volume()
  path_costs,  // path costs, with the shape from Plan::path_costs()
  probe,       // costs of probes, with the shape from Plan::probed()
};

}  // namespace stereopsis
