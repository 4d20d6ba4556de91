// A pipeline is the description of a method as data: the stage in each slot of the taxonomy, with its parameters. It
// converts to and from JSON (stereopsis/io.hpp).
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
  std::string name;     // as accepted by Pipeline
  std::string summary;  // one line
  std::string paper;    // paper that describes it; for a preset, see presets()
};

// Returns the named methods, as `stereopsis methods` lists them.
const std::vector<MethodInfo>& methods();

// Returns the presets `fast`, `balanced` and `accurate`, whose names Pipeline accepts, too. `paper` holds the method,
// and the settings that differ from its defaults.
const std::vector<MethodInfo>& presets();

// One slot of a pipeline: {"cost", "rank", …}, {"optimisation", "sgm", …}, {"median2", "median", …}.
struct PipelineSlot {
  std::string slot;                       // prefix of its parameters
  std::string kind;                       // name of the stage
  std::vector<ParameterInfo> parameters;  // parameters of the stage
  bool is_refinement = false;             // refinements are ordered
};

struct PipelineData;  // internal

class Pipeline {
 public:
  // Makes a named method with its defaults, or a preset. Throws Error(call) for an unknown name, with the most similar
  // valid name.
  explicit Pipeline(std::string_view method);
  // Constructs a pipeline from its internal form; for internal use.
  explicit Pipeline(PipelineData data);
  ~Pipeline();
  Pipeline(const Pipeline&);
  Pipeline& operator=(const Pipeline&);
  Pipeline(Pipeline&&) noexcept;
  Pipeline& operator=(Pipeline&&) noexcept;

  const std::string& method() const;  // returns the name of the method on which it is based

  // Sets one parameter, named `slot.parameter` (`optimisation.p1`) or `stage.parameter` (`sgm.p1`). `slot.stage`
  // selects the stage of a slot (`cost.stage` = census; `aggregation.stage` = none), with that stage's defaults.
  // `refinements` sets all refinements in order (left_right,median,fill,median); those that existed before keep their
  // parameters. Throws Error(call) for an unknown name (with the most similar valid name) or a value out of its range.
  void set(std::string_view name, std::string_view value);
  std::string get(std::string_view name) const;  // for `refinements`: those that are switched on

  // Sets and gets by type: set("sgm.p1", 12), set("fill.enabled", true), get<double>("speckle.difference"). Also throws
  // Error(call) for a parameter of another type; a number may be read from an integer, and an integer set from a whole
  // number.
  template <TypedParameter T>
  void set(std::string_view name, const T& value) {
    set(name, std::string_view(detail::parameter_text(value)));
  }
  template <TypedParameter T>
  T get(std::string_view name) const;  // T is bool, int, double or std::vector<double>

  // Puts a user-defined stage into the slot `cost`, `plus`, `aggregation` or `optimisation` or, as `refinement`, after
  // the other refinements; in lists of `refinements` its name is user_refinement. Throws Error(call) for another slot,
  // or a stage without a name or a function. Pipeline files contain its name, but not the stage.
  void set_stage(std::string_view slot, UserStage stage);

  // Returns all parameters in order.
  std::vector<ParameterInfo> parameters() const;
  // Returns the stage of each slot, with its parameters.
  std::vector<PipelineSlot> slots() const;
  // Inverts slots(); parameters that are missing keep their defaults.
  static Pipeline from_slots(const std::string& method, const std::vector<PipelineSlot>& slots);

  // Returns the internal form; for internal use.
  const PipelineData& data() const { return *data_; }

 private:
  std::unique_ptr<PipelineData> data_;
};

}  // namespace stereopsis
