#include "stereopsis/simd.hpp"

#include <cstdint>

#include "core/text.hpp"
#include "device/cpu/has_simd.hpp"
#include "stereopsis/error.hpp"
#ifdef STEREOPSIS_SIMD
#include "device/cpu/choose_targets.hpp"
#endif

namespace stereopsis {
namespace {

struct Target {
  const char* name;
  std::int64_t bits;  // the bits of Highway
};

#ifdef STEREOPSIS_SIMD
#ifdef HWY_ALL_NEON  // Highway 1.1 and later distinguishes NEON by further instructions
constexpr std::int64_t neon = HWY_ALL_NEON;
#else
constexpr std::int64_t neon = HWY_NEON;
#endif

// Better targets of x86 have lower bits.
constexpr Target known[] = {{"avx512", 2 * HWY_AVX3 - 1}, {"avx2", HWY_AVX2}, {"sse4", HWY_SSE4}, {"neon", neon}};

// The targets that were compiled and that the CPU has.
std::int64_t detected() {
  static const std::int64_t bits = hwy::SupportedTargets() & HWY_TARGETS;
  return bits;
}
#else
constexpr Target known[] = {{"avx512", 0}, {"avx2", 0}, {"sse4", 0}, {"neon", 0}};
std::int64_t detected() { return 0; }
void choose_targets(std::int64_t) {}
#endif

std::string usable_names() {
  const std::vector<std::string> names = simd_targets();
  return names.empty() ? "none" : join(names, " and ");
}

}  // namespace

bool has_simd() { return detected() != 0; }

std::vector<std::string> simd_targets() {
  std::vector<std::string> names;
  for (const Target& target : known)
    if ((target.bits & detected()) != 0) names.emplace_back(target.name);
  return names;
}

void use_simd(std::string_view name) {
  if (name == "auto") return choose_targets(detected());
  for (const Target& target : known) {
    if (name != target.name) continue;
    if ((target.bits & detected()) != 0) return choose_targets(target.bits & detected());
    throw Error(ErrorCategory::unsupported,
                text("the SIMD target ", name, " cannot be used: this CPU and this build of the library support ",
                     usable_names(), "; choose one of these, or auto"));
  }
  throw Error(ErrorCategory::call,
              text("the SIMD target ", name, " is not known; it must be auto, sse4, avx2, avx512 or neon"));
}

}  // namespace stereopsis
