// Checks a call of `match` completely, before any matching. match_range.cpp checks the range.
#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <sstream>

#include "jobs/folders.hpp"
#include "match.hpp"
#include "terminal.hpp"

namespace stereopsis::command::matching {
namespace {

void require_size(const fs::path& file, Size size, const fs::path& other, Size other_size) {
  if (size != other_size)
    refuse(fmt::format("{} is {} but {} is {}; both must have the same size", file.string(), size_text(size),
                       other.string(), size_text(other_size)));
}

// Returns the pixels that the mask, if there is one, and the file's own mask leave. Pixels of float images without data
// are NaN, and need no mask. The frames of a sequence have a mask even where all pixels have data, because one plan
// serves all of them.
Image<std::uint8_t> usable_pixels(Image<std::uint8_t> mask, MaskedImage& image, bool in_sequence) {
  if (image.mask.empty() || image.image.view().type == PixelType::f32 || (image.no_data == 0 && !in_sequence))
    return mask;
  if (mask.empty()) return std::move(image.mask);
  for (int y = 0; y < mask.height(); ++y)
    for (int x = 0; x < mask.width(); ++x) mask(x, y) = std::min(mask(x, y), image.mask(x, y));
  return mask;
}

void transpose(InputFrame& frame) {
  for (AnyImage* const image : {&frame.left, &frame.right}) *image = transposed(*image);
  for (Image<std::uint8_t>* const mask : {&frame.mask_left, &frame.mask_right}) *mask = transposed(mask->view());
}

}  // namespace

MatchJob::MatchJob(const Options& given, CommandFrontEnd& text)
    : options(given),
      front_end(text),
      pipeline(given.method.pipeline(!given.cost_volume.empty())),
      devices(given.device.devices()),
      device(devices.front()) {
  switch_fill_off();
  find_inputs();
  if (!left.sequence) devices.resize(1);  // a single pair cannot be distributed
  find_volumes();
  name_outputs();
  sinks->check({0, 1});
  read_first();
  read_volumes();
  given_size = first.left.size();
  masked_left = !first.mask_left.empty();
  masked_right = !first.mask_right.empty();
  kind = kind_of(first.left);
  channels = first.left.channels();
  bit_depth = first.left.view().bit_depth;
  choose_cameras();
  check_size_dependent_options();
  if (const auto complaint = options.intensity.low_contrast(first.left, left.name(first_index)))
    warn_or_fail(*complaint);
  remark_no_data();
  if (rectifies_ahead()) rectify(first);
  first_complaint = judge(faults(first, first_index), first_index);
  choose_range();
  check_probes();
  first.range = options.range_per_frame ? range_of(first) : range;
  check_range();
  sinks->check(range);  // again, for the sign of the range
}

std::string MatchJob::device_names() const {
  std::string names;
  for (const Device& one : devices) names += (names.empty() ? "" : ",") + one.name;
  return names;
}

void MatchJob::switch_fill_off() {
  if (!options.no_fill) return;
  static constexpr std::array fills = {"fill", "vote_fill", "region_voting", "interpolation"};
  for (const PipelineSlot& slot : pipeline.slots()) {
    if (std::find(fills.begin(), fills.end(), slot.kind) == fills.end()) continue;
    for (const std::string& setting : options.method.settings) {
      const std::string stage = setting.substr(0, setting.find('.'));
      if ((stage == slot.slot || stage == slot.kind) && !setting.ends_with(".enabled=false"))
        refuse(fmt::format("--no-fill switches off the stage of --set {}; leave one of them out", setting));
    }
    pipeline.set(slot.slot + ".enabled", "false");
  }
}

// Chooses among a KITTI file's rigs for grey and for colour images; if it has only one, uses that one.
void MatchJob::choose_cameras() {
  const bool grey = first.left.channels() == 1;
  size = given_size;
  if (!options.raw) bound_memory(given_size, {});
  if (!options.rig.given()) return;
  const CalibrationFile calibration = options.raw ? options.rig.raw(given_size, grey, options.vertical)
                                                  : options.rig.rectified(given_size, grey, options.vertical);
  for (const std::string& warning : calibration.warnings) warn_or_fail(warning);
  rig = calibration.rig;
  check_unit();
  find_target(calibration.cameras);
  if (options.raw) return rectify_with(*calibration.cameras);
  if (calibration.cameras) how_to_rectify = fmt::format("add --raw to rectify the pair with {}", options.rig.source());
  if (calibration.raw_only)
    warn_or_fail(
        fmt::format("{} describes only raw cameras, but {} is matched as a rectified image; add --raw unless `rectify` "
                    "made this image with the same calibration",
                    options.rig.source(), left.name(first_index)));
}

void MatchJob::rectify_with(const StereoCalibration& calibration) {
  options.rig.check_size(as_stored(calibration.size), left.name(first_index), as_stored(given_size));
  bound_memory(given_size, rig->size == Size{} ? given_size : rig->size);
  raw_cameras = calibration;
  maps = std::make_shared<const RectificationMaps>(rectification_maps(calibration));
  size = maps->size();
}

void MatchJob::check_unit() const {
  const fs::path& file = options.sinks.files[ResultFile::depth];
  if (extension_of(file) == ".png" && rig->unit != "mm" && rig->unit != "m")
    refuse(fmt::format("--depth {} stores millimetres, but {} has no unit; {}, or use .pfm, .npy or .tiff",
                       file.string(), options.rig.source(), options.rig.how_to_name_the_unit(*rig)));
}

void MatchJob::find_inputs() {
  PairOptions pairing = options.pairing;
  pairing.keep_going = options.keep_going;
  Pairs found = find_pairs(options.left, options.right, pairing, "; --keep-going skips images without a partner");
  left = std::move(found.left);
  right = std::move(found.right);
  dropped = std::move(found.dropped);
  if (!found.note.empty()) remark("{}", found.note);
  for (const auto& [given, name] : {std::pair{options.resume, "--resume"},
                                    {options.keep_going, "--keep-going"},
                                    {options.range_per_frame, "--range-per-frame"}})
    if (given && !left.sequence)
      refuse(fmt::format("{0} applies to sequences, and {1} is one file; leave {0} out", name, options.left.string()));
  if (!options.mask_left.empty()) mask_left = find_mask(options.mask_left, "--mask-left");
  if (!options.mask_right.empty()) mask_right = find_mask(options.mask_right, "--mask-right");
  if (!dropped.empty()) {
    front_end.warning(dropped.size() == 1 ? fmt::format("1 image has no partner and is skipped: {}", dropped[0])
                                          : fmt::format("{} images have no partner and are skipped: {} and {} more",
                                                        dropped.size(), dropped[0], dropped.size() - 1));
  }
}

// Finds one mask for all frames, or one mask per frame.
Frames MatchJob::find_mask(const fs::path& given, const std::string& option) {
  Frames mask = find_frames(given, option);
  if (mask.sequence)
    pair_up(left, options.left, mask, given, dropped.empty() ? Unpaired::refuse : Unpaired::skip_of_second);
  return mask;
}

void MatchJob::name_outputs() {
  CallFiles all;
  all.reads(Pairs{left, right});
  if (mask_left) all.reads(*mask_left, "--mask-left");
  if (mask_right) all.reads(*mask_right, "--mask-right");
  all.reads(options.method.pipeline_file, "--pipeline");
  all.reads(options.cost_volume, "--cost-volume");
  options.rig.reads(all);
  if (options.register_to != "raw") all.reads(options.register_to, "--register-to");
  sinks.emplace(options.sinks, left, all, front_end);
}

ResultFacts MatchJob::facts() const {
  ResultFacts facts{.region = region, .range = range, .rig = rig, .registered = {}};
  if (target) facts.registered = [this](const Image<float>& depth) { return registered_depth(*this, depth); };
  return facts;
}

void MatchJob::read_first() {
  for (first_index = 0;; ++first_index) try {
      first = read_images(first_index);
      in_grey_ = !first.note.empty();
      if (in_grey_) remark("{}", first.note);
      return;
    } catch (const std::exception&) {
      if (!options.keep_going || first_index + 1 == left.size()) throw;
    }
}

InputFrame MatchJob::take(std::size_t i) {
  if (i == first_index && !first.left.view().empty()) return std::move(first);
  InputFrame frame = read_rectified(i);
  if (options.strict)
    for (const PairFault& fault : faults(frame, i))
      if (fault.kind != PairFaultKind::outside_range)
        throw Error(ErrorCategory::format,
                    fmt::format("{} and {}: {} (--strict)", left.name(i), right.name(i), fault.sentence));
  frame.range = options.range_per_frame ? range_of(frame) : range;
  return frame;
}

InputFrame MatchJob::read_rectified(std::size_t i) const {
  InputFrame frame = read_images(i);
  check_alike(frame, i);
  make_masks_alike(frame, i);
  if (rectifies_ahead()) rectify(frame);
  return frame;
}

// A frame without an alpha channel in a sequence whose first frame has one has data everywhere.
void MatchJob::make_masks_alike(InputFrame& frame, std::size_t i) const {
  const auto make_alike = [&](Image<std::uint8_t>& mask, bool has_mask, const fs::path& file) {
    if (has_mask && mask.empty()) mask = Image<std::uint8_t>(frame.left.size(), 1, 255);
    if (!has_mask && !mask.empty())
      refuse(
          fmt::format("{} has pixels without data, but the first frame has no alpha channel and no mask; give all "
                      "frames an alpha channel, or a mask with --mask-left or --mask-right",
                      file.string()));
  };
  make_alike(frame.mask_left, masked_left, left.name(i));
  make_alike(frame.mask_right, masked_right, right.name(i));
}

void MatchJob::remark_no_data() const {
  const auto say_of = [](long long count, const AnyImage& image, const fs::path& file) {
    if (count == 0) return;
    const double all = static_cast<double>(image.size().width) * image.size().height;
    remark("{} pixels of {} ({:.1f} %) are no data, and are masked", count, file.string(),
           100 * static_cast<double>(count) / all);
  };
  say_of(first.no_data_left, first.left, left.name(first_index));
  say_of(first.no_data_right, first.right, right.name(first_index));
}

void MatchJob::check_alike(const InputFrame& frame, std::size_t i) const {
  if (frame.left.size() == given_size && kind_of(frame.left) == kind) return;
  const bool made_grey = !frame.note.empty() && !in_grey_;
  refuse(fmt::format(
      "{}, but the first frame is {} {}; all frames of a sequence must have the same size, pixel type and number of "
      "channels",
      made_grey
          ? frame.note
          : fmt::format("{} is {} {}", left.name(i), size_text(as_stored(frame.left.size())), kind_of(frame.left)),
      size_text(as_stored(given_size)), kind));
}

void MatchJob::rectify(InputFrame& frame) const {
  const Stopwatch watch;
  const auto replace = [&](AnyImage& image, Image<std::uint8_t>& mask, const Image<std::int32_t>& map, bool complete) {
    // If every pixel has a source and a value, no mask is needed, and matching without one is faster.
    const bool masked = !complete || !mask.empty() || image.view().type == PixelType::f32;
    RectifiedView made = rectified(image, map, mask, device.threads);
    image = std::move(made.image);
    mask = masked ? std::move(made.usable) : Image<std::uint8_t>();
  };
  replace(frame.left, frame.mask_left, maps->left, maps->left_complete);
  replace(frame.right, frame.mask_right, maps->right, maps->right_complete);
  frame.rectifying_ms = watch.ms();
}

InputFrame MatchJob::read_images(std::size_t i) const {
  const Stopwatch watch;
  InputFrame frame;
  auto [of_left, of_right] = read_pair(left, right, i);
  of_left = options.intensity.applied(std::move(of_left), left.name(i));
  of_right = options.intensity.applied(std::move(of_right), right.name(i));
  frame.note = make_alike(of_left.image, left.name(i), of_right.image, right.name(i), in_grey_);
  frame.left = std::move(of_left.image);
  frame.right = std::move(of_right.image);
  frame.mask_left = usable_pixels(read_mask_of(mask_left, frame, i), of_left, left.sequence);
  frame.mask_right = usable_pixels(read_mask_of(mask_right, frame, i), of_right, left.sequence);
  frame.no_data_left = of_left.no_data;
  frame.no_data_right = of_right.no_data;
  if (options.vertical) transpose(frame);
  frame.costs = costs;
  frame.reading_ms = watch.ms();
  return frame;
}

Image<std::uint8_t> MatchJob::read_mask_of(const std::optional<Frames>& mask, const InputFrame& frame,
                                           std::size_t i) const {
  if (!mask) return {};
  Image<std::uint8_t> pixels = read_mask(mask->file(i));
  require_size(left.name(i), frame.left.size(), mask->file(i), pixels.size());
  return pixels;
}

void MatchJob::check_size_dependent_options() {
  if (rig && rig->size != Size{}) options.rig.check_size(as_stored(rig->size), left.name(first_index), as_stored(size));
  if (options.roi.empty()) return;
  std::vector<int> numbers;
  std::istringstream parts(options.roi);
  for (std::string part; std::getline(parts, part, ',');) {
    const std::size_t begin = std::min(part.find_first_not_of(' '), part.size());
    numbers.push_back(to_integer("--roi", part.substr(begin, part.find_last_not_of(' ') + 1 - begin), 0,
                                 std::numeric_limits<int>::max()));
  }
  if (numbers.size() != 4 || numbers[2] == 0 || numbers[3] == 0)
    refuse(fmt::format("--roi {} is not allowed; it must be X,Y,WIDTH,HEIGHT with a width and height of at least 1",
                       options.roi));
  if (numbers[0] > size.width - numbers[2] || numbers[1] > size.height - numbers[3])
    refuse(fmt::format("--roi {} is not inside the image of {}; X + WIDTH may be at most {}, and Y + HEIGHT at most {}",
                       options.roi, size_text(size), size.width, size.height));
  region = Rect{numbers[0], numbers[1], numbers[2], numbers[3]};
}

}  // namespace stereopsis::command::matching
