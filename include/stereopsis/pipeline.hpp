// Describes a method as data: the stage in each slot of the pipeline, with its parameters. A pipeline can be converted
// to and from JSON (stereopsis/io.hpp).
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
  std::string name;     // name of the method, as Pipeline accepts it
  std::string summary;  // one line
  std::string paper;    // paper that describes the method; for a preset, see presets()
};

// Returns the named methods, as `stereopsis methods` lists them.
const std::vector<MethodInfo>& methods();

// Returns the presets `fast`, `balanced` and `accurate`, whose names Pipeline also accepts. The member `paper` has the
// name of the method, and the settings that differ from its defaults.
const std::vector<MethodInfo>& presets();

// One slot of a pipeline: {"cost", "rank", …}, {"optimisation", "sgm", …}, {"median2", "median", …}.
struct PipelineSlot {
  std::string slot;                       // name of the slot, which is the prefix of its parameters
  std::string kind;                       // name of the stage
  std::vector<ParameterInfo> parameters;  // parameters of the stage
  bool is_refinement = false;             // true if the slot is a refinement; the order of refinements matters
  bool enabled = true;                    // false for a refinement that is switched off
  bool is_function = false;               // true for a function of the caller: UserStage or UserMethod
  // Properties of the stage with its parameters.
  bool changes_disparity = true;    // false if the parameters change only the confidence, or the margin of a region
  bool computes_subpixels = false;  // true if it may compute fractions of a pixel
  bool fills = false;               // true if it gives invalid pixels a disparity, and marks these pixels as filled
  bool keeps_invalid = false;       // true for a refinement that never gives an invalid pixel a disparity
};

struct PipelineData;  // internal

class Pipeline {
 public:
  // Makes a named method with its default parameters, or a preset. Throws Error(call) for an unknown name, with the
  // most similar valid name.
  explicit Pipeline(std::string_view method);
  // Makes a pipeline of a user-defined method, at first without refinements, and with the learned confidence.
  explicit Pipeline(UserMethod method);
  // Constructs a pipeline from its internal form; for internal use.
  explicit Pipeline(PipelineData data);
  ~Pipeline();
  Pipeline(const Pipeline&);
  Pipeline& operator=(const Pipeline&);
  Pipeline(Pipeline&&) noexcept;
  Pipeline& operator=(Pipeline&&) noexcept;

  const std::string& method() const;  // returns the name of the method on which the pipeline is based

  // Sets one parameter, named `slot.parameter` (`optimisation.p1`) or `stage.parameter` (`sgm.p1`). The name
  // `slot.stage` selects the stage of a slot (`cost.stage` = census; `aggregation.stage` = none), with the default
  // parameters of the stage. The name `refinements` sets all refinements in order (left_right,median,fill,median).
  // Refinements that existed before keep their parameters. Parameters whose names end in `color` may also be spelled
  // with `colour`, as in earlier versions. Throws Error(call) for an unknown name, with the most similar valid name, and
  // for a value that is not allowed.
  void set(std::string_view name, std::string_view value);
  // Returns the value of a parameter; for `refinements`, the refinements that are switched on.
  std::string get(std::string_view name) const;

  // Sets and gets by type: set("optimisation.p1", 12), set("fill.enabled", true), get<double>("speckle.difference").
  // Both functions throw Error(call) for a parameter of another type. A number may be read from an integer parameter,
  // and an integer parameter may be set from a whole number.
  template <TypedParameter T>
  void set(std::string_view name, const T& value) {
    set(name, std::string_view(detail::parameter_text(value)));
  }
  template <TypedParameter T>
  T get(std::string_view name) const;  // T is bool, int, double or std::vector<double>

  // Sets a user-defined stage for the slot `cost`, `plus`, `aggregation` or `optimisation`. With `refinement`, the
  // stage is appended to the refinements, and is named user_refinement in lists of `refinements`. Throws Error(call)
  // for another slot, or a stage without a name or a function. Pipeline files contain the name of the stage, but not
  // the stage itself.
  void set_stage(std::string_view slot, UserStage stage);

  // Sets a user-defined method in place of all stages from the matching cost to the selection. Refinements and the
  // confidence remain. Throws Error(call) for a method without a name or a function. Pipeline files contain the name,
  // but not the method.
  void set_method(UserMethod method);

  // Returns all parameters, in the order of the slots.
  std::vector<ParameterInfo> parameters() const;
  // Returns the stage of each slot, with its parameters.
  std::vector<PipelineSlot> slots() const;
  // Makes a pipeline from slots as slots() returns them; missing parameters keep their default values.
  static Pipeline from_slots(const std::string& method, const std::vector<PipelineSlot>& slots);

  // Returns the internal form; for internal use.
  const PipelineData& data() const { return *data_; }

 private:
  std::unique_ptr<PipelineData> data_;
};

// Inputs that the refinements of a plan with Problem::refine_only require in addition to disparity and validity.
struct RefinementNeeds {
  bool images = true;       // both images
  bool right = false;       // GivenMaps::right
  bool confidence = false;  // GivenMaps::confidence
  bool seeds = false;       // StereoPair::seeds
};

}  // namespace stereopsis
