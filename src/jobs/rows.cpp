#include "jobs/rows.hpp"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <sstream>

#include "core/refuse.hpp"
#include "sources/frames.hpp"
#include "stereopsis/io.hpp"

namespace stereopsis::jobs {
namespace {

// Returns the coefficients of a list such as 0.3,-0.1, or nothing for other texts.
std::optional<RowAlignment> to_alignment(const std::string& text) {
  std::array<double, 4> values{};
  std::size_t count = 0;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    const std::size_t begin = part.find_first_not_of(" \t\r\n"), end = part.find_last_not_of(" \t\r\n");
    if (begin == std::string::npos || count == values.size()) return {};
    const char *first = part.data() + begin + (part[begin] == '+' ? 1 : 0), *last = part.data() + end + 1;
    const auto [stop, error] = std::from_chars(first, last, values[count++]);
    if (error != std::errc() || stop != last) return {};
  }
  if (count == 0) return {};
  return RowAlignment{values[0], values[1], values[2], values[3]};
}

}  // namespace

RowSettings row_settings(const std::string& given, const SettingNames& names) {
  if (given.empty() || given == "auto") return {};
  if (given == "off") return {.is_off = true, .fixed = {}};
  std::optional<RowAlignment> fixed = to_alignment(given);
  const bool is_file = !fixed && sources::file_exists(given);
  if (is_file) fixed = to_alignment(read_text(given));
  if (!fixed)
    sources::refuse(fmt::format(
        "{} {} is not allowed; it must be auto, off, OFFSET[,ROLL[,ZOOM[,KEYSTONE]]] in pixels, or a file with such "
        "numbers",
        names.spelled("align_rows"), is_file ? fmt::format("{}, whose text is not such a list,", given) : given));
  check_alignment(*fixed);
  return {.is_off = false, .fixed = fixed};
}

// The rows move the other way, and columns are counted from the other side.
std::optional<RowEstimate> mirrored(std::optional<RowEstimate> rows) {
  if (rows && rows->alignment) {
    RowAlignment& a = *rows->alignment;
    a = {-a.offset, a.roll, -a.zoom, a.keystone};
  }
  return rows;
}

FrameRows::FrameRows(const RowSettings& settings, const Cameras& cameras, bool is_sequence, bool has_costs)
    : is_off_(settings.is_off || has_costs), is_sequence_(is_sequence), fixed_(settings.fixed), cameras_(cameras) {}

std::optional<RowMeasurement> FrameRows::measured(const InputFrame& frame, bool always) const try {
  if (!needs_all_frames() && !always) return {};
  return cameras_.with_matched(frame, measure_rows);
} catch (const Error& error) {
  if (error.category() != ErrorCategory::call) throw;
  return {};  // the images cannot be compared
}

void FrameRows::align(InputFrame& frame) {
  if (is_off_ || frame.rows) return;
  if (fixed_) {
    frame.rows = RowEstimate{.alignment = *fixed_, .reason = NoAlignment::none, .plane = *fixed_};
  } else if (is_sequence_) {
    frame.rows = frame.measured_rows ? filter_.next(*frame.measured_rows) : RowEstimate();
  } else {
    frame.rows = cameras_.with_matched(frame, estimate_row_alignment);
  }
}

}  // namespace stereopsis::jobs
