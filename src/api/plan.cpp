#include <algorithm>
#include <cstdlib>
#include <limits>

#include "api/check_problem.hpp"
#include "api/request_of.hpp"
#include "api/views.hpp"
#include "core/memory_text.hpp"
#include "core/text.hpp"
#include "device/gpu/device.hpp"
#include "execution/engine.hpp"
#include "graph/region.hpp"
#include "planning/lowering.hpp"
#ifdef STEREOPSIS_SIMD
#include "device/cpu/has_simd.hpp"
#include "device/cpu/threads.hpp"
#endif

namespace stereopsis {
namespace {

constexpr int most_lanes = 8;  // with more pairs in parallel, no device is used better
constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

bool is_host(const Device& device) { return device.name == "cpu"; }

Target target_of(const Device& device) {
  if (!is_host(device)) return Target(gpu::device(device.name).properties());
#ifdef STEREOPSIS_SIMD
  if (has_simd() && device.implementation != Implementation::oracle) return {On::cpu, Threads(device.threads).count()};
#endif
  return {On::oracle, 1};
}

// An environment variable disables all fused operations, so that their effect can be measured.
bool is_fused(const Device& device) {
  const char* setting = std::getenv("STEREOPSIS_FUSED");
  return device.implementation == Implementation::fused && (setting == nullptr || std::string_view(setting) != "off");
}

// The available memory: in total, for the runs, and in one allocation. Without a limit, most of the GPU's memory that is
// free now or half of the host's memory is available, because other programs may use the remaining memory.
struct Memory {
  Memory(const PipelineData& data, const Problem& p, const Device& device)
      : shared(is_host(device) ? 0 : gpu_bytes_shared(data, p.geometry.rectification.get())),
        implied(p.memory_limit == 0),
        all(!implied          ? p.memory_limit
            : is_host(device) ? host_memory_bytes() / 2
                              : gpu_memory_bytes(device.name) / 10 * 9),
        of_runs(all == 0 ? unlimited : std::max(all, shared + 1) - shared),
        most(std::min(of_runs, is_host(device) ? unlimited : gpu::device(device.name).largest_buffer())) {}

  // Subtracts `bytes` of other memory, which counts against the limit, from the memory for the runs.
  void keep(std::size_t bytes) {
    if (of_runs == unlimited) return;
    of_runs -= std::min(of_runs, bytes);
    most = std::min(most, of_runs);
  }

