#include "sources/pairs.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "core/text.hpp"
#include "io/pictures.hpp"
#include "sources/layouts.hpp"
#include "sources/lists.hpp"

namespace stereopsis::sources {
namespace {

namespace fs = std::filesystem;

Frames frames_of_video(const fs::path& file, const OpenVideo& open) {
  if (!open)
    throw Error(
        ErrorCategory::unsupported,
        text(file.string(), " is a video, and this program has no video decoder; write the frames as PNG files"));
  Frames frames{.sequence = true};
  frames.video = open(file);
  const auto size = static_cast<long long>(frames.video->size());
  for (long long i = 0; i < size; ++i) {
    frames.files.push_back(file);
    frames.numbers.push_back(i);
    frames.by_number.push_back(key_of(i));
    frames.stems.push_back(text(file.stem().string(), "_", padded(i, 6)));
  }
  frames.by_name = frames.by_number;
  return frames;
}

Frames find_view(const fs::path& given, const std::string& what, const PairSourceOptions& options) {
  return is_file(given) && is_video(given) ? frames_of_video(given, options.open_video) : find_frames(given, what);
}

// Returns the pages of a TIFF as the frames of a sequence.
Frames frames_of_pages(const fs::path& file, std::size_t count) {
  Frames frames{.sequence = true};
  for (std::size_t i = 0; i < count; ++i) {
    const auto number = static_cast<long long>(i);
    frames.files.push_back(io::with_picture(file, i));
    frames.numbers.push_back(number);
    frames.by_number.push_back(key_of(number));
    frames.stems.push_back(text(file.stem().string(), "_", padded(number, 6)));
  }
  frames.by_name = frames.by_number;
  return frames;
}

// Two files with the same number of pictures are two sequences. The pictures of an MPO are views and no sequence.
// Returns a note if the files were divided.
std::string divide_into_pages(Frames& left, Frames& right) {
  if (left.sequence || right.sequence) return {};
  const fs::path l = left.file(0), r = right.file(0);
  const io::StoredViews in_left = io::stored_views(l), in_right = io::stored_views(r);
  if (in_left.pictures == 1 && in_right.pictures == 1) return {};
  const std::string first = text(l.string(), " holds ", in_left.pictures, " pictures");
  if (l == r)
    refuse(text(first, ", and is given twice; ",
                in_left.pictures == 2 ? "give it once to match its pictures as left and right view"
                                      : text("choose two of them, such as '", io::with_picture(l, 0).string(), "' '",
                                             io::with_picture(r, 1).string(), "'")));
  if (in_left.pictures != in_right.pictures || in_left.is_views)
    refuse(text(first, ", and ", r.string(), " holds ", in_right.pictures, "; ",
                in_left.is_views ? "give one file alone to match its pictures, or " : "",
                "choose a picture of each, such as '", io::with_picture(l, 0).string(), "' '",
                io::with_picture(r, 0).string(), "'"));
  left = frames_of_pages(l, in_left.pictures);
  right = frames_of_pages(r, in_right.pictures);
  return first + " and is matched as a sequence";
}

constexpr const char* stamps_need_two =
    "--pair stamp applies to two sequences, but here each file is a pair; leave --pair stamp out";

bool in_one_picture(const PairSourceOptions& options) { return options.side_by_side || options.top_bottom; }

void check(const fs::path& left, const fs::path& right, const PairSourceOptions& options) {
  if (left.empty()) refuse("the name of LEFT is empty; give an image, a pattern, a directory, a list or a video");
  if (options.pair != "number" && options.pair != "stamp")
    refuse(text("--pair ", options.pair, " is not allowed; it must be number or stamp"));
  if (!options.slop.empty() && options.pair != "stamp")
    refuse("--slop sets the largest difference of the time stamps of a pair; add --pair stamp, or leave it out");
  if (options.side_by_side && options.top_bottom)
    refuse("--side-by-side and --top-bottom exclude each other; leave one of them out");
  if (in_one_picture(options) && !right.empty())
    refuse(text(options.side_by_side ? "--side-by-side" : "--top-bottom", " means that LEFT holds both views; leave ",
                right.string(), " out"));
  if (options.right_first && !right.empty())
    refuse("--right-first applies to files that hold both views; to exchange two images, exchange LEFT and RIGHT");
  if (in_one_picture(options) && options.pair == "stamp") refuse(stamps_need_two);
}

// Returns the same frames twice, once for each half.
Pairs halves(Frames frames, bool side_by_side, bool right_first) {
  Pairs pairs{frames, std::move(frames)};
  pairs.left.part = side_by_side ? Part::left : Part::top;
  pairs.right.part = side_by_side ? Part::right : Part::bottom;
  if (right_first) std::swap(pairs.left.part, pairs.right.part);
  return pairs;
}

// Returns picture `i` of each file.
Frames pictures(Frames frames, std::size_t i) {
  for (fs::path& file : frames.files) file = io::with_picture(file, i);
  return frames;
}

// Returns the pairs of files that hold both views; nothing if the first file does not.
std::optional<Pairs> views_in_files(const Frames& frames, bool exchange) {
  const io::StoredViews stored = io::stored_views(frames.file(0));
  const bool right_first = stored.right_first != exchange;
  const char *const first = right_first ? "right" : "left", *const second = right_first ? "left" : "right";
  const std::string name = frames.file(0).string();
  std::optional<Pairs> pairs;
  if (stored.views == io::Views::pictures) {
    pairs = Pairs{pictures(frames, 0), pictures(frames, 1)};
    if (right_first) std::swap(pairs->left, pairs->right);
    pairs->note = text(name, " holds 2 pictures, which are matched as ", first, " and ", second,
                       " view; --right-first exchanges them");
  } else if (stored.views != io::Views::none) {
    const bool side_by_side = stored.views == io::Views::side_by_side;
    pairs = halves(frames, side_by_side, right_first);
    pairs->note = text(name, " holds the ", first, " view in its ", side_by_side ? "left" : "upper",
                       " half (JPS); --right-first exchanges the views");
  } else if (stored.pictures > 2) {
    refuse(text("RIGHT is missing: ", name, " holds ", stored.pictures,
                " pictures; give a second file with as many, or choose two of them, such as '",
                io::with_picture(frames.file(0), 0).string(), "' '", io::with_picture(frames.file(0), 1).string(),
                "'"));
  }
  return pairs;
}

// Throws an Error if the first picture holds one view, because the file has two pictures.
void check_one_picture(const Frames& frames, const char* option) {
  const std::size_t count = frames.video ? 1 : io::stored_views(frames.file(0)).pictures;
  if (count > 1)
    refuse(text(frames.file(0).string(), " holds ", count, " pictures; leave ", option,
                " out to match two pictures as left and right view, or choose one that holds both views, such as '",
                io::with_picture(frames.file(0), 0).string(), "'"));
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

std::string seconds_text(Nanoseconds time) { return number_text(static_cast<double>(time) * 1e-9); }

void drop_others(Frames& frames, const std::vector<std::size_t>& kept, std::vector<std::string>& dropped) {
  const std::set<std::size_t> all(kept.begin(), kept.end());
  for (std::size_t i = 0; i < frames.size(); ++i)
    if (!all.contains(i)) dropped.push_back(frames.name(i));
  frames = selected(frames, kept);
}

Pairs paired_by_stamp(const Frames& left, const Frames& right, const std::string& slop) {
  if (!left.sequence || !right.sequence)
    refuse("--pair stamp applies to two sequences, but LEFT or RIGHT is one file; leave --pair stamp out");
  Stamped l = in_order_of_time(left), r = in_order_of_time(right);
  std::vector<std::size_t> in_left, in_right;
  std::vector<Nanoseconds> apart;
  for (const auto& [a, b] : nearest(l.stamps, r.stamps, to_slop(slop, l.stamps, r.stamps))) {
    in_left.push_back(a);
    in_right.push_back(b);
    apart.push_back(std::abs(l.stamps[a] - r.stamps[b]));
  }
  if (in_left.empty())
    refuse(text("no image has a partner within ", slop.empty() ? "half the time between two frames" : slop, ": ",
                left.name(0), " begins at ", seconds_text(l.stamps[0]), " s and ", right.name(0), " begins at ",
                seconds_text(r.stamps[0]), " s; give a larger --slop, or pair by number"));
  Pairs pairs{std::move(l.frames), std::move(r.frames), {}, std::move(apart)};
  drop_others(pairs.left, in_left, pairs.dropped);
  drop_others(pairs.right, in_right, pairs.dropped);
  return pairs;
}

// Returns whether the names are time stamps, which differ between cameras.
bool named_by_time(const Frames& frames) {
  return frames.sequence && !frames.video && frames.numbers.front() >= 100'000'000'000;
}

Pairs paired(Frames left, const fs::path& given_left, Frames right, const fs::path& given_right,
             const PairSourceOptions& options, const std::string& advice) {
  if (options.pair == "stamp") return paired_by_stamp(left, right, options.slop);
  const std::string by_time = named_by_time(left) ? "; if the names are time stamps, add --pair stamp" : "";
  Pairs pairs{std::move(left), std::move(right)};
  pairs.dropped = pair_up(pairs.left, given_left, pairs.right, given_right,
                          options.keep_going ? Unpaired::skip : Unpaired::refuse, by_time + advice);
  return pairs;
}

// Returns frames in the order of the files, which have names for their results.
Frames frames_named(std::vector<fs::path> files, const std::vector<std::string>& names) {
  Frames frames{.sequence = true, .files = std::move(files), .stems = names};
  for (const std::string& name : names) {
    frames.numbers.push_back(static_cast<long long>(frames.by_name.size()));
    frames.by_name.push_back(name + '/');
  }
  return frames;
}

// Returns the pairs of images in one folder whose names differ only in the side.
Pairs pairs_of_names(const fs::path& folder, NamedPairs named, bool keep_going, const std::string& advice) {
  if (!named.without_partner.empty() && !keep_going)
    refuse(text(named.without_partner[0].string(), " has no partner in ", folder.string(),
                ": the names of a pair must differ only in the word left and right", advice));
  Pairs pairs{frames_named(std::move(named.left), named.names), frames_named(std::move(named.right), named.names)};
  for (const fs::path& file : named.without_partner) pairs.dropped.push_back(file.string());
  return pairs;
}

// Returns the pairs of each folder of a scene: its two images, or the images of its two folders.
Pairs pairs_of_scenes(const std::vector<fs::path>& folders, const PairSourceOptions& options,
                      const std::string& advice) {
  std::vector<fs::path> left, right;
  std::vector<std::string> names, dropped;
  for (const fs::path& folder : folders) {
    const SceneFiles scene = *scene_in(folder);
    Pairs own = paired(find_view(scene.left, "the left image", options), scene.left,
                       find_view(scene.right, "the right image", options), scene.right, options, advice);
    for (std::size_t i = 0; i < own.left.size(); ++i) {
      left.push_back(own.left.file(i));
      right.push_back(own.right.file(i));
      names.push_back(folder.filename().string() + (is_file(scene.left) ? "" : '_' + own.left.stem(i)));
    }
    dropped.insert(dropped.end(), own.dropped.begin(), own.dropped.end());
  }
  return {frames_named(std::move(left), names), frames_named(std::move(right), names), std::move(dropped)};
}

// Returns the pairs of a folder that is no scene itself; nothing if it has none.
std::optional<Pairs> pairs_below(const fs::path& folder, const PairSourceOptions& options, const std::string& advice) {
  NamedPairs named = named_pairs_in(folder);
  const std::vector<fs::path> scenes = scene_folders_in(folder);
  if (!named.left.empty() && !scenes.empty())
    refuse(text(folder.string(), " has images of both sides, such as ", named.left[0].filename().string(),
                ", and folders of scenes, such as ", scenes[0].filename().string(), "; give LEFT and RIGHT"));
  if (!named.left.empty()) return pairs_of_names(folder, std::move(named), options.keep_going, advice);
  if (!scenes.empty()) return pairs_of_scenes(scenes, options, advice);
  return std::nullopt;
}

// Returns the pairs of files that hold both views, given without RIGHT.
Pairs in_files_of_both(const fs::path& given, const PairSourceOptions& options) {
  const auto refuse_folder = [&] {
    refuse(text(given.string(),
                " has no folders left and right, no images left.* and right.* or NAME_left.* and NAME_right.*, and no "
                "folders with such images; give LEFT and RIGHT, or for images that hold both views add --side-by-side "
                "or --top-bottom"));
  };
  if (is_folder(given) && !has_image(given)) refuse_folder();
  if (options.pair == "stamp") refuse(stamps_need_two);
  const Frames frames = find_view(given, "the image", options);
  if (!frames.video)
    if (auto pairs = views_in_files(frames, options.right_first)) return std::move(*pairs);
  if (is_folder(given)) refuse_folder();
  refuse(text("RIGHT is missing; write `LEFT RIGHT`, or if each picture of ", given.string(),
              " holds both views add --side-by-side or --top-bottom"));
}

MaskedImage read_picture(const Frames& frames, std::size_t i) {
  if (!frames.video) return read_masked_image(frames.file(i));
  return {frames.video->read(static_cast<std::size_t>(frames.numbers[i])), {}};
}

// Returns the part of a picture that is a view.
Rect rect_of(Size picture, Part part, const std::string& name) {
  const bool across = part == Part::left || part == Part::right;
  if ((across ? picture.width : picture.height) % 2 != 0)
    refuse(text(name, " is ", picture.width, "×", picture.height, " and cannot be halved; two views ",
                across ? "side by side" : "on top of one another", " must have an even ", across ? "width" : "height"));
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

}  // namespace

Pairs find_pairs(const fs::path& left, const fs::path& right, const PairSourceOptions& options,
                 const std::string& advice) {
  check(left, right, options);
  if (in_one_picture(options)) {
    Frames frames = is_list(left) ? frames_of_list(left, 1)[0] : find_view(left, "the image", options);
    check_one_picture(frames, options.side_by_side ? "--side-by-side" : "--top-bottom");
    return halves(std::move(frames), options.side_by_side, options.right_first);
  }
  const auto pairs_of = [&](const fs::path& in_left, const fs::path& in_right) {
    Frames of_left = find_view(in_left, "the left image", options);
    Frames of_right = find_view(in_right, "the right image", options);
    std::string note = divide_into_pages(of_left, of_right);
    Pairs pairs = paired(std::move(of_left), in_left, std::move(of_right), in_right, options, advice);
    pairs.note = std::move(note);
    return pairs;
  };
  if (!right.empty()) return pairs_of(left, right);
  const auto views = is_folder(left) ? scene_in(left) : std::nullopt;
  if (options.right_first && (views || is_list(left)))
    refuse(text("--right-first applies to files that hold both views, and ", left.string(),
                " has a file for each view; leave --right-first out"));
  if (is_list(left)) {
    if (options.pair == "stamp")
      refuse(
          text("--pair stamp applies to two sequences, but ", left.string(), " lists pairs; leave --pair stamp out"));
    auto [in_left, in_right] = frames_of_list(left, 2);
    return {std::move(in_left), std::move(in_right)};
  }
  if (views) return pairs_of(views->left, views->right);
  if (is_folder(left) && options.pair != "stamp")
    if (auto below = pairs_below(left, options, advice)) return std::move(*below);
  return in_files_of_both(left, options);
}

std::string names_of_pair(const Frames& left, const Frames& right, std::size_t i) {
  const std::string of_left = left.name(i), of_right = right.name(i);
  return of_left == of_right ? of_left : text(of_left, " and ", of_right);
}

PairOfImages read_pair(const Frames& left, const Frames& right, std::size_t i) {
  MaskedImage picture = read_picture(left, i);
  if (left.part == Part::whole) return {std::move(picture), read_picture(right, i)};
  return {part_of(picture, left.part, left.name(i)), part_of(picture, right.part, right.name(i))};
}

}  // namespace stereopsis::sources

namespace stereopsis {

bool has_both_views(const std::filesystem::path& folder) {
  return sources::scene_in(folder).has_value() || !sources::named_pairs_in(folder).left.empty();
}

}  // namespace stereopsis
