// The images that a program exchanges with its caller.
#pragma once

#include <array>
#include <cstddef>

#include "graph/any_view.hpp"
#include "stereopsis/argument_rows.hpp"
#include "stereopsis/row_alignment.hpp"

namespace stereopsis {

// An input or output image of the caller.
enum class Binding {
  none,
// The members from the rows of the table of inputs.
#define STEREOPSIS_ROW(name, ...) name,
  STEREOPSIS_INPUTS(STEREOPSIS_ROW)
#undef STEREOPSIS_ROW
      chroma_left,  // the chroma planes of NV12, whose luma planes are `left` and `right`
  chroma_right,
  whole_left,  // the views without the crop to a region, as they are given; for NV12 the luma
  whole_right,
  map_left,  // the rectification maps
  map_right,
  map_rows_right,  // all rows of the map of the right view, in the columns of map_right
// The members from the rows of the table of outputs.
#define STEREOPSIS_ROW(name, ...) output_##name,
  STEREOPSIS_OUTPUTS(STEREOPSIS_ROW)
#undef STEREOPSIS_ROW
      end
};
inline constexpr int binding_count = static_cast<int>(Binding::end);

// Name and kind of each output, in the order of the table.
struct OutputRow {
  const char* name;
  OutputKind kind;
};
inline constexpr std::array output_rows{
#define STEREOPSIS_ROW(name, field, kind, ...) OutputRow{#name, OutputKind::kind},
    STEREOPSIS_OUTPUTS(STEREOPSIS_ROW)
#undef STEREOPSIS_ROW
};

struct InputRow {
  const char* name;
  InputKind kind;
  Binding binding;
};
inline constexpr std::array input_rows{
#define STEREOPSIS_ROW(name, field, kind, ...) InputRow{#name, InputKind::kind, Binding::name},
    STEREOPSIS_INPUTS(STEREOPSIS_ROW)
#undef STEREOPSIS_ROW
};

constexpr std::size_t index_of(Binding binding) { return static_cast<std::size_t>(binding); }
constexpr Binding input_binding(std::size_t row) { return static_cast<Binding>(index_of(Binding::left) + row); }
constexpr Binding output_binding(std::size_t row) {
  return static_cast<Binding>(index_of(Binding::output_disparity) + row);
}
constexpr std::size_t output_row(Binding output) { return index_of(output) - index_of(Binding::output_disparity); }
// Returns the binding of an image of the right view if `view` is 1, given the binding for the left view.
constexpr Binding of_view(Binding left, int view) {
  return static_cast<Binding>(index_of(left) + static_cast<std::size_t>(view));
}
constexpr bool is_input(Binding binding) { return binding >= Binding::left && binding <= Binding::whole_right; }
constexpr bool is_output(Binding binding) { return binding >= Binding::output_disparity; }

// The states of a cost volume, and the outputs that show them.
inline constexpr std::array volume_outputs{Binding::output_cost, Binding::output_aggregated, Binding::output_optimised};
inline constexpr std::array probe_outputs{Binding::output_probed_cost, Binding::output_probed_aggregated,
                                          Binding::output_probed_optimised};

// The images of a frame by their bindings. Absent images have no memory.
using FrameImages = std::array<AnyView, binding_count>;

// The arguments of a frame.
struct FrameArguments {
  FrameImages images{};
  RowAlignment rows = {};  // alignment of the right image
};

}  // namespace stereopsis
