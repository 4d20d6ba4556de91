#include "pairs.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <sstream>

#include "common.hpp"
#include "outputs.hpp"
#include "stamps.hpp"
#include "stereopsis/io.hpp"
#include "video.hpp"

namespace stereopsis::command {
namespace {

namespace fs = std::filesystem;

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

bool is_list(const fs::path& path) {
  const std::string extension = extension_of(path);
  return (extension == ".csv" || extension == ".tsv" || extension == ".txt") && is_file(path);
}

Frames frames_of_video(const fs::path& file) {
  Frames frames{true, {}, {}, {}, {}};
  frames.video = Video::open(file);
  for (std::size_t i = 0; i < frames.video->size(); ++i) {
    frames.files.push_back(file);
    frames.numbers.push_back(static_cast<long long>(i));
    frames.by_number.push_back(fmt::format("{:06}", i));
    frames.stems.push_back(fmt::format("{}_{:06}", file.stem().string(), i));
  }
  frames.by_name = frames.by_number;
  return frames;
}

Frames find_view(const fs::path& given, const std::string& what) {
  return is_file(given) && is_video(given) ? frames_of_video(given) : find_frames(given, what);
}

// Returns the cells of a line, separated by commas, semicolons or tabs, without blanks and quotes around them.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells = {""};
  bool quoted = false;
  for (const char c : line)
    if (c == '"')
      quoted = !quoted;
    else if (!quoted && (c == ',' || c == ';' || c == '\t'))
      cells.emplace_back();
    else
      cells.back() += c;
  for (std::string& cell : cells) {
    cell.erase(0, cell.find_first_not_of(" \r"));
    cell.erase(cell.find_last_not_of(" \r") + 1);
  }
  return cells;
}

Frames listed(std::vector<fs::path> files) {
  Frames frames{true, std::move(files), {}, {}, {}};
  std::set<std::string> stems;
  for (const fs::path& file : frames.files) stems.insert(file.stem().string());
  for (std::size_t i = 0; i < frames.files.size(); ++i) {
    frames.numbers.push_back(static_cast<long long>(i));
    frames.stems.push_back(stems.size() == frames.files.size() ? frames.files[i].stem().string()
                                                               : fmt::format("{:06}", i));
    frames.by_name.push_back(frames.stems.back() + '/');
  }
  return frames;
}

// Returns whether a first line names columns and not files.
bool is_heading(const std::vector<std::string>& cells, const fs::path& folder) {
  return std::ranges::none_of(cells, [&](const std::string& cell) {
    return cell.find_first_of("./\\") != std::string::npos || is_file(folder / cell);
  });
}

// Returns the columns of the left and the right images in a heading such as "time,left,right"; the first two if it does
// not name them.
std::array<std::size_t, 2> columns_in(const std::vector<std::string>& heading) {
  const auto column = [&](std::string_view name) {
    return static_cast<std::size_t>(
        std::ranges::find_if(heading, [&](const std::string& cell) { return cell.starts_with(name); }) -
        heading.begin());
  };
  const std::array found = {column("left"), column("right")};
  return std::ranges::max(found) < heading.size() ? found : std::array<std::size_t, 2>{0, 1};
}

// Reads a list of paths, which are relative to its folder: a left and a right image in each line or, with `views` 1, an
// image that holds both views. Lines that begin with # are comments.
std::array<Frames, 2> frames_of_list(const fs::path& list, std::size_t views) {
  std::array<std::vector<fs::path>, 2> files;
  std::array<std::size_t, 2> columns = {0, 1};
  std::size_t expected = views;
  std::istringstream lines(read_text(list));
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::vector<std::string> cells = cells_of(line);
    if ((cells.size() == 1 && cells[0].empty()) || line.starts_with('#')) continue;
    if (files[0].empty() && is_heading(cells, list.parent_path())) {
      if (cells.size() < views)
        refuse(fmt::format("{}, line {}: the heading '{}' names {} column, and two are expected, such as left,right",
                           list.string(), number, line, cells.size()));
      columns = columns_in(cells);
      expected = cells.size();
      continue;
    }
    if (cells.size() != expected)
      refuse(fmt::format(
          "{}, line {}: '{}' has {} columns, and {} are expected; each line must have {}", list.string(), number, line,
          cells.size(), expected,
          views == 2 ? "a left and a right image, separated by a comma or a tab" : "one image with both views"));
    for (std::size_t k = 0; k < views; ++k) {
      files[k].push_back(list.parent_path() / cells[columns[k]]);
      if (!is_file(files[k].back()))
        refuse(fmt::format("{}, line {}: {} does not exist; paths are relative to the folder of the list",
                           list.string(), number, files[k].back().string()));
    }
  }
  if (files[0].empty())
    refuse(fmt::format("{} lists no image; each line must have a left and a right image, separated by a comma or a tab",
                       list.string()));
  return {listed(std::move(files[0])), listed(std::move(files[1]))};
}

