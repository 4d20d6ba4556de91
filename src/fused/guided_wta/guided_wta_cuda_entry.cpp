// Registers the tuned CUDA kernels for costs, for the guided filter on one or more levels, for the coupling of levels,
// and for the selection. The kernels store filtered costs in planes.
#include "fused/guided_wta/guided_wta_cuda.hpp"
#include "stages/cost/source_of.hpp"
#include "stages/cost_volume/cost_volume.hpp"
#include "stages/cross_scale/cross_scale_entry.hpp"
#include "stages/wta/wta_entry.hpp"

namespace stereopsis::guided_wta {
namespace {

// Limits of the memory for the planes of a strip, and of the memory for a portion of the disparities before and in a
// filter.
constexpr std::size_t most_plane_bytes = std::size_t{768} << 20, portion_bytes = std::size_t{768} << 20;

struct Level {
  guided::Parameters guided;
  WordCost cost;
  DisparityRange range;
  Rows rows;      // filtered rows, counted within the rows that are read
  int first_row;  // position of the first filtered row in the level
  float weight;
};
struct Parameters {
  std::vector<Level> levels;  // ordered from the finest to the coarsest
  wta::Parameters select;
};
// Number of operands of a level: words of the reference view and of the other view, and guide.
constexpr std::size_t operands_of_level = 3;

// Returns a copy of the shape or the call that has only the operands of a level.
template <class S>
S at_level(S s, int level) {
  s.operands = s.operands.subspan(operands_of_level * static_cast<std::size_t>(level), operands_of_level);
  s.views = s.views.subspan(operands_of_level * static_cast<std::size_t>(level), operands_of_level);
  return s;
}
AnyView guide_of(const Shape& s, int level) { return at_level(s, level).operand("guide"); }

// Returns the number of steps of a level: cost volume, filter and, for coarser levels, the coupling.
int length(const Run& run) {
  const auto is = [&](std::size_t i, const char* name) {
    return i < run.steps.size() && run.steps[i].entry->name == name;
  };
  std::size_t at = 0;
  while (is(at, "cost_volume") && is(at + 1, "guided") && (at == 0 || is(at + 2, "couple"))) at += at == 0 ? 2 : 3;
  return at > 0 && is(at, "wta") ? static_cast<int>(at) + 1 : 0;
}

bool has_kernels(const WordCost& cost) {
  bool has = false;
  cost::with_kind(cost, [&]<class Kind>(const Kind&) { has = cuda_has_kind<Kind>; });
  return has;
}

Size strip_of(const Shape& s, int level) { return guide_of(s, level).size(); }
std::size_t plane_bytes(const Shape& s, int level) {
  const Level& l = s.as<Parameters>().levels[level];
  return (cuda_plane_bytes({strip_of(s, level).width, l.rows.count()}, l.range.count) + 255) / 256 * 256;
}
int at_a_time(const Shape& s, int level) {
  const AnyView guide = guide_of(s, level);
  return cuda_disparities_at_a_time(guide.size(), guide.channels, s.as<Parameters>().levels[level].range.count,
                                    portion_bytes);
}

void filter_level(const Call<On::gpu>& c, int i, gpu::Array<float> plane, gpu::Span scratch) {
  const Level& level = c.as<Parameters>().levels[i];
  const Call<On::gpu> images = at_level(c, i);
  cost::with_kind(level.cost, [&]<class Kind>(const Kind& kind) {
    if constexpr (cuda_has_kind<Kind>) {
      cuda_filter(level.guided, cost::source_of(images, kind), level.range.min, level.range.count, at_a_time(c, i),
                  images.image<const std::uint8_t>("guide"), level.rows, plane, scratch, c.worker());
    }
  });
}

void run(const Call<On::gpu>& c) {
  const auto& p = c.as<Parameters>();
  const int count = static_cast<int>(p.levels.size());
  gpu::Span memory = c.scratch();
  std::vector<Plane> planes;
  std::vector<gpu::Array<float>> costs;
  for (int i = 0; i < count; ++i) {
    costs.push_back(memory.take(plane_bytes(c, i)).as<float>());
    const Level& level = p.levels[i];
    planes.push_back(
        {costs[i], strip_of(c, i).width, level.rows.count(), level.first_row, level.range.min, level.weight});
  }
  for (int i = 0; i < count; ++i) filter_level(c, i, costs[i], memory);
  wta::OutputOf<gpu::View> maps = wta::output_of(c);
  maps.right = {};
  cuda_select(p.select, wta::input_of(c), planes, p.levels[0].range.count, maps,
              c.context.from_right ? wta::Reference::right : wta::Reference::left, c.worker());
}

std::size_t scratch_bytes(const Shape& s) {
  std::size_t planes = 0, filter = 0;
  for (int i = 0; i < static_cast<int>(s.as<Parameters>().levels.size()); ++i) {
    planes += plane_bytes(s, i);
    filter = std::max(filter, cuda_filter_bytes(strip_of(s, i), guide_of(s, i).channels, at_a_time(s, i)));
  }
  return planes + filter;
}

// Costs, coefficients and filtered costs are each written once and read once.
Work work(const Shape& s) {
  Work work;
  const auto& levels = s.as<Parameters>().levels;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const AnyView guide = guide_of(s, static_cast<int>(i));
    const double cells = static_cast<double>(guide.width) * levels[i].rows.count() * levels[i].range.count;
    work.bytes += (2 + 2 * 4 * (guide.channels + 1) + 4 + 4) * cells;
  }
  return work;
}

const StageDescriptor tuned{.slot = Slot::internal,
                            .name = "guided_wta_cuda",
                            .title = "cost, guided filter, winner takes all",
                            .ports = wta::selecting({}),  // these operands follow the operands of the levels
                            .functions = {.gpu = run},
                            .scratch = {.gpu = scratch_bytes},
                            .work = work};

Step fuse(const Run& run) {
  if (!cuda_runs_on(run.target.cuda_capability)) return {.note = "the tuned kernels need compute capability 8.0"};
  const Step& selection = run.steps.back();
  Parameters p{{}, selection.parameters.as<wta::Parameters>()};
  Step step = fused_step(tuned, {}, run.steps.last(1));
  std::vector<Operand> images;
  for (std::size_t at = 0; at + 1 < run.steps.size(); at += at == 0 ? 2 : 3) {
    const Step &costs = run.steps[at], &filter = run.steps[at + 1];
    const auto& guided = filter.parameters.as<guided::Parameters>();
    const Operand guide = named(filter.operands[0], in("guide"), Side::reference);
    const WordCost& cost = costs.parameters.as<cost_volume::Parameters>().cost;
    if (!cuda_serves(guided) || !has_kernels(cost) || run.values[guide.value].height > gpu::most_cuda_groups_y)
      return {.note = "the tuned kernels filter costs of census and of colour + gradient with radii up to 32"};
    float weight = 1;
    if (at > 0) {
      const auto& coupling = run.steps[at + 2].parameters.as<cross_scale::Coupling>();
      weight = coupling.coarse_weight;
      if (at == 2) p.levels[0].weight = coupling.weight;
    }
    p.levels.push_back(
        {guided, cost, costs.context.range, filter.context.rows, guide.rows.first + filter.context.rows.first, weight});
    images.insert(images.end(), {costs.input("words"), costs.input("words", Side::other), guide});
  }
  step.parameters = std::move(p);
  step.operands.insert(step.operands.begin(), images.begin(), images.end());
  return step;
}

const Rule rule{.name = "guided_wta_cuda",
                .run = {"cost_volume", "guided"},
                .fuse = fuse,
                .operation = &tuned,
                .length = length,
                .tile_rows =
                    [](Size image, int disparities, const Target&) {
                      return static_cast<int>(most_plane_bytes / cuda_plane_bytes({image.width, 1}, disparities));
                    },
                .examples = {"costfilter", "census-guided", "census-guided levels.lambda=0.3"}};

}  // namespace

void register_tuned(Registry& registry) { registry.add(rule); }

}  // namespace stereopsis::guided_wta
