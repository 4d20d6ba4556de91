// A planned pipeline: steps on values, which have their places in one block of memory or are images of the caller.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "graph/builder.hpp"

namespace stereopsis {

// The views that have masks.
using Masks = std::array<bool, 2>;

struct ProgramStep {
  Step step;
  Work work = {};
  std::size_t scratch_bytes = 0, scratch_offset = 0;
  int time = 0;  // index of the entry to which the time of the step is added
};

class Program {
 public:
  // Throws Error(call) if the pipeline and the request do not fit together. `stripe_rows` is the height of
  // a stripe; 0: the steps decide.
  Program(const PipelineData& pipeline, const Request& request, const Target& target, bool fused, int stripe_rows);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  const PipelineData& pipeline() const { return pipeline_; }
  const Target& target() const { return target_; }
  const std::vector<Value>& values() const { return values_; }
  const std::vector<ProgramStep>& steps() const { return steps_; }
  const std::vector<std::string>& times() const { return times_; }  // titles of the steps, without repetition in a row
  std::size_t bytes() const { return bytes_; }                      // size of the workspace
  const Rect& shown() const { return shown_; }                      // part of the rectified images that is read
  // Returns the shape of an image of the caller; an empty one if no step uses it.
  AnyView shape(Binding binding) const;

  // Sets the views of all values, for a workspace at `memory` and the caller's images. Images of the caller without
  // memory lie in the workspace. An absent mask has an empty view.
  void bind(std::uint64_t memory, const FrameImages& images, const Masks& masks, std::vector<AnyView>& views) const;

  // Calls run(step, call) for every step in turn.
  template <On on, class F>
  void for_each_step(std::span<const AnyView> views, std::uint64_t memory, typename Call<on>::Worker* worker,
                     F&& run) const;

 private:
  void lay_out();

  const PipelineData pipeline_;  // the steps refer to it
  const Target target_;
  const Rect shown_;
  std::vector<Value> values_;
  std::vector<ProgramStep> steps_;
  std::vector<std::string> times_;
  std::size_t bytes_ = 0;
};

// The programs for pairs with masks and without masks; each may be absent. Tuned kernels without masks are faster.
class Programs {
 public:
  // Plans the program without masks only if the one with masks takes at most `most` bytes. Otherwise the caller only
  // needs the size.
  Programs(const PipelineData& pipeline, const Request& request, const Target& target, bool fused, int stripe_rows,
           std::size_t most);

  const Program& with_masks() const { return *with_masks_; }
  const Program& without_masks() const { return *without_masks_; }
  const Program& of(const Masks& masks) const { return masks[0] || masks[1] ? *with_masks_ : *without_masks_; }
  std::size_t bytes() const { return bytes_; }  // size of the larger workspace

 private:
  std::shared_ptr<const Program> with_masks_, without_masks_;
  std::size_t bytes_ = 0;
};

// Gives values and scratch memory their offsets by lifetime, and returns the bytes of all.
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