// Returns the two views in a folder: left/ and right/ or left.* and right.*, also by the names of KITTI, EuRoC and
// Middlebury.
std::pair<fs::path, fs::path> views_in(const fs::path& folder) {
  using Names = std::pair<const char*, const char*>;
  for (const auto& [left, right] : {Names{"left", "right"},
                                    {"image_2", "image_3"},
                                    {"image_0", "image_1"},
                                    {"image_02", "image_03"},
                                    {"image_00", "image_01"},
                                    {"cam0", "cam1"}})
    if (is_folder(folder / left) && is_folder(folder / right)) {
      const auto images = [&](const char* name) {
        return is_folder(folder / name / "data") ? folder / name / "data" : folder / name;
      };
      return {images(left), images(right)};
    }
  for (const auto& [left, right] : {Names{"left", "right"}, {"im0", "im1"}, {"im2", "im6"}, {"view1", "view5"}})
    for (const char* extension :
         {".png", ".jpg", ".jpeg", ".tif", ".tiff", ".pgm", ".ppm", ".bmp", ".webp", ".mp4", ".avi"}) {
      const fs::path first = folder / (std::string(left) + extension),
                     second = folder / (std::string(right) + extension);
      if (is_file(first) && is_file(second)) return {first, second};
    }
  refuse(
      fmt::format("{} has no folders left and right, and no images left.* and right.*; give LEFT and RIGHT, or for "
                  "images that hold both views add --side-by-side or --top-bottom",
                  folder.string()));
}

void check(const fs::path& right, const PairOptions& options) {
  if (options.by != "number" && options.by != "stamp")
    refuse(fmt::format("--pair {} is not allowed; it must be number or stamp", options.by));
  if (!options.slop.empty() && options.by != "stamp")
    refuse("--slop is the largest difference of time stamps; add --pair stamp");
  if (options.side_by_side && options.top_bottom)
    refuse("--side-by-side and --top-bottom exclude each other; leave one of them out");
  if (options.in_one_picture() && !right.empty())
    refuse(fmt::format("{} means that LEFT holds both views; leave {} out",
                       options.side_by_side ? "--side-by-side" : "--top-bottom", right.string()));
  if (options.in_one_picture() && options.by == "stamp")
    refuse("--pair stamp applies to two sequences, and here each picture is a pair; leave it out");
}

// Returns the same frames twice, once for each view.
Pairs both_views(Frames frames, bool side_by_side) {
  Pairs pairs{frames, std::move(frames), {}};
  pairs.left.part = side_by_side ? Part::left : Part::top;
  pairs.right.part = side_by_side ? Part::right : Part::bottom;
  return pairs;
}

struct Stamped {
  Frames frames;
  std::vector<Nanoseconds> stamps;  // ascending
};

Stamped in_order_of_time(const Frames& frames) {
  const std::vector<Nanoseconds> stamps = stamps_of(frames);
  std::vector<std::size_t> order(stamps.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return stamps[i]; });
  Stamped sorted{selected(frames, order), {}};
  for (const std::size_t i : order) sorted.stamps.push_back(stamps[i]);
  return sorted;
}

void drop_others(Frames& frames, const std::vector<std::size_t>& kept, std::vector<std::string>& dropped) {
  const std::set<std::size_t> all(kept.begin(), kept.end());
  for (std::size_t i = 0; i < frames.size(); ++i)
    if (!all.contains(i)) dropped.push_back(frames.name(i));
  frames = selected(frames, kept);
}

