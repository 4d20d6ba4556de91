// The choice of a method and an image size that match a pair within a given time. The times are measured once on this
// machine, and kept in the user's cache folder.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "stereopsis/device.hpp"
#include "stereopsis/matcher.hpp"
#include "stereopsis/pipeline.hpp"

namespace stereopsis::jobs {

struct Budget {
  double ms = 0;     // largest time of a pair, in milliseconds; 0: none
  std::string text;  // as the user wrote it, with the setting's name: --budget 30ms
};

// Parses a time such as 30ms or 0.03s, which the user wrote as `text`. Throws Error(call) for another time.
Budget to_budget(const std::string& given, const std::string& text);

// A pipeline that a budget may choose.
struct BudgetCandidate {
  std::string method;                 // name of the method; empty: the method of the call
  std::vector<std::string> settings;  // NAME=VALUE, beside those of the method, or of the call
  Pipeline pipeline;
};

// Returns all methods and image sizes that a budget chooses from, those with the fewest errors first. The order is that
// of docs/measured/budget.json.
std::vector<BudgetCandidate> budget_candidates();
// Returns a pipeline for images of several sizes, the largest first. If the pipeline itself reduces the images, returns
// this pipeline only.
std::vector<BudgetCandidate> sizes_of(const Pipeline& pipeline);
// Returns the pipelines that the budget of a call chooses from: the sizes of the pipeline that the call gives, or all
// methods and sizes without one. Throws Error(call) for a pipeline that leaves no choice.
std::vector<BudgetCandidate> candidates_of(const Budget& budget, const Pipeline* given);
// Makes the pipelines use the seeds of the pairs.
void use_seeds(std::vector<BudgetCandidate>& candidates);

// Returns what the time of a pair depends on beside the pipeline and the device: sizes, outputs, and what comes with the
// pair. `memory` is the user's limit of the memory; empty if there is none.
std::string description_of(const Problem& problem, const StereoPair& pair, const std::string& memory);

struct BudgetChoice {
  std::size_t candidate = 0;
  double ms = 0;             // median time of a pair
  bool is_measured = false;  // false if all times were measured by an earlier call
};

// Prepares a pipeline, and returns a function that matches one pair. Throws an Error for a pipeline that cannot match it.
using MakeMatch = std::function<std::function<void()>(const Pipeline&)>;
using Warn = std::function<void(const std::string&)>;

// Returns the first of the candidates whose time is within the budget. Pairs with the same description have the same
// time. Throws Error(unsupported) with the least possible time if no candidate is fast enough. Calls `warn` with a
// sentence if the cache cannot be used.
BudgetChoice choose_within(const Budget& budget, const std::vector<BudgetCandidate>& candidates,
                           const std::string& pairs, const Device& device, const MakeMatch& make, const Warn& warn);

}  // namespace stereopsis::jobs
