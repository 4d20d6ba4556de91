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

// What the planner needs of a stage that no slot of a pipeline names. One stage has each role.
enum class Role {
  none,
  word_volume,  // makes a volume of the costs of words
  quantise,     // brings costs to 8 bits
  sum,          // adds two volumes
  rectify,      // resamples an image by a map
  triangulate,  // makes depth and points of a disparity
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

// What a step's parameters may depend on besides the stage's own ones.
struct PlanFacts {
  const PipelineData& pipeline;
  const StageParameters& cost;  // of the matching cost whose volume is made
  WordCost word_cost;           // of the words, if the costs are still those of words
  int most_cost = 255;          // the largest cost of 8 bits
};

// How a stage of the slot `prepare` works on images of another size.
struct Reduction {
  OfParameters<int()> factor;                  // 1: the images keep their size
  OfParameters<Size(Size input)> output_size;  // of the maps
  OfParameters<int()> output_factor;           // pixels of the input in a row of one of the maps
  OfParameters<DisparityRange(const DisparityRange&)> range;
  Images (*reduce)(Builder&, const StageChoice&, Images& full);
  void (*restore)(Builder&, const StageChoice&, Images& full, Images& reduced, Maps& maps);
};

// How a stage that changes the shape of the pipeline makes the steps from the images to the maps.
struct Lowering {
  bool (*applies)(const PipelineData&, const Request&);
  void (*match)(Builder&, Images&, const DisparityRange&, Maps&);
};

// How a pipeline with this stage is computed in a region of interest, where the general rule would give too much or too
// little.
struct RegionRule {
  bool (*applies)(const PipelineData&);
  Rect (*required_input)(const PipelineData&, const Request&);
};

// How an optimisation goes on from stripe to stripe by its path costs.
struct PathBoundary {
  OfParameters<int()> kinds;                          // of paths, as Matched::paths has rows
  OfParameters<StageParameters(bool up)> parameters;  // of the stage that follows the paths alone
  std::string stage;                                  // which stage that is
};

// The rows that a refinement reads around a stripe of rows.
struct RowSupport {
  int rows = 0;                // above and below
  bool fills_columns = false;  // it looks along columns, up to the next measured pixel
  bool before_fills = false;   // it must not follow a refinement that fills columns
  std::string unlimited = {};  // why no number of rows is enough; empty: a number is
};

struct StageDescriptor {
  Slot slot;          // `image`: made where a port asks for it; `internal`: part of what another stage does
  std::string name;   // in pipelines
  std::string title;  // in times
  StageParameters parameters = {};  // the defaults
  PortList ports = {};
  Functions functions = {};

  // All fields below are optional.
  OfParameters<Rect(const Rect& output)> required_input = nullptr;  // null: the pixel alone
  bool global_support = false;                                      // any pixel may depend on any other
  FunctionOf<const Shape, void()> check = nullptr;                  // throws Error(call) for what does not fit together
  Scratch scratch = {};                                             // bytes
  Work (*work)(const Shape&) = nullptr;                             // none: every operand once
  // What its function on a GPU finds there beside its operands, copied once; it stays as long as the parameters.
  OfParameters<std::span<const std::int32_t>()> constants = nullptr;
  OfParameters<Size(Size)> output_size = nullptr;   // none: that of the first operand
  bool keeps_channels = false;                      // what is made has the channels of the first operand
  const char* (*alias)(const PairInfo&) = nullptr;  // of the slot `image`: which other image it is, or null
  OfParameters<WordCost()> word_cost = nullptr;     // of a cost that makes words
  bool separate_right_costs = false;  // the right view's disparity comes from costs of its own, by its own image
  bool row_tiles = false;             // of an aggregation: it makes some rows at a time, across scales, too
  OfParameters<CostUnits()> units = nullptr;     // of the costs that it makes
  OfParameters<int()> most_cost = nullptr;       // of those that it reads; none: its type's
  std::string after_selection = {};              // of a cost: an internal stage behind the selection
  OfParameters<std::string()> titled = nullptr;  // in the place of the title
  bool capturable = true;                        // whether a graph of a GPU's commands can replay it
  Role role = Role::none;
  // Completes the parameters of a step by what is known when it is planned.
  FunctionOf<StageParameters, void(const PlanFacts&)> plan = nullptr;

  // Costs.
  bool from_outside = false;       // of a cost: the volume comes with the pair
  std::string before_stages = {};  // of a cost: an internal stage that follows where another stage reads the costs
  OfParameters<StageParameters()> of_other_view = nullptr;  // of a selection
  // Of the role `quantise`: its parameters for costs of these units, which become those of its result.
  OfParameters<StageParameters(Element, bool has_holes, CostUnits& units)> fit = nullptr;
  OfParameters<double(double first, double second)> largest_sum = nullptr;  // of the role `sum`

  // Inputs and outputs.
  bool (*takes_format)(PixelFormat) = nullptr;  // of the slot `image`: it makes the image of pictures in this format
  StageParameters (*of_format)(PixelFormat, Pixel first) = nullptr;  // its parameters; the output begins at `first`
  StageParameters (*of_geometry)(const Request&, const Rect& shown) = nullptr;  // of the role `triangulate`

  // Support.
  bool spans_range = false;            // its input spreads over the search range
  bool spans_window = false;           // its input spreads over the window that the matching cost shares
  bool counts_in_regions = false;      // its required input counts in a region besides the region's margin
  bool reads_both_candidates = false;  // of a cost: in a region, columns of both views' candidates are read
  OfParameters<Rect(const Rect& output)> shared_window = nullptr;  // of a cost
  OfParameters<RowSupport()> row_support = nullptr;                // none: that of required_input

  // The shape of the pipeline.
  OfParameters<int(Size, int disparities, const Target&)> tile_rows = nullptr;  // of row tiles
  void (*check_pipeline)(const PipelineData&, const Request&) = nullptr;
  const Reduction* reduction = nullptr;
  const Lowering* lowering = nullptr;
  const RegionRule* region_rule = nullptr;
  const PathBoundary* boundary = nullptr;

  std::vector<std::vector<std::string>> examples = {{}};  // NAME=VALUE …, for checks
};

}  // namespace stereopsis