Pairs paired_by_stamp(const Frames& left, const Frames& right, const std::string& slop) {
  if (!left.sequence || !right.sequence)
    refuse("--pair stamp applies to two sequences, and LEFT or RIGHT is one file; leave it out");
  Stamped l = in_order_of_time(left), r = in_order_of_time(right);
  std::vector<std::size_t> in_left, in_right;
  for (const auto& [a, b] :
       nearest(l.stamps, r.stamps, slop.empty() ? std::nullopt : std::optional(to_duration("--slop", slop)))) {
    in_left.push_back(a);
    in_right.push_back(b);
  }
  if (in_left.empty())
    refuse(
        fmt::format("no image has a partner {}: {} begins at {} s and {} begins at {} s; give a larger --slop, or pair "
                    "by number",
                    slop.empty() ? "within half the time between two frames" : "within " + slop, left.name(0),
                    static_cast<double>(l.stamps[0]) * 1e-9, right.name(0), static_cast<double>(r.stamps[0]) * 1e-9));
  Pairs pairs{std::move(l.frames), std::move(r.frames), {}};
  drop_others(pairs.left, in_left, pairs.dropped);
  drop_others(pairs.right, in_right, pairs.dropped);
  return pairs;
}

// Returns whether the names are time stamps, which differ between cameras.
bool named_by_time(const Frames& frames) {
  return frames.sequence && !frames.video && frames.numbers.front() >= 100'000'000'000;
}

Pairs paired(Frames left, const fs::path& given_left, Frames right, const fs::path& given_right,
             const PairOptions& options, Unpaired unpaired, const std::string& advice) {
  if (options.by == "stamp") return paired_by_stamp(left, right, options.slop);
  const std::string by_time = named_by_time(left) ? "; if the names are time stamps, add --pair stamp" : "";
  Pairs pairs{std::move(left), std::move(right), {}};
  pairs.dropped = pair_up(pairs.left, given_left, pairs.right, given_right, unpaired, by_time + advice);
  return pairs;
}

MaskedImage read_picture(const Frames& frames, std::size_t i) {
  if (!frames.video) return read_masked_image(frames.file(i));
  return {frames.video->read(static_cast<std::size_t>(frames.numbers[i])), {}};
}

// Returns the part of a picture that is a view.
Rect rect_of(Size picture, Part part, const std::string& name) {
  const bool across = part == Part::left || part == Part::right;
  if ((across ? picture.width : picture.height) % 2 != 0)
    refuse(fmt::format("{} is {} and cannot be halved; two views {} must have an even {}", name, size_text(picture),
                       across ? "side by side" : "on top of one another", across ? "width" : "height"));
  Rect half{0, 0, across ? picture.width / 2 : picture.width, across ? picture.height : picture.height / 2};
  if (part == Part::right) half.x = half.width;
  if (part == Part::bottom) half.y = half.height;
  return half;
}

MaskedImage part_of(const MaskedImage& picture, Part part, const std::string& name) {
  const Rect rect = rect_of(picture.image.size(), part, name);
  MaskedImage half;
  half.image = with_pixels(picture.image.view().crop(rect), [&](auto pixels) -> AnyImage {
    return Image<std::remove_const_t<std::remove_pointer_t<decltype(pixels.data)>>>(pixels);
  });
  half.image.bit_depth = picture.image.bit_depth;
  if (picture.mask.empty()) return half;
  half.mask = Image<std::uint8_t>(picture.mask.view().crop(rect));
  for (int y = 0; y < half.mask.height(); ++y)
    for (int x = 0; x < half.mask.width(); ++x) half.no_data += half.mask(x, y) == 0;
  return half;
}

AnyImage grey_of(AnyImage image) {
  if (image.channels() == 1) return image;
  return with_pixels(image.view(), [&](auto pixels) -> AnyImage {
    using T = std::remove_const_t<std::remove_pointer_t<decltype(pixels.data)>>;
    Image<T> grey(pixels.size());
    for (int y = 0; y < pixels.height; ++y)
      for (int x = 0; x < pixels.width; ++x) {
        const T r = pixels(x, y, 0), g = pixels(x, y, 1), b = pixels(x, y, 2);
        if constexpr (std::is_same_v<T, float>)
          grey(x, y) = (0.299F * r + 0.587F * g) + 0.114F * b;
        else
          grey(x, y) = static_cast<T>((19595U * r + 38470U * g + 7471U * b + 32768U) >> 16);
      }
    AnyImage made = std::move(grey);
    made.bit_depth = image.bit_depth;
    return made;
  });
}

}  // namespace