  std::size_t shared;
  bool implied;
  std::size_t all, of_runs, most;
};

// The error names the number of threads, because the memory of a plan depends on it.
[[noreturn]] void refuse_size(const Problem& p, const Device& device, const Target& target, Size size,
                              const Memory& memory, std::size_t least) {
  const std::string threads = !is_host(device)      ? text(" on ", device.name)
                              : target.threads == 1 ? std::string(" with 1 thread")
                                                    : text(" with ", target.threads, " threads");
  throw Error(
      ErrorCategory::memory,
      text("matching ", size.width, "×", size.height, " pixels and ", p.range.count, " disparities", threads,
           " needs at least ", needed_memory(least + memory.shared), " (", least + memory.shared,
           " bytes) of memory, and ",
           memory.most < memory.of_runs
               ? text("the device '", device.name, "' allocates at most ", given_memory(memory.most), " in one piece; ")
           : memory.implied ? text("the device '", device.name, "' has ", given_memory(memory.all), " available; ")
                            : text("the memory limit is ", given_memory(memory.all), "; raise the limit, or "),
           "use fewer disparities or a region"));
}

Problem with_new_names(Problem problem) {
  problem.refine_only |= problem.refines;
  return problem;
}

}  // namespace

Plan::Plan(const Pipeline& pipeline, const Problem& problem, const Device& device)
    : pipeline_(pipeline), problem_(with_new_names(problem)), device_(device) {
  check(problem_);
  device_.name = resolve_device(device.name);
  if (device_.implementation == Implementation::oracle && !is_host(device_))
    throw Error(ErrorCategory::call,
                text("the implementation oracle runs only on the device cpu, and not on '", device_.name, "'"));
  const PipelineData& data = pipeline_.data();
  const Request request = request_of(problem_);
  required_input_ = stereopsis::required_input(data, request);
  const Size size = required_input_.size();
  check_extents(problem_, size);
  output_size_ = problem_.stripe ? Size{size.width, problem_.stripe->rows}
                                 : stereopsis::output_size(data, problem_.rectified_size());

  const Target target = target_of(device_);
  Memory memory(data, problem_, device_);
  const auto plan_stripes = [&](int rows) {
    programs_ = std::make_shared<Programs>(data, request, target, is_fused(device_), rows, memory.most);
    stripe_rows_ = rows;
  };
  plan_stripes(0);
  const std::size_t beside = is_host(device_) ? host_bytes_beside(programs_->with_masks()) : 0;
  staging_bytes_ = is_host(device_) ? 0 : stereopsis::staging_bytes(programs_->with_masks(), problem_.batch);
  // The implied limit applies only to the memory of the device.
  memory.keep(beside + (memory.implied ? 0 : staging_bytes_));
  if (programs_->bytes() > memory.most) {
    // Tries first the whole image with the least memory, then about the tallest stripes that fit. Short stripes need
    // much memory for the states between them, and tall stripes need much memory for themselves.
    std::size_t least = programs_->bytes();
    for (int rows = size.height; programs_->bytes() > memory.most; rows = std::max(8, rows * 3 / 4 / 8 * 8)) {
      plan_stripes(rows);
      least = std::min(least, programs_->bytes());
      if (rows <= 8) break;
    }
    if (programs_->bytes() > memory.most)
      refuse_size(problem_, device_, target, size, memory, least + beside + (memory.implied ? 0 : staging_bytes_));
  }
  lane_bytes_ = programs_->bytes();
  lanes_ = is_host(device_) ? 1 : std::min(problem_.batch, most_lanes);
  lanes_ = static_cast<int>(std::min<std::size_t>(lanes_, memory.of_runs / std::max<std::size_t>(lane_bytes_, 1)));
  workspace_bytes_ = lanes_ * lane_bytes_ + memory.shared + beside + staging_bytes_;
}

VolumeShape Plan::volume(CostState state) const {
  const AnyView shape = programs_->without_masks().shape(volume_outputs[static_cast<std::size_t>(state)]);
  return {shape.size(), shape.disparities, pixel_type_of_element(shape.element)};
}

VolumeShape Plan::path_costs() const {
  if (!problem_.stripe) return {};
  const StageChoice& optimisation = pipeline_.data().optimisation;
  return {{output_size_.width, optimisation.facet<PathBoundary>()->kinds(optimisation.parameters)},
          problem_.range.count,
          PixelType::u16};
}

RefinementNeeds Plan::needs() const {
  if (!problem_.refine_only) return {};
  const PipelineData& data = pipeline_.data();
  const bool rates = problem_.want_confidence || rates_uncertainty(data, request_of(problem_));
  RefinementNeeds needs = given_maps::needs_of(data, rates);
  needs.images |= problem_.constant.mark_flat;
  return needs;
}

VolumeShape Plan::probed(CostState state) const {
  const AnyView shape = programs_->without_masks().shape(probe_outputs[static_cast<std::size_t>(state)]);
  return {shape.size(), shape.empty() ? 0 : 1, pixel_type_of_element(shape.element)};
}

std::vector<PlanStep> Plan::steps() const {
  std::vector<PlanStep> list;
  const Registry& all = registry();
  for (const ProgramStep& s : programs_->without_masks().steps()) {
    const std::string& name = s.step.entry->name;
    const bool fused = std::any_of(all.rules.begin(), all.rules.end(),
                                   [&](const Rule* rule) { return rule->operation == s.step.entry; });
    PlanStep& step = list.emplace_back();
    step.stage = name;
    step.fused = fused;
    step.scratch_bytes = s.scratch_bytes;
    step.note = s.step.note;
    step.work.name = s.step.title;
    add_work(step.work, s.work);
  }
  return list;
}

}  // namespace stereopsis
