// The descriptor of a stage: the slot that the stage fills, its ports, its cost, and its function for each device. A
// folder's NAME_entry.cpp has one function, register_stage(Registry&), which CMake finds and which registers its
// descriptors (graph/registry.hpp). No other code names the stage.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "graph/dispatch.hpp"
#include "graph/word_cost.hpp"
#include "stereopsis/pixel_format.hpp"

namespace stereopsis {

enum class Slot { prepare, cost, aggregation, optimisation, select, levels, refinement, image, internal };

// Purposes for which the planner needs a stage that no slot of a pipeline names. Exactly one stage has each role.
enum class Role {
  none,
  word_volume,  // computes a cost volume from feature words
  quantise,     // converts costs to 8 bits
  sum,          // adds two volumes
  rectify,      // resamples an image by a map
  triangulate,  // computes depth and points from a disparity
  mark_filled,  // sets the confidence of pixels that were not measured
};

// Properties of a stage's costs that are known before they are computed: the largest cost, 0 for that of their type;
// and the number of output units per unit of the input costs.
struct CostUnits {
  double largest = 0, units = 1;
};

struct PipelineData;
struct StageChoice;
struct Request;
struct Images;
class Builder;
using Maps = std::map<std::string, int, std::less<>>;

// Facts on which a step's parameters may depend in addition to the stage's own parameters.
struct PlanFacts {
  const PipelineData& pipeline;
  const StageParameters& cost;  // parameters of the matching cost that fills the volume
  WordCost word_cost;           // the cost of two words, if the volume still holds such costs
  int most_cost = 255;          // the largest cost of 8 bits
};

// A change of the image size by a stage of the slot `prepare`.
struct Reduction {
  OfParameters<int()> factor;                  // 1: the images keep their size
  OfParameters<Size(Size input)> output_size;  // size of the maps
  OfParameters<int()> output_factor;           // width of a pixel of the maps, in pixels of the input
  OfParameters<DisparityRange(const DisparityRange&)> range;
  Images (*reduce)(Builder&, const StageChoice&, Images& full);
  void (*restore)(Builder&, const StageChoice&, Images& full, Images& reduced, Maps& maps);
};

// Lowers a pipeline whose shape the stage changes: adds the steps from the images to the maps.
struct Lowering {
  bool (*applies)(const PipelineData&, const Request&);
  void (*match)(Builder&, Images&, const DisparityRange&, Maps&);
};

// Rule for computing a pipeline with this stage in a region of interest, if the general rule would request too much or
// too little input.
struct RegionRule {
  bool (*applies)(const PipelineData&);
  Rect (*required_input)(const PipelineData&, const Request&);
};

// Passes the path costs of an optimisation from stripe to stripe.
struct PathBoundary {
  OfParameters<int()> kinds;                          // number of kinds of paths, which are the rows of Matched::paths
  OfParameters<StageParameters(bool up)> parameters;  // parameters of the stage that computes only path costs
  std::string stage;                                  // name of that stage
};

// The rows that a refinement reads around a stripe of rows.
struct RowSupport {
  int rows = 0;                // above and below
  bool fills_columns = false;  // it looks along columns, up to the next measured pixel
  bool before_fills = false;   // it must not follow a refinement that fills columns
  std::string unlimited = {};  // the reason for which no number of rows suffices; empty: a number does
};

struct StageDescriptor {
  Slot slot;                        // `image`: added if a port needs it; `internal`: part of another stage
  std::string name;                 // name of the stage in pipelines
  std::string title;                // name of the stage in measured times
  StageParameters parameters = {};  // the defaults
  PortList ports = {};
  Functions functions = {};

  // All fields below are optional.
  OfParameters<Rect(const Rect& output)> required_input = nullptr;  // null: only the pixel itself
  bool global_support = false;                                      // any pixel may depend on any other
  FunctionOf<const Shape, void()> check = nullptr;                  // throws Error(call) if operands do not fit
  Scratch scratch = {};                                             // bytes of scratch memory
  Work (*work)(const Shape&) = nullptr;                             // null: the traffic of every operand
  // Constants for the function on a GPU in addition to its operands. They are copied to the device once; the span stays
  // valid as long as the parameters.
  OfParameters<std::span<const std::int32_t>()> constants = nullptr;
  OfParameters<Size(Size)> output_size = nullptr;   // null: the size of the first operand
  bool keeps_channels = false;                      // the output has the channels of the first operand
  const char* (*alias)(const PairInfo&) = nullptr;  // slot `image`: the name of the image that it equals, or null
  OfParameters<WordCost()> word_cost = nullptr;     // costs that compare feature words: the cost of two words
  bool separate_right_costs = false;  // the right view's disparity needs its own cost volume, guided by the right image
  bool row_tiles = false;             // aggregations: computes some rows at a time, also across scales
  OfParameters<CostUnits()> units = nullptr;     // units of the costs that it writes
  OfParameters<int()> most_cost = nullptr;       // largest cost that it reads; none: that of the type
  std::string after_selection = {};              // costs: an internal stage after the selection
  OfParameters<std::string()> titled = nullptr;  // replaces the title
  bool capturable = true;                        // a graph of a GPU's commands can replay it
  Role role = Role::none;
  // Completes the parameters of a step with facts that are known only when it is planned.
  FunctionOf<StageParameters, void(const PlanFacts&)> plan = nullptr;

  // Costs.
  bool from_outside = false;       // costs: the caller passes the volume with the pair
  std::string before_stages = {};  // costs: an internal stage that runs before another stage reads them
  OfParameters<StageParameters()> of_other_view = nullptr;  // selections with `right`: those of the other view
  // Role `quantise`: returns its parameters for costs of these units, and sets `units` to those of its result.
  OfParameters<StageParameters(Element, bool has_holes, CostUnits& units)> fit = nullptr;
  OfParameters<double(double first, double second)> largest_sum = nullptr;  // role `sum`

  // Inputs and outputs.
  bool (*takes_format)(PixelFormat) = nullptr;                       // slot `image`: it converts images of this format
  StageParameters (*of_format)(PixelFormat, Pixel first) = nullptr;  // its parameters; the output begins at `first`
  StageParameters (*of_geometry)(const Request&, const Rect& shown) = nullptr;  // role `triangulate`

  // Support.
  bool spans_range = false;            // its required input extends over the search range
  bool spans_window = false;           // its required input extends over the window of the matching cost
  bool counts_in_regions = false;      // in a region, its required input is added to the margin
  bool reads_both_candidates = false;  // costs: in a region, reads the columns of both views' candidates
  OfParameters<Rect(const Rect& output)> shared_window = nullptr;  // costs: the window of `spans_window`
  OfParameters<RowSupport()> row_support = nullptr;                // null: the rows of required_input

  // The shape of the pipeline.
  OfParameters<int(Size, int disparities, const Target&)> tile_rows = nullptr;  // height of a row tile
  void (*check_pipeline)(const PipelineData&, const Request&) = nullptr;
  const Reduction* reduction = nullptr;
  const Lowering* lowering = nullptr;
  const RegionRule* region_rule = nullptr;
  const PathBoundary* boundary = nullptr;

  std::vector<std::vector<std::string>> examples = {{}};  // lists of NAME=VALUE with which checks run the stage
};

}  // namespace stereopsis
