// The descriptor of a stage: the slot that the stage fills, the ports, the cost, and the function for each device. The
// file NAME_entry.cpp of a folder has one function, register_stage(Registry&), which registers the descriptors of the
// folder (graph/registry.hpp). CMake finds this function. No other code names the stage.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "graph/dispatch.hpp"
#include "graph/word_cost.hpp"
#include "stereopsis/pixel_format.hpp"

namespace stereopsis {

enum class Slot {
  prepare,
  cost,
  aggregation,
  optimisation,
  select,
  levels,
  refinement,
  confidence,
  density,
  image,
  internal
};

// Purposes for which the planner needs a stage, although no slot of a pipeline names the stage. Exactly one stage has
// each role.
enum class Role {
  none,
  word_volume,   // computes a cost volume from feature words
  quantise,      // converts costs to 8 bits
  sum,           // adds two volumes
  rectify,       // resamples an image by a map
  align_rows,    // resamples the right image by an alignment of rows
  restore_rows,  // moves a map of the aligned right image back to the rows of the given one
  triangulate,   // computes depth and points from a disparity
  mark_filled,   // sets the confidence of pixels that were not measured
  copy_maps,     // copies maps of the caller
  own_method,    // a method of the caller, in place of the stages from the cost to the selection
  check_map,     // checks the map of such a method
  mask_black,    // masks black regions at the border of an image
  mark_flat,     // marks pixels without contrast as filled
};

// Properties of a stage's costs that are known before the costs are computed: the largest cost (0 means the largest
// value of the type), and the number of output units per unit of the input costs.
struct CostUnits {
  double largest = 0, units = 1;
};

struct PipelineData;
struct StageChoice;
struct Request;
struct Images;
class Builder;
using Maps = std::map<std::string, int, std::less<>>;

// Facts on which the parameters of a step may depend, in addition to the parameters of the stage.
struct PlanFacts {
  const PipelineData& pipeline;
  const StageParameters& cost;  // parameters of the matching cost that fills the volume
  WordCost word_cost;           // the matching cost of two words, if the volume still holds such costs
  int most_cost = 255;          // largest cost of an 8-bit volume
};

// A change of the image size, by a stage of the slot `prepare`.
struct Reduction {
  OfParameters<int()> factor;                  // factor by which the images are reduced; 1 if they keep their size
  OfParameters<Size(Size input)> output_size;  // size of the maps
  OfParameters<int()> output_factor;           // width of a pixel of the maps, in pixels of the input images
  OfParameters<DisparityRange(const DisparityRange&)> range;
  Images (*reduce)(Builder&, const StageChoice&, Images& full);
  void (*restore)(Builder&, const StageChoice&, Images& full, Images& reduced, Maps& maps);
};

// Lowers a pipeline whose shape is changed by the stage: adds the steps from the images to the maps.
struct Lowering {
  bool (*applies)(const PipelineData&, const Request&);
  void (*match)(Builder&, Images&, const DisparityRange&, Maps&);
};

// A rule for computing a pipeline with this stage in a region of interest, if the general rule would request too much
// or too little input.
struct RegionRule {
  bool (*applies)(const PipelineData&);
  Rect (*required_input)(const PipelineData&, const Request&);
};

// Describes how the path costs of an optimisation pass from stripe to stripe.
struct PathBoundary {
  // Number of kinds of paths; Matched::paths has one row for each kind.
  OfParameters<int()> kinds;
  OfParameters<StageParameters(bool up)> parameters;  // parameters for the stage that computes only path costs
  std::string stage;                                  // name of the stage that computes only path costs
};

// The rows around a stripe that a refinement reads.
struct RowSupport {
  int rows = 0;                // number of rows above, and below
  bool fills_columns = false;  // true if it searches columns up to the next measured pixel
  bool before_fills = false;   // true if it must not follow a refinement that searches columns
  std::string unlimited = {};  // reason why no number of rows is sufficient; empty if a number is
};

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
  // Constants for the function on a GPU, in addition to its operands. The constants are copied to the device once. The
  // span is valid as long as the parameters.
  OfParameters<std::span<const std::int32_t>()> constants = nullptr;
  OfParameters<Size(Size)> output_size = nullptr;  // null means the size of the first operand
  bool keeps_channels = false;                     // true if the output has as many channels as the first operand
  // Slot `image`: returns the name of an image that is equal to the output, or null.
  const char* (*alias)(const PairInfo&) = nullptr;
  // The matching cost of two words, for costs that compare feature words.
  OfParameters<WordCost()> word_cost = nullptr;
  // True if the disparity of the right view needs its own cost volume, guided by the right image.
  bool separate_right_costs = false;
  // For aggregations: true if some rows can be computed at a time, also across scales.
  bool row_tiles = false;
  OfParameters<CostUnits()> units = nullptr;  // units of the costs that the stage writes
  // Largest cost that the stage reads; without a function, the largest value of the type.
  OfParameters<int()> most_cost = nullptr;
  std::string after_selection = {};              // for costs: an internal stage that runs after the selection
  OfParameters<std::string()> titled = nullptr;  // a title that replaces `title`
  bool capturable = true;                        // true if a graph of GPU commands can replay the stage
  Role role = Role::none;
  // Completes the parameters of a step with facts that are known only when it is planned.
  FunctionOf<StageParameters, void(const PlanFacts&)> plan = nullptr;

