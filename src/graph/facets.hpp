// The facets of stage descriptors: properties that only some stages have, and purposes for which the planner needs the
// only stage with a facet. A stage adds the facets that it needs; a new kind of property is a new struct here, or in the
// header of the code that reads it.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "graph/descriptor.hpp"
#include "stereopsis/pixel_format.hpp"
#include "stereopsis/row_alignment.hpp"
#include "stereopsis/stripe_maps.hpp"

namespace stereopsis {

struct StageChoice;
struct Images;
struct Scope;
class Builder;
using AddSteps = std::function<void(Scope&)>;
using Maps = std::map<std::string, int, std::less<>>;

// Costs.

// Properties of a stage's costs that are known before the costs are computed: the largest cost (0 means the largest
// value of the type), and the number of output units per unit of the input costs.
struct CostUnits {
  double largest = 0, units = 1;
};

// A stage that writes a cost volume of its own units.
struct Costs {
  OfParameters<CostUnits()> units;
  std::string after_selection = {};  // for matching costs: an internal stage that runs after the selection
};

// A matching cost that compares feature words.
struct WordCosts {
  OfParameters<WordCost()> cost;  // the matching cost of two words
};

// A matching cost that the caller passes with the pair.
struct GivenCosts {
  std::string before_stages;  // an internal stage that runs before another stage reads the costs
};

// A matching cost with one window for all stages of a pipeline (Support::spans_window).
struct SharedWindow {
  OfParameters<Rect(const Rect& output)> of;
};

// A matching cost that, in a region, reads the columns of the candidates of both views.
struct BothCandidates {};

// A stage that reads only costs up to a limit.
struct CostLimit {
  OfParameters<int()> largest;
};

// An aggregation or optimisation for which the disparity of the right view needs its own cost volume, guided by the
// right image.
struct RightCosts {};

// An aggregation that can compute some rows at a time, also across scales.
struct RowTiles {
  OfParameters<int(Size, int disparities, const Target&)> rows;  // height of a row tile
};

// An optimisation whose path costs pass from stripe to stripe.
struct PathBoundary {
  // Number of kinds of paths; Matched::paths has one row for each kind.
  OfParameters<int()> kinds;
  // Adds the step that computes only the path costs at the end of the scope's rows, from features or from a volume, and
  // returns their image.
  int (*follow)(Builder&, Scope&, bool up, bool from_volume);
  // Adds the steps that match all rows in stripes, one after the other. `add_costs` adds those that compute the costs of
  // the scope's rows, and `select` those from the costs to the maps.
  void (*match_stripes)(Builder&, const Scope&, const AddSteps& add_costs, const AddSteps& select);
};

// Converts costs to 8 bits.
struct Quantisation {
  // Returns the parameters for costs of these units, and sets `units` to the units of the result.
  OfParameters<StageParameters(Element, bool has_holes, CostUnits& units)> fit;
};

// Adds two volumes.
struct Summation {
  OfParameters<double(double first, double second)> largest;
};

// Adds a term to 8-bit costs.
struct AddedCosts {
  OfParameters<double(double before)> largest;  // the largest sum for costs up to `before`
  OfParameters<bool()> checks;                  // returns whether the check of seeded pixels follows the refinements
};

// Computes a cost volume from feature words.
struct WordVolume {};

// Selections and refinements.

// A selection that computes the right map from the same costs.
struct OtherView {
  OfParameters<StageParameters()> parameters;  // parameters for the selection in the other view
};

// A selection or refinement that may compute fractions of a pixel.
struct Subpixels {
  OfParameters<bool()> computes;
};

// A refinement that gives invalid pixels a disparity, and marks these pixels as filled.
struct Fills {};

// A refinement that never gives an invalid pixel a disparity.
struct KeepsInvalid {};

// The rows around a stripe that a refinement reads.
struct RowSupport {
  int rows = 0;                // number of rows above, and below
  bool fills_columns = false;  // true if it searches columns up to the next measured pixel
  bool takes_edges = false;    // true if it needs only the disparity of such a pixel, and not the pixel's distance
  bool before_fills = false;   // true if it must not follow a refinement that searches columns
  std::string unlimited = {};  // reason why no number of rows is sufficient; empty if a number is
};

// A refinement with support along whole rows, in stripes of a larger image.
struct StripeSupport {
  OfParameters<RowSupport()> rows;
  // Returns whether the maps contain all pixels for which the stripe searches; for refinements that search columns.
  OfParameters<bool(const StripeMaps&)> suffices = nullptr;
};

// A refinement, confidence or density whose support depends on more than its own parameters.
struct Support {
  bool spans_range = false;   // true if the required input extends over the search range
  bool spans_window = false;  // true if the required input extends over the window of the matching cost
  int block = 1;              // the result depends on the position of a pixel modulo this number of pixels
};

// Images, inputs and outputs.

// The output image of a stage that is not a map.
struct ImageShape {
  OfParameters<Size(Size)> size = nullptr;  // null means the size of the first operand
  bool keeps_channels = false;              // true if the output has as many channels as the first operand
  // Slot `image`: returns the name of an image that is equal to the output, or null.
  const char* (*alias)(const PairInfo&) = nullptr;
};

// A stage of the slot `image` that converts images of some formats.
struct FormatConversion {
  bool (*takes)(PixelFormat);
  StageParameters (*parameters)(PixelFormat, Pixel first);  // the output begins at `first`
};

// Resamples the right image by an alignment of rows.
struct AlignedView {
  // Adds the step that aligns the image `given` of the right view, whose rows begin at `first_row`, and returns the
  // result. The value `mask` receives the pixels that are usable; −1: no value.
  int (*align)(Builder&, int given, int first_row, int mask);
};

// Resamples the map of the right view by an alignment of rows.
struct AlignedMap {
  // Adds the step that aligns the shown columns of a map, and returns the shown part of the result.
  int (*align)(Builder&, int map);
};

// A stage whose parameters depend on the pair.
struct PairParameters {
  OfParameters<StageParameters(const RowAlignment&)> of;  // the parameters for a pair with this alignment of rows
};

// Moves a map of the aligned right image back to the rows of the given one.
struct RestoredView {
  void (*restore)(Builder&, Maps&);  // adds the step that moves the right map back
};

// Masks black regions at the border of an image.
struct BlackMask {
  // Adds the step for a view of which `part` is read.
  void (*mask_view)(Builder&, Images&, int view, const Rect& part);
  OfParameters<bool(const AnyView&)> has_effect;  // returns whether the step masks a pixel of an image on the host
};

// Marks pixels without contrast as filled.
struct FlatMarks {
  // Adds the step for maps whose pixels are `factor` pixels wide and begin at `first_row`.
  void (*mark_maps)(Builder&, Images& full, const Maps&, int factor, int first_row);
  Rect (*with_windows)(const PipelineData&, const Request&, const Rect&);  // extends a required input by the windows
};

// Marks measured pixels whose disparity only a seed supports as filled.
struct SeedCheck {};

// Computes seeds of a second pass of the optimisation from the maps of the first one.
struct SecondPass {
  // Adds the steps, and returns the values of the seeds, in the form of stages/prior.
  std::vector<int> (*seeds)(Builder&, const StageParameters&, Images&, const Maps& first);
  OfParameters<bool()> needs_confidence;  // returns whether the first maps need a confidence
};

// Computes the seeds of the right view from those of the left view.
struct MirroredSeeds {
  void (*add_to)(Builder&, Images&);  // adds the step, and the seeds of the right view to the images
};

// Computes depth and points from a disparity.
struct Triangulation {
  StageParameters (*parameters)(const Request&, const Rect& shown);
};

// Resamples an image by a map.
struct MapResampling {};
// Sets the confidence of pixels that were not measured.
struct FilledMarks {};
// Copies maps of the caller.
struct MapCopies {};

// Plans and devices.

// A function of the caller. A graph of GPU commands cannot replay it, and in a region, its required input is added to
// the margin.
struct UserFunction {
  OfParameters<std::string()> title;
};
// A method of the caller, in place of the stages from the cost to the selection, and the check of its map.
struct OwnMethod {};
struct MapCheck {};

// Constants for the function on a GPU, in addition to its operands. The constants are copied to the device once. The
// span is valid as long as the parameters.
struct Constants {
  OfParameters<std::span<const std::int32_t>()> list;
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

}  // namespace stereopsis
