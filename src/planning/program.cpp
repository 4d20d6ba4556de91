#include "planning/program.hpp"

#include <algorithm>

#include "core/text.hpp"
#include "planning/lowering.hpp"

namespace stereopsis {
namespace {

// Returns the memory traffic if every operand is read or written once.
Work traffic(std::span<const AnyView> operands) {
  Work work;
  for (const AnyView& operand : operands) work.bytes += operand.bytes();
  return work;
}

void check_runs(const StageDescriptor& stage, On device) {
  const Functions& f = stage.functions;
  if (device == On::gpu ? f.gpu != nullptr : f.oracle != nullptr || f.cpu != nullptr) return;
  throw Error(
      ErrorCategory::unsupported,
      text("the stage '", stage.name, "' does not run on this device; use the device cpu, or choose another stage"));
}

Rows longest_fixed(std::span<const ProgramStep> steps) {
  Rows longest, run;
  for (const ProgramStep& s : steps) {
    const int next = run.last + 1;
    run = s.of_pair == nullptr ? Rows{run.first, next} : Rows{next, next};
    if (run.count() > longest.count()) longest = run;
  }
  return longest;
}

}  // namespace

Program::Program(const PipelineData& pipeline, const Request& request, const Target& target, bool fused,
                 int stripe_rows)
    : pipeline_(pipeline), target_(target), shown_(required_input(pipeline_, request)) {
  Builder builder(pipeline_, request, target_, shown_, stripe_rows, fused);
  lower(builder);
  for (Step& step : builder.take_steps()) steps_.push_back({.step = std::move(step)});
  values_ = builder.take_values();
  lay_out();
}

void Program::lay_out() {
  std::vector<AnyView> shapes, operands;
  for (const Value& v : values_) shapes.push_back(v.shape);
  for (ProgramStep& s : steps_) {
    const StageDescriptor& stage = *s.step.entry;
    operands.clear();
    for (const Operand& operand : s.step.operands)
      operands.push_back(Run{{&s.step, 1}, shapes, target_}.shape(operand));
    check_runs(stage, target_.device);
    const Shape shape(s.step, operands, target_);
    if (stage.check != nullptr) stage.check(shape);
    s.of_pair = stage.facet<PairParameters>();
    s.scratch_bytes = stage.scratch(shape);
    s.work = stage.work != nullptr ? stage.work(shape) : traffic(operands);
    if (times_.empty() || times_.back() != s.step.title) times_.push_back(s.step.title);
    s.time = static_cast<int>(times_.size()) - 1;
  }
  fixed_steps_ = longest_fixed(steps_);
  bytes_ = place(values_, steps_, target_);
}

AnyView Program::shape(Binding binding) const {
  for (const Value& v : values_)
    if (v.binding == binding && v.first >= 0) return v.shape;
  return {};
}

void Program::bind(std::uint64_t memory, const FrameImages& images, const Masks& masks,
                   std::vector<AnyView>& views) const {
  views.resize(values_.size());
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const Value& v = values_[i];
    const AnyView& given = images[index_of(v.binding)];
    const bool absent = (v.binding == Binding::mask_left && !masks[0]) ||
                        (v.binding == Binding::mask_right && !masks[1]) ||
                        (v.binding == Binding::seed_trust && !masks[2]);
    views[i] = absent ? AnyView() : v.binding != Binding::none && given.memory != 0 ? given : v.shape;
    if (absent || views[i].memory != 0 || !v.has_place) continue;
    // On the host, a view has an address. On a GPU, it has a memory object and an offset.
    if (target_.device == On::gpu) {
      views[i].memory = memory;
      views[i].offset = static_cast<std::int64_t>(v.offset) / bytes_of(v.shape.element);
    } else {
      views[i].memory = memory + v.offset;
    }
  }
}

Programs::Programs(const PipelineData& pipeline, const Request& request, const Target& target, bool fused,
                   int stripe_rows, std::size_t most) {
  const auto plan = [&](OfMasks& programs, const Request& own) {
    if (bytes_ > most) return;
    Request masked = own;
    masked.masks = {true, true};
    programs.with_masks = std::make_shared<Program>(pipeline, masked, target, fused, stripe_rows);
    bytes_ = std::max(bytes_, programs.with_masks->bytes());
    if (bytes_ > most) return;
    programs.without_masks = std::make_shared<Program>(pipeline, own, target, fused, stripe_rows);
    bytes_ = std::max(bytes_, programs.without_masks->bytes());
  };
  plan(first_, request);
  if (!request.with_rows) return;
  Request without_rows = request;
  without_rows.with_rows = false;
  plan(without_rows_, without_rows);
}

const Program& Programs::of(const Masks& masks, const FrameArguments& arguments, bool on_device) const {
  const bool moves_rows = !arguments.rows.is_identity();
  const OfMasks& programs = moves_rows || !without_rows_.with_masks ? first_ : without_rows_;
  const auto masks_black = [&](const ProgramStep& s) {
    const auto* mask = s.step.entry->facet<BlackMask>();
    if (mask == nullptr) return false;
    const Value& given = programs.with_masks->values()[static_cast<std::size_t>(s.step.operands.front().value)];
    return on_device || mask->has_effect(s.step.parameters, arguments.images[index_of(given.binding)]);
  };
  const bool is_masked = masks[0] || masks[1] || arguments.rows.most() >= 0.5 ||
                         std::ranges::any_of(programs.with_masks->steps(), masks_black);
  return is_masked ? *programs.with_masks : *programs.without_masks;
}

}  // namespace stereopsis
