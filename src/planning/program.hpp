// A planned pipeline: steps on values. Values are images of the caller, or have a place in one block of memory.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "graph/builder.hpp"

namespace stereopsis {

// Flags for the inputs that a pair may leave out: the masks of both views, and the trust of the seeds.
using Masks = std::array<bool, 3>;
inline Masks masks_of(const FrameImages& images) {
  const auto is_there = [&](Binding input) { return images[index_of(input)].memory != 0; };
  return {is_there(Binding::mask_left), is_there(Binding::mask_right), is_there(Binding::seed_trust)};
}

struct ProgramStep {
  Step step;
  Work work = {};
  std::size_t scratch_bytes = 0, scratch_offset = 0;
  const PairParameters* of_pair = nullptr;  // null if all pairs have the same parameters
  int time = 0;                             // index of the entry of times() to which the time of the step is added
};

class Program {
 public:
  // Throws Error(call) if the pipeline and the request do not fit together. `stripe_rows` is the height of a stripe; 0
  // lets the steps decide.
  Program(const PipelineData& pipeline, const Request& request, const Target& target, bool fused, int stripe_rows);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  const PipelineData& pipeline() const { return pipeline_; }
  const Target& target() const { return target_; }
  const std::vector<Value>& values() const { return values_; }
  std::span<const ProgramStep> steps() const { return steps_; }
  // The longest run of steps whose parameters are the same for all pairs.
  Rows fixed_steps() const { return fixed_steps_; }
  bool is_fixed() const { return fixed_steps_.count() == static_cast<int>(steps_.size()); }
  // Titles of the steps, without consecutive repetitions.
  const std::vector<std::string>& times() const { return times_; }
  std::size_t bytes() const { return bytes_; }  // size of the workspace
  const Rect& shown() const { return shown_; }  // part of the rectified images that is read
  // Returns the shape of an image of the caller; the shape is empty if no step uses the image.
  AnyView shape(Binding binding) const;

  // Sets the views of all values, for a workspace at `memory` and the caller's images. Images that the caller does not
  // pass lie in the workspace. An absent mask has an empty view.
  void bind(std::uint64_t memory, const FrameImages& images, const Masks& masks, std::vector<AnyView>& views) const;

  // Calls run(step, call) for each of these steps, in order, with the parameters for a pair with this alignment of rows.
  template <On on, class F>
  void for_each_step(std::span<const ProgramStep> steps, const RowAlignment& rows, std::span<const AnyView> views,
                     std::uint64_t memory, typename Call<on>::Worker* worker, F&& run) const;

 private:
  void lay_out();

  const PipelineData pipeline_;  // a copy, to which the steps refer
  const Target target_;
  const Rect shown_;
  std::vector<Value> values_;
  std::vector<ProgramStep> steps_;
  std::vector<std::string> times_;
  Rows fixed_steps_;
  std::size_t bytes_ = 0;
};

// The programs of a plan, for pairs with and without masks, and for pairs with and without an alignment of rows. Without
// masks, tuned kernels are faster.
class Programs {
 public:
  // Plans the program without masks only if the program with masks takes at most `most` bytes. If it takes more, the
  // caller needs only the size. Plans programs with an alignment only if the request has one.
  Programs(const PipelineData& pipeline, const Request& request, const Target& target, bool fused, int stripe_rows,
           std::size_t most);

  // The programs with an alignment, if the request has one. They have the largest inputs.
  const Program& with_masks() const { return *first_.with_masks; }
  const Program& without_masks() const { return *first_.without_masks; }
  // Returns the program for a frame. The program has masks if the frame has a mask, if black regions of its images are
  // masked, or if its alignment leaves pixels without a source. Images on a GPU are not examined, so that they always need
  // the program with masks if black is masked. Programs without an alignment match pairs whose rows do not move.
  const Program& of(const Masks& masks, const FrameArguments& arguments, bool on_device) const;
  std::size_t bytes() const { return bytes_; }  // size of the larger workspace

 private:
  struct OfMasks {
    std::shared_ptr<const Program> with_masks, without_masks;
  };

  OfMasks first_, without_rows_;
  std::size_t bytes_ = 0;
};

// Assigns offsets to values and scratch memory, by lifetime. Returns the total number of bytes.
std::size_t place(std::span<Value> values, std::span<ProgramStep> steps, const Target& target);

template <On on, class F>
void Program::for_each_step(std::span<const ProgramStep> steps, const RowAlignment& rows,
                            std::span<const AnyView> views, std::uint64_t memory, typename Call<on>::Worker* worker,
                            F&& run) const {
  std::vector<AnyView> operands;
  operands.reserve(16);
  Step of_pair;
  for (const ProgramStep& s : steps) {
    operands.clear();
    if (s.of_pair != nullptr) {
      of_pair = s.step;
      of_pair.parameters = s.of_pair->of(s.step.parameters, rows);
    }
    const Run here{{&s.step, 1}, views, target_};
    for (const Operand& operand : s.step.operands) operands.push_back(here.shape(operand));
    typename Call<on>::Scratch scratch;
    if constexpr (on == On::gpu)
      scratch = {memory, static_cast<std::int64_t>(s.scratch_offset), s.scratch_bytes};
    else
      scratch = {reinterpret_cast<std::byte*>(memory) + s.scratch_offset, s.scratch_bytes};
    run(s, Call<on>({s.of_pair == nullptr ? s.step : of_pair, operands, target_}, worker, scratch));
  }
}

}  // namespace stereopsis
