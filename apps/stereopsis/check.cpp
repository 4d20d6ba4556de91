// The subcommand: stereopsis check LEFT RIGHT
#include <fmt/core.h>

#include <array>
#include <memory>
#include <nlohmann/json.hpp>

#include "call_files.hpp"
#include "commands.hpp"
#include "common.hpp"
#include "diagnosis.hpp"
#include "frames.hpp"
#include "stereopsis/pair_check.hpp"
#include "terminal.hpp"

namespace stereopsis::command {
namespace {

struct Options {
  std::filesystem::path left, right;
  IntensityOptions intensity;
  bool json = false;
};

void print_text(const PairReport& result, Size size, const std::vector<std::string>& remarks,
                const std::vector<std::string>& complaints) {
  say("size                {}\n", size_text(size));
  say("sparse matches      {}\n", result.matches);
  if (result.matches > 0) {
    say("vertical disparity  median {:.2f} px, 95th percentile {:.2f} px\n", result.median_dy, result.p95_dy);
    say("median disparity    {:.1f} px\n", result.median_disparity);
    say("range               {} px (--min-disparity {} --disparities {})\n", range_text(result.range), result.range.min,
        result.range.count);
  }
  for (const std::string& text : remarks) say("note: {}\n", text);
  for (const std::string& complaint : complaints) say("not suitable: {}\n", complaint);
  if (complaints.empty()) say("suitable for matching: rectified and in the right order\n");
}

Json to_json(const PairReport& result, Size size, const std::vector<std::string>& remarks,
             const std::vector<std::string>& complaints) {
  static constexpr std::array turns = {"none", "half", "rows_reversed", "mirrored"};
  const bool any = result.matches > 0;
  const auto known = [any](double value) { return any ? Json(value) : Json(nullptr); };
  return {{"width", size.width},
          {"height", size.height},
          {"fit", complaints.empty()},
          {"complaints", complaints},
          {"remarks", remarks},
          {"matches", result.matches},
          {"rectified", result.rectified()},
          {"swapped", result.swapped},
          {"same_image", result.same_image},
          {"same_view", result.same_view},
          {"vertical", result.vertical},
          {"unrelated", result.unrelated},
          {"turn", turns[static_cast<std::size_t>(result.turn)]},
          {"median_dy", known(result.median_dy)},
          {"p95_dy", known(result.p95_dy)},
          {"median_disparity", known(result.median_disparity)},
          {"min_disparity", any ? Json(result.range.min) : Json(nullptr)},
          {"disparities", any ? Json(result.range.count) : Json(nullptr)}};
}

void check(const Options& options) {
  for (const auto& file : {options.left, options.right})
    if (!file_exists(file)) refuse(fmt::format("the image {} does not exist; check its name", file.string()));
  CallFiles files;
  files.reads(options.left, "the left image");
  files.reads(options.right, "the right image");
  const AnyImage left = options.intensity.read(options.left), right = options.intensity.read(options.right);
  if (left.size() != right.size())
    refuse(fmt::format("{} is {} but {} is {}; both images of a pair must have the same size", options.left.string(),
                       size_text(left.size()), options.right.string(), size_text(right.size())));
  const PairReport result = check_pair(left, right);
  std::vector<std::string> remarks;
  for (const auto& [image, file] : {std::pair{&left, &options.left}, {&right, &options.right}})
    if (const auto remark = low_contrast(*image, *file)) remarks.push_back(*remark);
  std::vector<std::string> complaints;
  for (const Complaint& complaint : complaints_of(result, options.left, options.right))
    complaints.push_back(complaint.sentence);
  if (complaints.empty() && result.matches == 0)
    complaints.emplace_back(
        "no point of one image was found in the other, and they have too little texture to say why; give two images of "
        "the same scene");
  if (options.json)
    say("{}", json_text(to_json(result, left.size(), remarks, complaints)));
  else
    print_text(result, left.size(), remarks, complaints);
  if (!complaints.empty()) throw CheckFailed{};
}

}  // namespace

void add_check(CLI::App& application) {
  Command command(application, "check",
                  "Check whether a pair is rectified and in the right order, and estimate its search range");
  const auto options = std::make_shared<Options>();
  command.path("LEFT", options->left, "", "Left image").required();
  command.path("RIGHT", options->right, "", "Right image").required();
  options->intensity.add_to(command);
  command.flag("--json", options->json, "Print the answer as JSON");
  command.footer("The exit code is 0 if the pair is suitable for matching, and 1 if it is not.");
  command.callback([options] { check(*options); });
}

}  // namespace stereopsis::command
