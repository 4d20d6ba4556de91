#include "pairs.hpp"

#include <fmt/core.h>

#include "common.hpp"
#include "diagnosis.hpp"
#include "jobs/pixels.hpp"
#include "video.hpp"

namespace stereopsis::command {

namespace fs = std::filesystem;

void add_views(Command& command, fs::path& left, fs::path& right, const std::string& also) {
  command
      .path("LEFT", left, "",
            "Left image; for a sequence a pattern (left%03d.png, 'left*.png'), a directory or a video; or, in place of "
            "LEFT and RIGHT, a folder with both, a list of pairs (.csv), a file with two pictures (MPO, TIFF; '"
            "pair.tif[0]' is the first) or a JPS" +
                also)
      .required();
  command.path("RIGHT", right, "",
               "Right image; for a sequence, one right image for each left image, paired by frame number or by name");
}

PairOptions::PairOptions() { open_video = command::open_video; }

void PairOptions::add_to(Command& command) {
  command.text("--pair", pair, "BY",
               "Pairing of two sequences: number (by frame number) or stamp (by nearest time stamp) [number]");
  command.text(
      "--slop", slop, "TIME",
      "Largest difference of the time stamps of a pair: a time such as 5ms, or a share such as 5% of the time between "
      "two frames [50%]");
  command.flag("--side-by-side", side_by_side,
               "Read both views from LEFT: the left half of each picture is the left view; leave RIGHT out");
  command.flag("--top-bottom", top_bottom,
               "Read both views from LEFT: the upper half of each picture is the left view; leave RIGHT out");
  command.flag(
      "--right-first", right_first,
      "Exchange the views of files that hold both: the left half, upper half or first picture is the right view");
}

std::string kind_of(const AnyImageView& image) {
  return fmt::format("{} {}", to_string(image.type), image.channels == 1 ? "grey" : "RGB");
}

std::string make_alike(AnyImage& left, const std::string& left_name, AnyImage& right, const std::string& right_name,
                       bool in_grey) {
  if (left.size() != right.size())
    refuse(fmt::format("{} is {} but {} is {}; both images of a pair must have the same size{}", left_name,
                       size_text(left.size()), right_name, size_text(right.size()),
                       orientation_remark(left_name, right_name)));
  const std::string kinds = fmt::format("{} is {} but {} is {}", left_name, kind_of(left), right_name, kind_of(right));
  if (left.view().type != right.view().type)
    refuse(kinds + "; both images of a pair must have the same pixel type, so convert one of them");
  if (!in_grey && left.channels() == right.channels()) return {};
  left = jobs::grey_of(std::move(left));
  right = jobs::grey_of(std::move(right));
  return kinds + "; both are matched in grey";
}

}  // namespace stereopsis::command
