// Registers the computation of a cost volume from feature words.
#include "graph/facets.hpp"
#include "stages/cost/source_of.hpp"
#include "stages/cost_volume/cost_volume.hpp"

namespace stereopsis::cost_volume {
namespace {

constexpr auto evaluate = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const WordCost& cost_of(const Shape& s) { return s.as<Parameters>().cost; }

// Calls the evaluator of a cost for which this stage has no kernels.
template <On on>
void evaluate_own(const Call<on>& c) {
  const Functions& f = *cost_of(c).evaluator();
  if constexpr (on == On::oracle)
    f.oracle(c);
  else if constexpr (on == On::cpu)
    f.cpu(c);
  else
    f.gpu(c);
}

constexpr auto run = [](const auto& c) {
  const bool has_kernels = cost::with_kind(cost_of(c), [&]<class Kind>(const Kind& kind) {
    const auto source = cost::source_of(c, kind);
    const auto costs = c.template volume<std::uint8_t>("costs");
    const int min = c.context.range.min;
    evaluate(c, source, min, costs);
  });
  if (!has_kernels) evaluate_own(c);
};

const StageDescriptor entry{
    .slot = Slot::internal,
    .name = "cost_volume",
    .title = "cost volume",
    .parameters = Parameters{},
    .ports = {in("words", both), out_volume("costs", Element::u8)},
    .functions = on_every_device(run),
    .check = [](const Shape& s) { cost::with_kind(cost_of(s), [](const auto& kind) { cost_volume::check(kind); }); },
    .scratch = {.cpu =
                    [](const Shape& s) {
                      std::size_t bytes = 0;
                      cost::with_kind(cost_of(s), [&](const auto& kind) {
                        bytes = scratch_bytes(kind, s.size().width, s.disparities(), s.target.threads);
                      });
                      return bytes;
                    }},
    .work = [](const Shape& s) { return Work{.bytes = s.cells()}; },
    .plan = [](Parameters& p, const PlanFacts& facts) { p = Parameters{facts.word_cost}; },
    .facets = {WordVolume{}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::cost_volume
