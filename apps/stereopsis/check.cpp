// stereopsis check LEFT RIGHT
#include <fmt/core.h>

#include <memory>

#include "commands.hpp"
#include "common.hpp"
#include "frames.hpp"
#include "stereopsis/io.hpp"
#include "stereopsis/pair_check.hpp"

namespace stereopsis::command {
namespace {

struct Options {
  std::filesystem::path left, right;
};

void check(const Options& options) {
  for (const auto& file : {options.left, options.right})
    if (!std::filesystem::exists(file)) refuse(fmt::format("the image {} does not exist", file.string()));
  const AnyImage left = read_image(options.left), right = read_image(options.right);
  if (left.size() != right.size())
    refuse(fmt::format("{} is {} but {} is {}; both images of a pair must have one size", options.left.string(),
                       size_text(left.size()), options.right.string(), size_text(right.size())));
  const PairCheck result = check_pair(left, right);

  fmt::print("size                {}\n", size_text(left.size()));
  fmt::print("sparse matches      {}\n", result.matches);
  if (result.matches == 0) {
    fmt::print("not fit: no point of one image was found in the other; is it a pair of one scene?\n");
    throw Unfit{};
  }
  fmt::print("vertical disparity  median {:.2f} px, 95th percentile {:.2f} px\n", result.median_dy, result.p95_dy);
  fmt::print("median disparity    {:.1f} px\n", result.median_disparity);
  fmt::print("range               {} px (--min-disparity {} --disparities {})\n", range_text(result.range),
             result.range.min, result.range.count);
  if (!result.rectified())
    fmt::print("not fit: rows do not correspond (the median of |dy| is above 1 px); rectify the pair first\n");
  if (result.swapped)
    fmt::print("not fit: the images seem to be swapped; give {} as the left one\n", options.right.string());
  if (!result.rectified() || result.swapped) throw Unfit{};
  fmt::print("fit for matching: rectified, in the right order\n");
}

}  // namespace

void add_check(CLI::App& application) {
  Command command(application, "check", "Is a pair rectified, in the right order, and over which range?");
  const auto options = std::make_shared<Options>();
  command.path("LEFT", options->left, "", "Left image").required();
  command.path("RIGHT", options->right, "", "Right image").required();
  command.footer("Exit code 0 where the pair is fit for matching, 1 where it is not.");
  command.callback([options] { check(*options); });
}

}  // namespace stereopsis::command