void add_views(Command& command, fs::path& left, fs::path& right, const std::string& also) {
  command
      .path("LEFT", left, "",
            "Left image; for a sequence a pattern (left%03d.png, 'left*.png'), a directory or a video; or, in place of "
            "LEFT and RIGHT, a folder with both, a list of pairs (.csv)" +
                also)
      .required();
  command.path("RIGHT", right, "",
               "Right image; for a sequence as many images, paired with the left ones by frame number or by name");
}

void PairOptions::add_to(Command& command) {
  command.text("--pair", by, "BY",
               "Pair the images of two sequences by frame number or by nearest time stamp: number or stamp [number]");
  command.text("--slop", slop, "TIME",
               "Largest difference of the time stamps of a pair, such as 5ms [half the time between two frames]");
  command.flag("--side-by-side", side_by_side,
               "LEFT holds both views: the left half of each picture is the left view; there is no RIGHT");
  command.flag("--top-bottom", top_bottom,
               "LEFT holds both views: the upper half of each picture is the left view; there is no RIGHT");
}

Pairs find_pairs(const fs::path& left, const fs::path& right, const PairOptions& options, Unpaired unpaired,
                 const std::string& advice) {
  check(right, options);
  if (options.in_one_picture())
    return both_views(is_list(left) ? frames_of_list(left, 1)[0] : find_view(left, "the image"), options.side_by_side);
  if (!right.empty())
    return paired(find_view(left, "the left image"), left, find_view(right, "the right image"), right, options,
                  unpaired, advice);
  if (is_list(left)) {
    if (options.by == "stamp")
      refuse(fmt::format("--pair stamp applies to two sequences, and {} lists pairs; leave it out", left.string()));
    auto [in_left, in_right] = frames_of_list(left, 2);
    return {std::move(in_left), std::move(in_right), {}};
  }
  if (!is_folder(left))
    refuse(
        fmt::format("RIGHT is missing; write `LEFT RIGHT`, or if each picture of {} holds both views add "
                    "--side-by-side or --top-bottom",
                    left.string()));
  const auto [in_left, in_right] = views_in(left);
  return paired(find_view(in_left, "the left image"), in_left, find_view(in_right, "the right image"), in_right,
                options, unpaired, advice);
}

void reads(CallFiles& files, const Pairs& pairs) {
  reads(files, pairs.left, "the left image");
  if (pairs.left.part == Part::whole) reads(files, pairs.right, "the right image");
}

std::pair<MaskedImage, MaskedImage> read_pair(const Frames& left, const Frames& right, std::size_t i) {
  MaskedImage picture = read_picture(left, i);
  if (left.part == Part::whole) return {std::move(picture), read_picture(right, i)};
  return {part_of(picture, left.part, left.name(i)), part_of(picture, right.part, right.name(i))};
}

std::string kind_of(const AnyImageView& image) {
  return fmt::format("{} {}", to_string(image.type), image.channels == 1 ? "grey" : "RGB");
}

std::string make_alike(AnyImage& left, const std::string& left_name, AnyImage& right, const std::string& right_name,
                       bool in_grey) {
  if (left.size() != right.size())
    refuse(fmt::format("{} is {} but {} is {}; both images of a pair must have the same size", left_name,
                       size_text(left.size()), right_name, size_text(right.size())));
  const std::string kinds = fmt::format("{} is {} but {} is {}", left_name, kind_of(left), right_name, kind_of(right));
  if (left.view().type != right.view().type)
    refuse(kinds + "; both images of a pair must have the same pixel type, so convert one of them");
  if (!in_grey && left.channels() == right.channels()) return {};
  left = grey_of(std::move(left));
  right = grey_of(std::move(right));
  return kinds + "; both are matched in grey";
}

}  // namespace stereopsis::command
