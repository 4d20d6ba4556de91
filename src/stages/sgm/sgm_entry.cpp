#include "stages/cost/source_of.hpp"
#include "stages/sgm/sgm.hpp"

namespace stereopsis::sgm {
namespace {

// The sums follow the words and, where P2 is adaptive, the guide.
int sums_at(const Shape& s) { return s.as<Parameters>().adaptive() ? 3 : 2; }
template <class C>
auto guide_of(const C& c) {
  return c.template image<const std::uint8_t>(c.template as<Parameters>().adaptive() ? 2 : -1);
}

void run_oracle(const Call<On::oracle>& c) {
  cost::with_followed_kind(c.numbers.kind, [&](const auto& kind) {
    oracle(c.as<Parameters>(), cost::source_of(c, kind), guide_of(c), c.numbers.range.min,
           c.volume<std::uint16_t>(sums_at(c)));
  });
}

void run_gpu(const Call<On::gpu>& c) {
  const auto& p = c.as<Parameters>();
  const GpuStripe whole{.sums = c.volume<std::uint16_t>(sums_at(c)), .before = {}, .behind = {}};
  cost::with_followed_kind(c.numbers.kind, [&](const auto& kind) {
    for (int r = 0; r < p.paths; ++r)
      gpu(p, directions[r], cost::source_of(c, kind), guide_of(c), c.numbers.range.min, whole, r > 0, c.scratch(),
          c.worker());
  });
}

void check_kind(const Shape& s) {
  if (!cost::can_be_followed(s.numbers.kind))
    throw Error(
        ErrorCategory::call,
        "semi-global matching takes costs whose features have up to 64 bits; choose rank, census_gradient, or a "
        "census whose cost.window = 9x7 or smaller");
  check(s.as<Parameters>(), cost::max_cost(s.numbers.kind));
}

const Entry entry{
    .slot = Slot::optimisation,
    .name = "sgm",
    .title = "semi-global matching",
    .parameters = Parameters{},
    .ports =
        [](const StageParameters& p, const PairInfo&) {
          Ports ports{in("words", both)};
          if (p.as<Parameters>().adaptive()) ports.push_back(in("grey8"));
          ports.push_back(out_volume("costs", Element::u16));
          return ports;
        },
    .functions = {.oracle = run_oracle, .gpu = run_gpu},
    .sees_all = true,
    .check = check_kind,
    .scratch = [](const Shape& s) -> std::size_t {
      return s.target.device == On::gpu ? gpu_scratch_bytes(s.size(), s.operand(sums_at(s)).disparities) : 0;
    },
    // One write of the 16-bit sums; for a cell of each path 11 instructions: cost, minima, additions, sums.
    .work =
        [](const Shape& s) {
          const double cells = s.cells(sums_at(s));
          Work work{.bytes = 2 * cells, .paths = 11 * cells * s.as<Parameters>().paths};
          cost::with_followed_kind(s.numbers.kind, [&](const auto& kind) { work.counts = cells * kind.popcounts(); });
          return work;
        },
    .examples = {{"paths=8", "p1=10", "p2=60"}, {"paths=4", "p1=10", "p2=90", "gradient=8", "p2_min=20"}}};

}  // namespace

void join(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::sgm
