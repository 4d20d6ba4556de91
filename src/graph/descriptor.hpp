// The descriptor of a stage: the slot that the stage fills, the ports, the function for each device, and facets. The
// file NAME_entry.cpp of a folder has one function, register_stage(Registry&), which registers the descriptors of the
// folder (graph/registry.hpp). CMake finds this function. No other code names the stage.
#pragma once

#include <string>
#include <vector>

#include "graph/dispatch.hpp"
#include "graph/facet_list.hpp"
#include "graph/word_cost.hpp"

namespace stereopsis {

enum class Slot {
  prepare,
  cost,
  seeds,
  aggregation,
  optimisation,
  select,
  second_pass,
  levels,
  refinement,
  confidence,
  density,
  image,
  internal
};

struct PipelineData;
struct Request;

// Facts on which the parameters of a step may depend, in addition to the parameters of the stage.
struct PlanFacts {
  const PipelineData& pipeline;
  const StageParameters& cost;  // parameters of the matching cost that fills the volume
  WordCost word_cost;           // the matching cost of two words, if the volume still holds such costs
  int most_cost = 255;          // largest cost of an 8-bit volume
};

// The core of a descriptor, which every stage has. Properties that only some stages have, and purposes for which the
// planner needs a stage that no slot names, are facets.
struct StageDescriptor {
  // `image` means that the stage is added if a port needs it, and `internal` that it is a part of another stage.
  Slot slot;
  std::string name;                 // name of the stage in pipelines
  std::string title;                // name of the stage in measured times
  StageParameters parameters = {};  // the defaults
  PortList ports = {};
  Functions functions = {};

  // All fields below are optional.
  OfParameters<Rect(const Rect& output)> required_input = nullptr;  // null if a pixel requires only the same pixel
  bool global_support = false;                                      // true if any pixel may depend on any other pixel
  // Throws Error(call) if the operands do not fit together.
  FunctionOf<const Shape, void()> check = nullptr;
  Scratch scratch = {};  // size of the scratch memory, in bytes
  // Null means that each operand is read or written once.
  Work (*work)(const Shape&) = nullptr;
  // Completes the parameters of a step with facts that are known only when it is planned.
  FunctionOf<StageParameters, void(const PlanFacts&)> plan = nullptr;
  void (*check_pipeline)(const PipelineData&, const Request&) = nullptr;
  FacetList facets = {};                                  // see graph/facets.hpp
  std::vector<std::vector<std::string>> examples = {{}};  // lists of NAME=VALUE with which checks run the stage

  // Returns the facet of this type, or null.
  template <class F>
  const F* facet() const {
    return facets.find<F>();
  }
};

}  // namespace stereopsis
