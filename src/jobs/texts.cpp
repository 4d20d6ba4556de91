#include "jobs/texts.hpp"

#include <fmt/core.h>

namespace stereopsis::jobs {

std::string memory_text(std::size_t bytes) {
  const double mebibytes = static_cast<double>(bytes) / (1 << 20);
  if (mebibytes < 1) return fmt::format("{:.0f} KiB", 1024 * mebibytes);
  return mebibytes < 1024 ? fmt::format("{:.1f} MiB", mebibytes) : fmt::format("{:.2f} GiB", mebibytes / 1024);
}

std::string size_text(Size size) { return fmt::format("{}×{}", size.width, size.height); }

std::string range_text(DisparityRange range) { return fmt::format("{} to {}", range.min, range.max()); }

std::string names_text(const std::vector<Device>& devices) {
  std::string names;
  for (const Device& one : devices) names += (names.empty() ? "" : ",") + one.name;
  return names;
}

}  // namespace stereopsis::jobs