  // Costs.
  bool from_outside = false;       // for costs: true if the caller passes the volume with the pair
  std::string before_stages = {};  // for costs: an internal stage that runs before another stage reads the costs
  // Parameters for the selection in the other view, for selections with `right`.
  OfParameters<StageParameters()> of_other_view = nullptr;
  // Role `quantise`: returns the parameters for costs of these units, and sets `units` to the units of the result.
  OfParameters<StageParameters(Element, bool has_holes, CostUnits& units)> fit = nullptr;
  OfParameters<double(double first, double second)> largest_sum = nullptr;  // role `sum`

  // Properties of inputs and outputs.

  // Slot `image`: returns whether the stage converts images of this format.
  bool (*takes_format)(PixelFormat) = nullptr;
  // Parameters for a format; the output begins at `first`.
  StageParameters (*of_format)(PixelFormat, Pixel first) = nullptr;
  StageParameters (*of_geometry)(const Request&, const Rect& shown) = nullptr;  // role `triangulate`
  // Role `align_rows`: adds the step that aligns the image `given` of the right view, whose rows begin at `first_row`, and
  // returns the result. The value `mask` receives the pixels that are usable; −1: no value.
  int (*align_right)(Builder&, int given, int first_row, int mask) = nullptr;
  // Role `restore_rows`: adds the step that moves the right map back.
  void (*restore_right)(Builder&, Maps&) = nullptr;
  // Role `mask_black`: adds the step for a view of which `part` is read, and returns whether the step masks a pixel of an
  // image on the host.
  void (*mask_view)(Builder&, Images&, int view, const Rect& part) = nullptr;
  OfParameters<bool(const AnyView&)> has_effect = nullptr;
  // Role `mark_flat`: adds the step for maps whose pixels are `factor` pixels wide and begin at `first_row`, and extends
  // a required input by the windows.
  void (*mark_maps)(Builder&, Images& full, const Maps&, int factor, int first_row) = nullptr;
  Rect (*with_windows)(const PipelineData&, const Request&, const Rect&) = nullptr;

  // Support.
  bool spans_range = false;        // true if the required input extends over the search range
  bool spans_window = false;       // true if the required input extends over the window of the matching cost
  bool counts_in_regions = false;  // true if, in a region, the required input is added to the margin
  // True if, in a region, the stage reads the columns of the candidates of both views; used for costs.
  bool reads_both_candidates = false;
  int block = 1;  // the result depends on the position of a pixel modulo this number of pixels
  // The window to which `spans_window` refers; used for costs.
  OfParameters<Rect(const Rect& output)> shared_window = nullptr;
  OfParameters<RowSupport()> row_support = nullptr;  // null means the rows of required_input

  // Properties of the shape of the pipeline.
  OfParameters<int(Size, int disparities, const Target&)> tile_rows = nullptr;  // height of a row tile
  void (*check_pipeline)(const PipelineData&, const Request&) = nullptr;
  const Reduction* reduction = nullptr;
  const Lowering* lowering = nullptr;
  const RegionRule* region_rule = nullptr;
  const PathBoundary* boundary = nullptr;

  std::vector<std::vector<std::string>> examples = {{}};  // lists of NAME=VALUE with which checks run the stage
};

}  // namespace stereopsis
