// A plan as a program: steps on values, which have their places in one block of memory, or are the caller's.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "program/pipeline_data.hpp"
#include "stereopsis/arguments.hpp"

namespace stereopsis {

// An image that the caller provides, or that is delivered to the caller.
enum class Binding {
  none,
// The rows of input_table.
#define STEREOPSIS_ROW(name, ...) name,
  STEREOPSIS_INPUTS(STEREOPSIS_ROW)
#undef STEREOPSIS_ROW
      chroma_left,  // of NV12, whose luma is `left` and `right`
  chroma_right,
  map_left,  // of a rectification
  map_right,
// The rows of output_table.
#define STEREOPSIS_ROW(name, ...) output_##name,
  STEREOPSIS_OUTPUTS(STEREOPSIS_ROW)
#undef STEREOPSIS_ROW
      end
};
inline constexpr int binding_count = static_cast<int>(Binding::end);
constexpr Binding input_binding(std::size_t row) {
  return static_cast<Binding>(static_cast<std::size_t>(Binding::left) + row);
}
constexpr Binding output_binding(std::size_t row) {
  return static_cast<Binding>(static_cast<std::size_t>(Binding::output_disparity) + row);
}
constexpr std::size_t output_row(Binding output) {
  return static_cast<std::size_t>(output) - static_cast<std::size_t>(Binding::output_disparity);
}
constexpr Binding volume_binding(CostState state) {
  return static_cast<Binding>(static_cast<int>(Binding::output_cost) + static_cast<int>(state));
}
constexpr Binding probe_binding(CostState state) {
  return static_cast<Binding>(static_cast<int>(Binding::output_probed_cost) + static_cast<int>(state));
}
constexpr bool is_input(Binding binding) { return binding >= Binding::left && binding <= Binding::chroma_right; }
constexpr bool is_output(Binding binding) { return binding >= Binding::output_disparity; }

struct Value {
  AnyView shape;
  Binding binding = Binding::none;
  int first = -1, last = -1;  // the steps that use it
  std::size_t offset = 0;     // in the workspace, where it has a place there
  bool has_place = false;
};

struct ProgramStep {
  Step step;
  Work work = {};
  std::size_t scratch_bytes = 0, scratch_offset = 0;
  int time = 0;  // which of the times it counts for
};

// What a program is made for.
struct ProgramRequest {
  const PipelineData& pipeline;
  const Problem& problem;
  Target target;
  bool fused = true;
  std::array<bool, 2> masks{};  // whether the views have one
  int stripe_rows = 0;          // of stripes that it works in; 0: as it likes
};

class Program {
 public:
  // Throws Error(call) where the pipeline and the problem do not fit together.
  explicit Program(const ProgramRequest&);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  const PipelineData& pipeline() const { return pipeline_; }
  const Target& target() const { return target_; }
  const std::vector<Value>& values() const { return values_; }
  const std::vector<ProgramStep>& steps() const { return steps_; }
  const std::vector<std::string>& times() const { return times_; }  // the names of times
  std::size_t bytes() const { return bytes_; }
  const Rect& shown() const { return shown_; }  // of the rectified images
  // The shape of what comes from outside or goes there; empty where it plays no part.
  AnyView shape(Binding) const;

  // The values where the workspace lies at `memory` and the caller's images are `images`; those without memory have their places.
  void bind(std::uint64_t memory, std::span<const AnyView, binding_count> images, std::vector<AnyView>& views) const;

  // Calls run(step, call) for every step in turn.
  template <On on, class F>
  void for_each_step(std::span<const AnyView> views, std::uint64_t memory, typename Call<on>::Worker* worker,
                     F&& run) const;

 private:
  void lay_out();

  const PipelineData pipeline_;  // the steps point to it
  const Target target_;
  const Rect shown_;
  std::vector<Value> values_;
  std::vector<ProgramStep> steps_;
  std::vector<std::string> times_;
  std::size_t bytes_ = 0;

  friend class Composer;
};

// Counts a step's work for its time.
void add(StageTime&, const Work&);

// The program of each pair of masks that may come, and what the largest of them takes. None is planned behind one that takes more than
// `most` bytes: all that is asked of such is their size. The one of both masks is first, as it mostly takes the most.
class Programs {
 public:
  Programs(const PipelineData&, const Problem&, const Target&, bool fused, int stripe_rows, std::size_t most);

  const Program& with_masks() const { return of(true, true); }
  const Program& of(bool mask_left, bool mask_right) const { return *programs_[mask_left + 2 * mask_right]; }
  std::size_t bytes() const { return bytes_; }

 private:
  std::array<std::shared_ptr<const Program>, 4> programs_;
  std::size_t bytes_ = 0;
};

// The part of the rectified images that a problem's region needs, and the size of the result for images of a size.
Rect required_input(const PipelineData&, const Problem&);
Size output_size(const PipelineData&, Size input);
// Whether filtered volumes of features are made some rows at a time, and selected from as they are.
bool uses_row_tiles(const PipelineData&);
// How many pixels of the input one of the result is wide and high.
int output_factor(const PipelineData&);

// Puts fused operations in the place of runs of steps; each that is passed over says why.
void fuse(std::vector<Step>& steps, std::span<const Value> values, const Target&);

// Offsets, in the values and steps, by lifetime; what they take in all.
std::size_t place(std::span<Value> values, std::span<ProgramStep> steps, const Target&);

template <On on, class F>
void Program::for_each_step(std::span<const AnyView> views, std::uint64_t memory, typename Call<on>::Worker* worker,
                            F&& run) const {
  std::vector<AnyView> operands;
  operands.reserve(16);
  for (const ProgramStep& s : steps_) {
    operands.clear();
    const Run here{{&s.step, 1}, views, target_};
    for (const Operand& operand : s.step.operands) operands.push_back(here.shape(operand));
    typename Call<on>::Scratch scratch;
    if constexpr (on == On::gpu)
      scratch = {memory, static_cast<std::int64_t>(s.scratch_offset), s.scratch_bytes};
    else
      scratch = {reinterpret_cast<std::byte*>(memory) + s.scratch_offset, s.scratch_bytes};
    run(s, Call<on>({s.step.parameters, s.step.context, operands, target_}, worker, scratch));
  }
}

}  // namespace stereopsis
