#include <algorithm>

#include "core/text.hpp"
#include "program/program.hpp"

namespace stereopsis {
namespace {

// Whether a name is among alternatives that | divides.
bool is_among(std::string_view name, const std::string& alternatives) {
  const auto list = split(alternatives, '|');
  return std::find(list.begin(), list.end(), name) != list.end();
}

// How many steps from the first on are a rule's run; 0: they are not.
int length_of(const Rule& rule, const Run& from_here) {
  if (rule.length != nullptr) return rule.length(from_here);
  if (from_here.steps.size() < rule.run.size()) return 0;
  for (std::size_t i = 0; i < rule.run.size(); ++i)
    if (!is_among(from_here.steps[i].entry->name, rule.run[i])) return 0;
  return static_cast<int>(rule.run.size());
}

// Where a rule's run comes again, `length` steps after the first or later; empty: nowhere.
std::span<const Step> again(const Rule& rule, const Run& from_here, int length) {
  const auto count = static_cast<std::size_t>(length);
  for (std::size_t at = count; at + count <= from_here.steps.size(); ++at) {
    const auto rest = from_here.steps.subspan(at);
    if (length_of(rule, {rest, from_here.values, from_here.target}) == length) return rest.first(count);
  }
  return {};
}

bool runs_on(const Rule& rule, On device) {
  const Functions& f = rule.operation->functions;
  return device == On::gpu ? f.gpu != nullptr : device == On::cpu && f.cpu != nullptr;
}

bool uses(const Step& step, int value) {
  return std::any_of(step.operands.begin(), step.operands.end(), [&](const Operand& o) { return o.value == value; });
}

// Whether somebody outside of the run, or the caller, wants a value that the fused step does not make.
bool hides(const Step& fused, std::span<const Step> run, std::span<const Step> after, std::span<const Value> values) {
  for (const Step& step : run)
    for (const Operand& operand : step.operands) {
      if (operand.value < 0 || uses(fused, operand.value)) continue;
      if (is_output(values[operand.value].external)) return true;
      if (values[operand.value].shape.is_volume() &&
          std::any_of(after.begin(), after.end(), [&](const Step& s) { return uses(s, operand.value); }))
        return true;
    }
  return false;
}

}  // namespace

void fuse(std::vector<Step>& steps, std::span<const Value> values, const Target& target) {
  std::vector<AnyView> shapes;
  for (const Value& v : values) shapes.push_back(v.shape);
  for (std::size_t at = 0; at < steps.size(); ++at) {
    const std::span<const Step> rest = std::span(steps).subspan(at);
    for (const Rule* rule : registry().rules) {
      if (!runs_on(*rule, target.device)) continue;
      const int length = length_of(*rule, {rest, shapes, target});
      if (length == 0) continue;
      const auto run = rest.first(static_cast<std::size_t>(length));
      const auto second = rule->twice ? again(*rule, {rest, shapes, target}, length) : std::span<const Step>();
      Step replacement = rule->twice && second.empty() ? Step{.note = "the same of the other view does not follow"}
                                                       : rule->fuse({run, shapes, target, second});
      const auto after = rest.subspan(static_cast<std::size_t>(length));
      if (replacement.entry != nullptr &&
          (hides(replacement, run, after, values) || hides(replacement, second, after, values)))
        replacement = {.note = "a volume between is wanted"};
      if (replacement.entry == nullptr) {
        if (!steps[at].note.empty()) steps[at].note += "; ";
        steps[at].note += rule->name + ": " + replacement.note;
        continue;
      }
      if (run.front().title == run.back().title) replacement.title = run.front().title;  // many, timed as one
      replacement.note = steps[at].note;
      if (!second.empty()) {
        const auto begin = steps.begin() + (second.data() - steps.data());
        steps.erase(begin, begin + length);
      }
      steps[at] = std::move(replacement);
      steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                  steps.begin() + static_cast<std::ptrdiff_t>(at) + length);
      break;
    }
  }
}

}  // namespace stereopsis
