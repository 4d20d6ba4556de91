// The subcommand: stereopsis check LEFT RIGHT
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "command/commands.hpp"
#include "command/common.hpp"
#include "command/frames.hpp"
#include "command/front_end.hpp"
#include "command/group_options.hpp"
#include "command/pairs.hpp"
#include "command/terminal.hpp"
#include "jobs/fault_advice.hpp"
#include "jobs/inputs.hpp"
#include "stereopsis/pair_check.hpp"
#include "stereopsis/rows.hpp"

namespace stereopsis::command {
namespace {

struct CheckOptions {
  std::filesystem::path left, right;
  PairOptions pairing;
  IntensityOptions intensity;
  bool json = false;
};

// Returns whether the range of the report can be searched. Matches of a raw pair give no range for the rectified pair.
bool has_range(const PairReport& result) { return result.rectified() && !result.vertical && result.turn == Turn::none; }

// A pair, and the field of its rows if no plane follows them. The report is then that of the aligned pair.
struct Checked {
  PairReport report;
  RowAlignment rows;

  bool has_field() const { return !rows.field.empty(); }
  // Returns the largest difference of the rows. RowAlignment::most() is a limit of it, which may be much larger.
  double most() const {
    constexpr int samples = 64;
    double found = 0;
    for (int j = 0; j <= samples; ++j)
      for (int i = 0; i <= samples; ++i)
        found = std::max(found, std::abs(rows.at(i / double{samples} - 0.5, j / double{samples} - 0.5)));
    return found;
  }
  std::string field() const {
    return fmt::format("a field of {}×{} knots, up to {:.2f} px", rows.field.columns, rows.field.rows, most());
  }
};

Checked checked(const AnyImage& left, const AnyImage& right) {
  Checked result{.report = check_pair(left, right), .rows = {}};
  if (result.report.matches == 0 || result.report.vertical) return result;
  const std::optional<RowAlignment> rows = estimate_row_alignment(left, right).alignment;
  if (rows && !rows->field.empty()) result = {check_pair(left, with_aligned_rows(right, *rows).image), *rows};
  return result;
}

void print_text(const Checked& pair, Size size, const std::vector<std::string>& remarks,
                const std::vector<std::string>& complaints) {
  const PairReport& result = pair.report;
  say("size                {}\n", size_text(size));
  say("sparse matches      {}\n", result.matches);
  if (result.matches > 0) {
    say("vertical disparity  median {:.2f} px, 95th percentile {:.2f} px{}\n", result.median_dy, result.p95_dy,
        pair.has_field() ? ", after the alignment of rows" : "");
    if (pair.has_field())
      say("rows                {}\n", pair.field());
    else
      say("rows                up to {:.2f} px apart: offset {:.2f} px, roll {:.2f} px, zoom {:.2f} px\n",
          result.rows.most_apart, result.rows.offset, result.rows.roll, result.rows.zoom);
    say("median disparity    {:.1f} px\n", result.median_disparity);
    if (has_range(result))
      say("range               {} px (--min-disparity {} --disparities {})\n", range_text(result.range),
          result.range.min, result.range.count);
    else
      say("range               not known before the pair is rectified\n");
  }
  for (const std::string& text : remarks) say("note: {}\n", text);
  for (const std::string& complaint : complaints) say("{}{}\n", result.judged() ? "not suitable: " : "", complaint);
  if (!complaints.empty()) return;
  say("suitable for matching: rectified and in the right order{}\n",
      result.matches < PairReport::enough_matches
          ? fmt::format(", as far as {} matches show; a reliable verdict requires {}", result.matches,
                        PairReport::enough_matches)
          : "");
}

Json to_json(const Checked& pair, Size size, const std::vector<std::string>& remarks,
             const std::vector<std::string>& complaints) {
  static constexpr std::array turns = {"none", "half", "rows_reversed", "mirrored"};
  const PairReport& result = pair.report;
  const bool any = result.matches > 0, ranged = has_range(result);
  const auto known = [any](double value) { return any ? Json(value) : Json(nullptr); };
  return {{"width", size.width},
          {"height", size.height},
          {"fit", complaints.empty()},
          {"judged", result.judged()},
          {"complaints", complaints},
          {"remarks", remarks},
          {"matches", result.matches},
          {"rectified", result.rectified()},
          {"swapped", result.swapped},
          {"same_image", result.same_image},
          {"same_view", result.same_view},
          {"vertical", result.vertical},
          {"unrelated", result.unrelated},
          {"shared_pattern", result.shared_pattern},
          {"turn", turns[static_cast<std::size_t>(result.turn)]},
          {"median_dy", known(result.median_dy)},
          {"p95_dy", known(result.p95_dy)},
          {"rows_apart", known(result.rows.most_apart)},
          {"row_offset", known(result.rows.offset)},
          {"row_roll", known(result.rows.roll)},
          {"row_zoom", known(result.rows.zoom)},
          {"row_field",
           pair.has_field()
               ? Json{{"columns", pair.rows.field.columns}, {"rows", pair.rows.field.rows}, {"most", pair.most()}}
               : Json(nullptr)},
          {"median_disparity", known(result.median_disparity)},
          {"min_disparity", ranged ? Json(result.range.min) : Json(nullptr)},
          {"disparities", ranged ? Json(result.range.count) : Json(nullptr)}};
}

void check(const CheckOptions& options) {
  const Pairs pairs = find_pairs(options.left, options.right, options.pairing);
  CallFiles files;
  files.reads(pairs);
  const std::string left_name = pairs.left.name(0), right_name = pairs.right.name(0);
  auto [of_left, of_right] = read_pair(pairs.left, pairs.right, 0);
  AnyImage left = options.intensity.applied(std::move(of_left), left_name, option_names()).image,
           right = options.intensity.applied(std::move(of_right), right_name, option_names()).image;
  std::vector<std::string> remarks;
  if (!pairs.note.empty()) remarks.push_back(pairs.note);
  if (const std::string note = jobs::make_alike(left, left_name, right, right_name); !note.empty())
    remarks.push_back(note);
  if (pairs.left.size() > 1)
    remarks.push_back(fmt::format("this is the first of {} pairs; `stereopsis match --strict` checks all of them",
                                  pairs.left.size()));
  const Checked pair = checked(left, right);
  const PairReport& result = pair.report;
  if (pair.has_field())
    remarks.push_back(fmt::format("the rows differ by {}; `stereopsis match` aligns them", pair.field()));
  for (const auto& [image, name] : {std::pair{&left, &left_name}, {&right, &right_name}})
    if (const auto remark = options.intensity.low_contrast(*image, *name, option_names())) remarks.push_back(*remark);
  std::vector<std::string> complaints;
  for (const PairFault& fault : jobs::with_advice(faults_of(result), left_name, right_name, option_names()))
    complaints.push_back(fault.sentence);
  if (const std::string why = why_not_judged(result); !why.empty()) complaints.push_back(why);
  if (options.json)
    say("{}", json_text(to_json(pair, left.size(), remarks, complaints)));
  else
    print_text(pair, left.size(), remarks, complaints);
  if (!complaints.empty()) throw CheckFailed{};
}

}  // namespace

void add_check(CLI::App& application) {
  Command command(application, "check",
                  "Check whether a pair is rectified and in the right order, and estimate its search range");
  const auto options = std::make_shared<CheckOptions>();
  add_views(command, options->left, options->right);
  options->pairing.add_to(command);
  options->intensity.add_to(command);
  command.flag("--json", options->json, "Print the answer as JSON");
  command.footer("The exit code is 0 if the pair is suitable for matching, and 1 if it is not.");
  command.callback([options] { check(*options); });
}

}  // namespace stereopsis::command
