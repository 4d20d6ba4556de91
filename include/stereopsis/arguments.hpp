// The tables of a matcher's inputs and outputs: one row for each image, volume and map that a pair or a result can
// have. Result structs, the C interface, Python, argument checks, reference documentation and the command's options
// follow from the tables. A new input or output takes one new row; `./dev outputs` then writes its fields into the
// public headers and the Python package.
#pragma once

#include <algorithm>
#include <array>
#include <limits>

#include "stereopsis/argument_rows.hpp"
#include "stereopsis/matcher.hpp"

namespace stereopsis {

// A row of the table of inputs. STEREOPSIS_INPUTS explains the members.
struct Input {
  const char* name;           // the name of the member of StereoPair, or `given_…` for GivenMaps
  InputKind kind;             // the kind of the input
  PixelType type;             // the element type of masks, maps and path costs
  const char* planned_by;     // in error messages, the thing that a plan with this input is for; may be empty
  const char* sentence_name;  // the input's name in error messages
  const char* description;    // one sentence for documentation
};

// A row of the table of outputs. STEREOPSIS_OUTPUTS explains the members.
struct Output {
  const char* name;   // the name in C, Python and the command
  OutputKind kind;    // the kind of the output
  PixelType type;     // the element type of maps and path costs
  int channels;       // the number of channels of maps
  float outside;      // value of pixels outside a region of interest
  unsigned want_bit;  // the bit of SP_WANT_…, 0 for outputs without a flag
  // Returns the member of the problem that requests the output, or null if no flag requests it.
  bool* (*flag)(Problem& problem);
  const char* description;  // one sentence for documentation and --help
};

#define STEREOPSIS_ROW(name, field, kind, type, planned_by, sentence_name, description) \
  Input{#name, InputKind::kind, PixelType::type, planned_by, sentence_name, description},
// The rows of the inputs.
inline constexpr std::array input_table{STEREOPSIS_INPUTS(STEREOPSIS_ROW)};
#undef STEREOPSIS_ROW

// The rows of the outputs.
inline constexpr auto output_table = [] {
  constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
#define STEREOPSIS_ROW(name, field, kind, type, channels, outside, want_bit, flag, description) \
  Output{#name,                                                                                 \
         OutputKind::kind,                                                                      \
         PixelType::type,                                                                       \
         channels,                                                                              \
         outside,                                                                               \
         want_bit,                                                                              \
         []([[maybe_unused]] Problem& p) -> bool* { return flag; },                             \
         description},
  return std::array{STEREOPSIS_OUTPUTS(STEREOPSIS_ROW)};
#undef STEREOPSIS_ROW
}();

#define STEREOPSIS_CALL(name, field, ...) f(row++, [](auto& owner) -> decltype((owner.field)) { return owner.field; });

// Calls f(row, field) for each row of input_table. The function `field` maps a StereoPair, or another struct of inputs,
// to the member for this input. The call does not compile for a struct without the member; `requires { field(pair); }`
// tests for the member.
template <class F>
void for_each_input(F&& f) {
  std::size_t row = 0;
  STEREOPSIS_INPUTS(STEREOPSIS_CALL)
}

// Calls f(row, field) for each row of output_table, as for_each_input does, for a Matched or another struct of results.
template <class F>
void for_each_output(F&& f) {
  std::size_t row = 0;
  STEREOPSIS_OUTPUTS(STEREOPSIS_CALL)
}

#undef STEREOPSIS_CALL

// The shape of an output's image. A volume has a channel for each candidate.
struct OutputShape {
  Size size;                       // in pixels
  int channels = 0;                // elements of a pixel; 0 if there is no such output
  PixelType type = PixelType::u8;  // type of each channel
};
// Returns the shape of the output in this row of output_table, as the plan returns the output to the caller.
OutputShape output_shape(const Plan& plan, std::size_t row);

// Returns whether the problem requests only path costs of a stripe, and no maps.
inline bool requests_paths_only(const Problem& problem) {
  return problem.stripe && problem.stripe->follow != BoundaryStripe::Follow::none;
}

// Returns whether the problem requests the output.
inline bool is_requested(const Problem& problem, const Output& output) {
  if (const bool* const flag = output.flag(const_cast<Problem&>(problem))) return *flag;
  switch (output.kind) {
    case OutputKind::map: return !requests_paths_only(problem);
    case OutputKind::path_costs: return requests_paths_only(problem);
    default: return !problem.volumes.probes.empty();
  }
}

// Returns whether the problem requests cost volumes in addition to maps.
inline bool requests_costs(const Problem& problem) {
  return std::ranges::any_of(output_table, [&](const Output& output) {
    const bool shows_costs = output.kind == OutputKind::volume || output.kind == OutputKind::probe;
    return shows_costs && is_requested(problem, output);
  });
}

}  // namespace stereopsis
