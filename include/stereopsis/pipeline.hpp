// A pipeline is a method's description as data: which stage fills each slot of the taxonomy, with
// which parameters. It prints to and parses from JSON (stereopsis/io.hpp).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stereopsis/parameter.hpp"
#include "stereopsis/user_stage.hpp"

namespace stereopsis {

// A named method.
struct MethodInfo {
  std::string name;     // as Pipeline takes it
  std::string summary;  // one line
  std::string paper;    // where it comes from
};

// The named methods, as `stereopsis methods` lists them.
const std::vector<MethodInfo>& methods();

// Three of them by what is wanted, `fast`, `balanced` and `accurate`: names that Pipeline takes, too. `paper` is the method, and what is
// set beyond its defaults.
const std::vector<MethodInfo>& presets();

// One slot of a pipeline: {"cost", "rank", …}, {"optimisation", "sgm", …}, {"median2", "median", …}.
struct PipelineSlot {
  std::string slot;                       // the prefix of its parameters
  std::string kind;                       // the stage in it
  std::vector<ParameterInfo> parameters;  // of the stage in it
  bool is_refinement = false;             // these have an order
};

struct PipelineData;  // the typed form: src/program/pipeline_data.hpp

class Pipeline {
 public:
  // A named method with its defaults, or a preset. Throws Error(call) for an unknown name, with the nearest right one.
  explicit Pipeline(std::string_view method);
  // Of the typed form; for the library itself.
  explicit Pipeline(PipelineData data);
  ~Pipeline();
  Pipeline(const Pipeline&);
  Pipeline& operator=(const Pipeline&);
  Pipeline(Pipeline&&) noexcept;
  Pipeline& operator=(Pipeline&&) noexcept;

  const std::string& method() const;  // the name of the method that it was made from

  // Sets one parameter, named `slot.parameter` (`optimisation.p1`) or `stage.parameter` (`sgm.p1`). What fills a slot is
  // `slot.stage` (`cost.stage` = census; `aggregation.stage` = none), with that stage's defaults; all refinements, in their
  // order, are `refinements` (left_right,median,fill,median), of which those that were there keep their parameters.
  // Throws Error(call) for an unknown name (with the nearest right one) or a value out of its range.
  void set(std::string_view name, std::string_view value);
  std::string get(std::string_view name) const;  // of refinements, those that run

  // The same by type: set("sgm.p1", 12), set("fill.enabled", true), get<double>("speckle.difference"). Throws Error(call) also for a
  // parameter that is not of this type; a number may be read from an integer, and an integer set from a whole number.
  template <TypedParameter T>
  void set(std::string_view name, const T& value) {
    set(name, std::string_view(detail::parameter_text(value)));
  }
  template <TypedParameter T>
  T get(std::string_view name) const;  // T is bool, int, double or std::vector<double>

  // Puts a stage of one's own into the slot `cost`, `plus`, `aggregation` or `optimisation`, or, as `refinement`, behind the others; in
  // lists of `refinements` it is user_refinement. Throws Error(call) for another slot, or a stage without a name or a function.
  // Files of a pipeline name it, but can't hold it.
  void set_stage(std::string_view slot, UserStage stage);

  // All that can be set, in order.
  std::vector<ParameterInfo> parameters() const;
  // What fills each slot, with its parameters.
  std::vector<PipelineSlot> slots() const;
  // The inverse of slots(); parameters that a slot does not name keep their defaults.
  static Pipeline from_slots(const std::string& method, const std::vector<PipelineSlot>& slots);

  // The typed form; for the library itself.
  const PipelineData& data() const { return *data_; }

 private:
  std::unique_ptr<PipelineData> data_;
};

}  // namespace stereopsis
