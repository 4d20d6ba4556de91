#include "command/pairs.hpp"

#include "command/video.hpp"

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

}  // namespace stereopsis::command
