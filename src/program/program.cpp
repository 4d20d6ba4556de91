#include "program/program.hpp"

#include <algorithm>

#include "core/text.hpp"
#include "program/composer.hpp"

namespace stereopsis {
namespace {

// Every operand once.
Work traffic(std::span<const AnyView> operands) {
  Work work;
  for (const AnyView& operand : operands) work.bytes += operand.bytes();
  return work;
}

void check_runs(const StageDescriptor& entry, On device) {
  const Functions& f = entry.functions;
  if (device == On::gpu ? f.gpu != nullptr : f.oracle != nullptr || f.cpu != nullptr) return;
  throw Error(ErrorCategory::unsupported,
              text("the stage '", entry.name, "' does not run on a GPU here; match on the cpu, or choose another"));
}

}  // namespace

void add(StageTime& time, const Work& work) {
  time.bytes += work.bytes;
  time.path_operations += work.path_ops;
  time.popcounts += work.popcounts;
  time.operations += work.int_ops;
}

Program::Program(const ProgramRequest& request)
    : pipeline_(request.pipeline), target_(request.target), shown_(required_input(pipeline_, request.problem)) {
  Composer(*this, request).compose();
  lay_out();
}

void Program::lay_out() {
  std::vector<AnyView> shapes, operands;
  for (const Value& v : values_) shapes.push_back(v.shape);
  for (ProgramStep& s : steps_) {
    const StageDescriptor& entry = *s.step.entry;
    operands.clear();
    for (const Operand& operand : s.step.operands)
      operands.push_back(Run{{&s.step, 1}, shapes, target_}.shape(operand));
    check_runs(entry, target_.device);
    const Shape shape{s.step.parameters, s.step.context, operands, target_};
    if (entry.check != nullptr) entry.check(shape);
    if (entry.scratch != nullptr) s.scratch_bytes = entry.scratch(shape);
    s.work = entry.work != nullptr ? entry.work(shape) : traffic(operands);
    if (times_.empty() || times_.back() != s.step.title) times_.push_back(s.step.title);
    s.time = static_cast<int>(times_.size()) - 1;
  }
  bytes_ = place(values_, steps_, target_);
}

AnyView Program::shape(Binding binding) const {
  for (const Value& v : values_)
    if (v.binding == binding && v.first >= 0) return v.shape;
  return {};
}

void Program::bind(std::uint64_t memory, std::span<const AnyView, binding_count> images,
                   std::vector<AnyView>& views) const {
  views.resize(values_.size());
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const Value& v = values_[i];
    const AnyView& given = images[static_cast<std::size_t>(v.binding)];
    views[i] = v.binding != Binding::none && given.memory != 0 ? given : v.shape;
    if (views[i].memory != 0 || !v.has_place) continue;
    // On the host an address, on a GPU memory and an offset.
    if (target_.device == On::gpu) {
      views[i].memory = memory;
      views[i].offset = static_cast<std::int64_t>(v.offset) / bytes_of(v.shape.element);
    } else {
      views[i].memory = memory + v.offset;
    }
  }
}

Programs::Programs(const PipelineData& data, const Problem& problem, const Target& target, bool fused, int stripe_rows,
                   std::size_t most) {
  for (int masks = 3; masks >= 0 && bytes_ <= most; --masks) {
    const ProgramRequest request{data, problem, target, fused, {(masks & 1) != 0, (masks & 2) != 0}, stripe_rows};
    programs_[masks] = std::make_shared<Program>(request);
    bytes_ = std::max(bytes_, programs_[masks]->bytes());
  }
}

}  // namespace stereopsis
