// A planned pipeline: steps on values. Values are images of the caller, or have a place in one block of memory.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "graph/builder.hpp"

namespace stereopsis {

// Flags for the views that have masks.
using Masks = std::array<bool, 2>;

struct ProgramStep {
  Step step;
  Work work = {};
  std::size_t scratch_bytes = 0, scratch_offset = 0;
  int time = 0;  // index of the entry of times() to which the time of the step is added
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
  const std::vector<ProgramStep>& steps() const { return steps_; }
  // Titles of the steps, without consecutive repetitions.
  const std::vector<std::string>& times() const { return times_; }
  std::size_t bytes() const { return bytes_; }  // size of the workspace
  const Rect& shown() const { return shown_; }  // part of the rectified images that is read
  // Returns the shape of an image of the caller; the shape is empty if no step uses the image.
  AnyView shape(Binding binding) const;

  // Sets the views of all values, for a workspace at `memory` and the caller's images. Images that the caller does not
  // pass lie in the workspace. An absent mask has an empty view.
  void bind(std::uint64_t memory, const FrameImages& images, const Masks& masks, std::vector<AnyView>& views) const;

  // Calls run(step, call) for each step, in order.
  template <On on, class F>
  void for_each_step(std::span<const AnyView> views, std::uint64_t memory, typename Call<on>::Worker* worker,
                     F&& run) const;

 private:
  void lay_out();

  const PipelineData pipeline_;  // a copy, to which the steps refer
  const Target target_;
  const Rect shown_;
  std::vector<Value> values_;
  std::vector<ProgramStep> steps_;
  std::vector<std::string> times_;
  std::size_t bytes_ = 0;
};

// The program for pairs with masks and the program for pairs without masks. Either may be absent. Without masks, tuned
// kernels are faster.
class Programs {
 public:
  // Plans the program without masks only if the program with masks takes at most `most` bytes. If it takes more, the
  // caller needs only the size.
  Programs(const PipelineData& pipeline, const Request& request, const Target& target, bool fused, int stripe_rows,
           std::size_t most);

  const Program& with_masks() const { return *with_masks_; }
  const Program& without_masks() const { return *without_masks_; }
  // Returns the program for a frame: the one with masks if the frame has a mask, or if black regions of its images are
  // masked. Images on a GPU are not examined, so that they always need the program with masks if black is masked.
  const Program& of(const Masks& masks, const FrameImages& images, bool on_device) const;
  std::size_t bytes() const { return bytes_; }  // size of the larger workspace

 private:
  std::shared_ptr<const Program> with_masks_, without_masks_;
  std::size_t bytes_ = 0;
};

// Assigns offsets to values and scratch memory, by lifetime. Returns the total number of bytes.
std::size_t place(std::span<Value> values, std::span<ProgramStep> steps, const Target& target);

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
    run(s, Call<on>({s.step, operands, target_}, worker, scratch));
  }
}

}  // namespace stereopsis
