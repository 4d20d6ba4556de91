#include "jobs/fault_advice.hpp"

#include <fmt/core.h>

#include "stereopsis/io.hpp"

namespace stereopsis::jobs {
namespace {

namespace fs = std::filesystem;

// Returns what the user can do about a fault.
std::string advice_on(const PairFault& fault, const fs::path& left, const fs::path& right,
                      const std::string& how_to_rectify, const SettingNames& names) {
  using enum PairFaultKind;
  switch (fault.kind) {
    case same_picture: return "give the images of the left and of the right camera";
    case turned: return "turn it back" + orientation_remark(left, right);
    case vertical:
      if (left == right)
        return fmt::format("add {}{} to `match`", names.spelled("vertical"),
                           fault.swapped ? " and " + names.spelled("right_first") : "");
      return fmt::format("give {} first, and {} to `match`{}", (fault.swapped ? right : left).string(),
                         names.spelled("vertical"), orientation_remark(left, right));
    case unrelated:
      return "give two images of the same scene, taken at the same time" + orientation_remark(left, right);
    case rows: return how_to_rectify;
    case negative:
      return fmt::format("{}, or, if the cameras converge, a negative {}, and {} where depth is wanted{}",
                         left == right
                             ? fmt::format("add {}, or leave it out if it is given", names.spelled("right_first"))
                             : fmt::format("give {} as the left one", right.string()),
                         names.spelled("min_disparity"), names.spelled("doffs"), orientation_remark(left, right));
    case late: return "find the frame that is missing or repeated, and give images of the same time";
    case shared_pattern:
      return fmt::format(
          "subtract the pattern from both images, such as the mean of many frames, or mask it with {} and {}",
          names.spelled("mask_left"), names.spelled("mask_right"));
    case outside_range:
      return fault.swapped ? fmt::format("lower {}, or raise {}", names.spelled("min_disparity"), names.spelled("far"))
                           : fmt::format("raise {}, or lower {}", names.spelled("disparities"), names.spelled("near"));
    case unaligned: return fmt::format("leave {} out, so that they are aligned", names.spelled("align_rows"));
  }
  return "";
}

}  // namespace

std::vector<PairFault> with_advice(std::vector<PairFault> faults, const fs::path& left, const fs::path& right,
                                   const SettingNames& names, const std::string& how_to_rectify) {
  for (PairFault& fault : faults)
    fault.sentence += fmt::format("; {}", advice_on(fault, left, right, how_to_rectify, names));
  return faults;
}

std::string orientation_remark(const std::filesystem::path& left, const std::filesystem::path& right) {
  std::string remark;
  for (const std::filesystem::path& file : left == right ? std::vector{left} : std::vector{left, right})
    if (const int orientation = fs::is_regular_file(image_file(file)) ? image_orientation(file) : 1; orientation != 1)
      remark +=
          fmt::format("{} {} has the Exif orientation {}", remark.empty() ? ";" : " and", file.string(), orientation);
  return remark.empty() ? "" : remark + ", which is not applied";
}

}  // namespace stereopsis::jobs
