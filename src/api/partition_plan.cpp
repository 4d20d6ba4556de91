#include "stereopsis/partition_plan.hpp"

#include <algorithm>

#include "core/text.hpp"
#include "planning/lowering.hpp"

namespace stereopsis {
namespace {

// Returns the number of rows that a stage reads above and below a row.
int rows_of(const Rect& input) { return std::max(-input.y, input.y + input.height - 1); }

constexpr Rect pixel{0, 0, 1, 1};

int rows_of(const StageChoice& stage) {
  return stage.entry->required_input == nullptr ? 0 : rows_of(stage.entry->required_input(stage.parameters, pixel));
}

class Splitter {
 public:
  explicit Splitter(const PipelineData& data) : data_(data) {}

  PartitionPlan split(bool want_confidence) {
    check_matching();
    PartitionPlan made{.follows_paths = static_cast<bool>(data_.optimisation), .raw = Pipeline(data_)};
    if (made.follows_paths)
      made.path_kinds = data_.optimisation.facet<PathBoundary>()->kinds(data_.optimisation.parameters);
    made.feature_rows = std::max({1, rows_of(data_.cost), data_.plus ? rows_of(data_.plus) : 0});
    if (want_confidence && data_.confidence) add_rating(made);
    want_confidence = want_confidence && !data_.confidence;
    PipelineData raw = data_, refined = data_;
    raw.refinements.clear(), refined.refinements.clear();
    raw.confidence = refined.confidence = {};
    PipelineData unfilled = refined, filled = refined;
    bool is_raw = true;
    for (const StageChoice& stage : data_.refinements) {
      if (!stage.enabled) continue;
      is_raw = is_raw && !stage.entry->global_support;
      if (is_raw)
        made.raw_rows += reach(stage);
      else
        add_refined(stage, made);
      (is_raw ? raw : refined).refinements.push_back(stage);
      if (!is_raw) (made.fills ? filled : unfilled).refinements.push_back(stage);
    }
    if (data_.seeds) add_seeds(made, raw, unfilled);
    raw.region = RegionParameters{.margin = made.raw_rows};
    if (!refined.refinements.empty() || data_.seeds) {
      made.needs = given_maps::needs_of(refined, want_confidence);
      made.refined_rows = made.before_fill + made.behind_fill;
      made.refined = Pipeline(std::move(refined));
      if (made.fills) made.unfilled = Pipeline(std::move(unfilled)), made.filled = Pipeline(std::move(filled));
    }
    made.raw = Pipeline(std::move(raw));
    return made;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ErrorCategory::call, text("the pipeline '", data_.method,
                                          "' cannot be matched in stripes with the same result as the whole image: ",
                                          why, "; match the whole image, or overlapping tiles, whose result differs"));
  }

  void check_matching() const {
    if (data_.second_pass) refuse("its second pass requires the whole image");
    if (data_.density) refuse("the slot density changes the refined maps");
    if (reduction_of(data_) != nullptr)
      refuse("the pipeline reduces the images, so stripes would have to begin at multiples of the factor");
    for (const StageChoice* stage : {&data_.cost, &data_.plus, &data_.aggregation, &data_.optimisation})
      if (*stage && stage->entry->global_support && stage->facet<PathBoundary>() == nullptr)
        refuse(text(stage->entry->title, " can make any pixel depend on any other pixel"));
    if (data_.cost.facet<GivenCosts>() != nullptr) refuse("the costs of the pipeline are a given volume");
    if (!data_.optimisation) return;
    if (const std::string why = why_not_followed(data_); !why.empty()) refuse(why);
  }

  int reach(const StageChoice& stage) const {
    const auto* support = stage.facet<Support>();
    if (support == nullptr || !support->spans_window) return rows_of(stage);
    const auto* window = data_.cost.facet<SharedWindow>();
    return window == nullptr ? 0 : rows_of(window->of(data_.cost.parameters, pixel));
  }

  // The last part checks the seeded pixels, which comes after all refinements, and reads the rows around its stripe.
  void add_seeds(PartitionPlan& made, PipelineData& raw, PipelineData& unfilled) const {
    const StageDescriptor& check = registry().with<SeedCheck>();
    int rows = 0;
    for (const StageChoice& image : data_.images)
      for (const Port& port : check.ports(check.parameters, {}))
        if (image.is(port.name)) rows = std::max(rows, rows_of(image));
    rows += rows_of(StageChoice(check));
    made.feature_rows = std::max(made.feature_rows, rows);
    int& margin = made.fills ? made.behind_fill : made.before_fill;
    margin = std::max(margin, rows);
    for (PipelineData* part : {&raw, &unfilled}) part->seeds.parameters.set("", "check", "false");
  }

  void add_rating(PartitionPlan& made) const {
    PipelineData rating = data_;
    rating.refinements.clear();
    rating.seeds = {};
    made.rated = Pipeline(std::move(rating));
    made.rated_rows = rows_of(data_.confidence);
    if (const auto* support = data_.confidence.facet<Support>()) made.block = support->block;
  }

  void add_refined(const StageChoice& stage, PartitionPlan& made) const {
    const StageDescriptor& entry = *stage.entry;
    for (const Port& port : entry.ports(stage.parameters, {}))
      if (port.name == std::string_view("costs"))
        refuse(text(entry.title, " reads the costs after a refinement that depends on the whole image"));
    const auto* striped = stage.facet<StripeSupport>();
    if (striped == nullptr && entry.global_support)
      refuse(text(entry.title, " can make any pixel depend on any other pixel"));
    const RowSupport support = striped != nullptr ? striped->rows(stage.parameters) : RowSupport{.rows = reach(stage)};
    if (!support.unlimited.empty()) refuse(support.unlimited);
    if (made.fills && support.before_fills) refuse(text(entry.title, " follows a fill that searches at any distance"));
    if (made.fills && support.fills_columns) refuse("the pipeline has two fills that search at any distance");
    (made.fills ? made.behind_fill : made.before_fill) += support.rows;
    made.fills = made.fills || support.fills_columns;
    made.takes_edges = made.takes_edges || support.takes_edges;
  }

  const PipelineData& data_;
};

}  // namespace

PartitionPlan partition_plan(const Pipeline& pipeline, bool want_confidence) {
  return Splitter(pipeline.data()).split(want_confidence);
}

bool rows_suffice(const Pipeline& filled, const StripeMaps& maps) {
  if (maps.disparity.size() != maps.validity.size() || maps.first_row < 0 || maps.rows < 0 ||
      maps.rows > maps.disparity.height - maps.first_row)
    throw Error(ErrorCategory::call,
                text("the stripe has the rows ", maps.first_row, " to ", maps.first_row + maps.rows, " of ",
                     maps.disparity.height, " rows of disparities and ", maps.validity.height,
                     " of validities; pass both maps in the same size, and rows within them"));
  return std::ranges::all_of(filled.data().refinements, [&](const StageChoice& stage) {
    const auto* striped = stage.facet<StripeSupport>();
    return !stage.enabled || striped == nullptr || striped->suffices == nullptr ||
           striped->suffices(stage.parameters, maps);
  });
}

}  // namespace stereopsis
