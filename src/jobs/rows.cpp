#include "jobs/rows.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>

#include "core/refuse.hpp"
#include "sources/frames.hpp"
#include "stereopsis/io.hpp"

namespace stereopsis::jobs {
namespace {

// Returns the alignment of a list such as 0.3,-0.1, or nothing for other texts. Columns, rows and coefficients of a field may
// follow the four numbers of the plane.
std::optional<RowAlignment> to_alignment(const std::string& text) {
  constexpr std::size_t plane = 4, with_size = plane + 2;
  std::array<double, with_size + RowField::most_knots> values{};
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
  RowAlignment result{values[0], values[1], values[2], values[3]};
  if (count <= plane) return result;
  const auto is_number = [](double knots) { return knots >= 0 && knots <= RowField::most_knots; };
  if (!is_number(values[plane]) || !is_number(values[plane + 1])) return {};
  result.field.columns = static_cast<int>(values[plane]);
  result.field.rows = static_cast<int>(values[plane + 1]);
  if (result.field.count() != static_cast<int>(count - with_size) || count < with_size) return {};
  std::transform(values.begin() + with_size, values.begin() + static_cast<std::ptrdiff_t>(count),
                 result.field.knots.begin(), [](double value) { return static_cast<float>(value); });
  return result;
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
  if (rows && rows->alignment) rows->alignment = rows->alignment->mirrored();
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
