// A run with a budget: the first frame is matched by the candidates, and the choice is that of all frames.
#include <fmt/core.h>

#include "core/text.hpp"
#include "jobs/file_run.hpp"
#include "jobs/pair_matcher.hpp"
#include "jobs/texts.hpp"

namespace stereopsis::jobs {

using sources::refuse;

void FileRun::check_budget() const {
  if (settings_.candidates.empty()) return;
  const auto exclude = [this](bool given, const char* setting, const char* why) {
    if (given)
      refuse(fmt::format("{} cannot be combined with {}, {}; leave one of them out", settings_.budget.text,
                         front_end_.spelled(setting), why));
  };
  exclude(settings_.resume, "resume", "because a new choice may differ from that of the earlier run");
  exclude(settings_.range.per_frame, "range_per_frame", "because the time depends on the search range");
  exclude(!settings_.range.cost_volume.empty(), "cost_volume", "which replaces the method's costs");
  if (matching_.devices.size() > 1 && inputs_.is_sequence())
    refuse(fmt::format("{} measures one device, and {} names {}; give one device", settings_.budget.text,
                       front_end_.spelled("device"), matching_.devices.size()));
}

void FileRun::choose_within_budget() {
  if (settings_.candidates.empty()) return;
  std::vector<BudgetCandidate> candidates = settings_.candidates;
  if (seeds_.gives_any()) use_seeds(candidates);
  const bool with_right = settings_.sinks.wants(ResultFile::right);
  const InputFrame mirror = with_right ? mirrored(first_) : InputFrame();
  const Device& device = matching_.devices.front();
  const MakeMatch make = [&](const Pipeline& pipeline) {
    const auto plan = [&](bool of_right) {
      Problem problem = problems_->of(first_, of_right);
      problem.want_times = false;
      return Plan(pipeline, problem, device);
    };
    const auto matcher =
        std::make_shared<PairMatcher>(plan(false), with_right ? std::optional(plan(true)) : std::nullopt);
    return [matcher, result = std::make_shared<FrameResult>(), this, &mirror] {
      matcher->enqueue(first_, mirror, *result);
    };
  };
  front_end_.detail(fmt::format("{}: pipelines whose time is not known yet are measured", settings_.budget.text));
  const std::string pairs = description_of(problems_->of(first_), first_.pair(), settings_.memory.text) +
                            (with_right ? ", both views matched" : "");
  BudgetOutcome found;
  found.choice = choose_within(settings_.budget, candidates, pairs, device, make,
                               [this](const std::string& sentence) { front_end_.warning(sentence); });
  const BudgetCandidate& chosen = candidates[found.choice.candidate];
  matching_.pipeline = chosen.pipeline;
  const auto add = [&](const char* setting, const std::string& value) {
    found.options.push_back(front_end_.spelled(setting));
    found.options.push_back(value);
  };
  if (!chosen.method.empty()) add("method", chosen.method);
  for (const std::string& setting : chosen.settings) add("set", setting);
  if (settings_.range.is_estimated()) {
    add("min_disparity", std::to_string(range_->whole().min));
    add("disparities", std::to_string(range_->whole().count));
  }
  front_end_.remark(fmt::format("{}: {} takes {:.1f} ms a pair, {}; without the budget, {} the same result",
                                settings_.budget.text, chosen.pipeline.method(), found.choice.ms,
                                found.choice.is_measured ? "measured now" : "measured by an earlier call",
                                found.options.empty() ? "the call gives" : join(found.options, " ") + " give"));
  budget_ = std::move(found);
}

}  // namespace stereopsis::jobs
