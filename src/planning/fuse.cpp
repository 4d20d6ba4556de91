#include "planning/lowering.hpp"

#include <algorithm>

#include "core/text.hpp"

namespace stereopsis {
namespace {

// Returns whether a name is in `alternatives`, a list separated by |.
bool is_among(std::string_view name, const std::string& alternatives) {
  const auto list = split(alternatives, '|');
  return std::find(list.begin(), list.end(), name) != list.end();
}

// Returns the number of steps, from the first on, that form the run of a rule; 0 if they do not form it.
int length_of(const Rule& rule, const Run& from_here) {
  if (from_here.steps.size() < rule.run.size()) return 0;
  for (std::size_t i = 0; i < rule.run.size(); ++i)
    if (!is_among(from_here.steps[i].entry->name, rule.run[i])) return 0;
  return static_cast<int>(rule.run.size());
}

bool runs_on(const Rule& rule, On device) {
  const Functions& f = rule.operation->functions;
  return device == On::gpu ? f.gpu != nullptr : device == On::cpu && f.cpu != nullptr;
}

bool uses(const Step& step, int value) {
  return std::any_of(step.operands.begin(), step.operands.end(), [&](const Operand& o) { return o.value == value; });
}

// Returns whether the fused step drops a value of the run that is still needed: a later step outside the run reads the
// value, or it is an output.
bool drops_live_value(const Step& fused, std::span<const Step> run, std::span<const Step> steps,
                      std::span<const Value> values) {
  const auto is_outside = [&](const Step& s) { return &s < run.data() || &s >= run.data() + run.size(); };
  for (const Step& step : run)
    for (const Operand& operand : step.operands) {
      if (operand.value < 0 || !writes(operand.use) || uses(fused, operand.value)) continue;
      if (is_output(values[operand.value].binding)) return true;
      if (std::ranges::any_of(steps, [&](const Step& s) { return is_outside(s) && uses(s, operand.value); }))
        return true;
    }
  return false;
}

// Returns the step that replaces a rule's run. If the rule does not apply, returns an empty step with the reason.
Step in_place_of(const Rule& rule, const Run& from_here, int length, std::span<const Value> values) {
  const auto run = from_here.steps.first(static_cast<std::size_t>(length));
  Step fused = rule.fuse({run, from_here.values, from_here.target});
  if (fused.entry == nullptr) return fused;
  if (drops_live_value(fused, run, from_here.steps, values))
    return {.note = "an intermediate image or volume is requested"};
  if (run.front().title == run.back().title) fused.title = run.front().title;  // the steps share one time
  fused.note = run.front().note;
  return fused;
}

void replace(std::vector<Step>& steps, std::size_t at, int length, Step&& fused) {
  steps[at] = std::move(fused);
  const auto rest = steps.begin() + static_cast<std::ptrdiff_t>(at) + 1;
  steps.erase(rest, rest + length - 1);
}

}  // namespace

void fuse(std::vector<Step>& steps, std::span<const Value> values, const Target& target,
          std::span<const Rule* const> rules) {
  std::vector<AnyView> shapes;
  for (const Value& v : values) shapes.push_back(v.shape);
  for (std::size_t at = 0; at < steps.size(); ++at)
    for (const Rule* rule : rules) {
      if (!runs_on(*rule, target.device)) continue;
      const Run from_here{std::span(steps).subspan(at), shapes, target};
      const int length = length_of(*rule, from_here);
      if (length == 0) continue;
      Step fused = in_place_of(*rule, from_here, length, values);
      if (fused.entry != nullptr) {
        replace(steps, at, length, std::move(fused));
        break;
      }
      if (!steps[at].note.empty()) steps[at].note += "; ";
      steps[at].note += rule->name + ": " + fused.note;
    }
}

}  // namespace stereopsis
