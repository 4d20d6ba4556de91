#include "graph/descriptor.hpp"
#include "stages/fill/fill.hpp"

namespace stereopsis::fill {
namespace {

constexpr auto fill_holes = STEREOPSIS_DISPATCH_WITH_SCRATCH(oracle, cpu, gpu);

bool reads_right(const StageParameters& p) { return p.as<Parameters>().mode == Mode::hirschmueller; }

const StageDescriptor entry{
    .slot = Slot::refinement,
    .name = "fill",
    .title = "fill",
    .parameters = Parameters{},
    .ports =
        [](const StageParameters& p, const PairInfo&) {
          Ports ports{in("disparity"), change("validity"), out("disparity", Element::f32)};
          if (reads_right(p)) ports.push_back(in("right"));
          return ports;
        },
    .functions = on_every_device([](const auto& c) {
      using C = std::decay_t<decltype(c)>;
      const typename C::template Of<InputOf> input{c.template image<const float>(0), c.template image<const float>(3)};
      fill_holes(c, c.template as<Parameters>(), input, c.template image<float>(2), c.template image<std::uint8_t>(1));
    }),
    .global_support = true,
    .check = [](const Shape& s) { check(s.as<Parameters>()); },
    .scratch = [](const Shape& s) -> std::size_t {
      if (s.target.device == On::gpu) return gpu_scratch_bytes(s.as<Parameters>(), s.size());
#ifdef STEREOPSIS_SIMD
      if (s.target.device == On::cpu) return scratch_bytes(s.as<Parameters>(), s.size());
#endif
      return 0;
    },
    .row_support = [](const StageParameters& p) -> RowSupport {
      const auto& fill = p.as<Parameters>();
      switch (fill.mode) {
        case Mode::cross: return {.rows = fill.distance};
        case Mode::box: return {.rows = fill.window / 2};
        case Mode::hirschmueller:
          return {.unlimited = "fill.mode = hirschmueller asks whole regions of invalid pixels"};
        default: return {.fills_columns = true};
      }
    },
    .examples = {{"mode=background"},
                 {"mode=nearest"},
                 {"mode=second_lowest"},
                 {"mode=hirschmueller"},
                 {"mode=cross"},
                 {"mode=box"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::fill
