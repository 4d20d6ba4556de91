#include "jobs/inputs.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "jobs/fault_advice.hpp"
#include "jobs/pixels.hpp"
#include "jobs/stopwatch.hpp"
#include "jobs/texts.hpp"

namespace stereopsis::jobs {
namespace {

namespace fs = std::filesystem;
using sources::Frames, sources::refuse;

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
  left = grey_of(std::move(left));
  right = grey_of(std::move(right));
  return kinds + "; both are matched in grey";
}

Inputs::Inputs(const InputSettings& settings, FrontEnd& front_end) : settings_(settings), front_end_(front_end) {
  PairSourceOptions pairing = settings.pairing;
  pairing.keep_going = settings.keep_going;
  pairs_ = sources::find_pairs(settings.left, settings.right, pairing,
                               fmt::format("; {} skips images without a partner", front_end.spelled("keep_going")));
  if (!pairs_.note.empty()) front_end.remark(pairs_.note);
  masks_[0] = find_beside(settings.mask_left, "mask_left");
  masks_[1] = find_beside(settings.mask_right, "mask_right");
  if (const auto& dropped = without_partner(); !dropped.empty())
    front_end.warning(dropped.size() == 1 ? fmt::format("1 image has no partner and is skipped: {}", dropped[0])
                                          : fmt::format("{} images have no partner and are skipped: {} and {} more",
                                                        dropped.size(), dropped[0], dropped.size() - 1));
}

std::optional<Frames> Inputs::find_beside(const fs::path& given, const std::string& setting) const {
  if (given.empty()) return {};
  Frames files = sources::find_frames(given, front_end_.spelled(setting));
  if (files.sequence) {
    Frames partners = left();
    pair_up(partners, settings_.left, files, given,
            without_partner().empty() ? sources::Unpaired::refuse : sources::Unpaired::skip_of_second);
  }
  return files;
}

void Inputs::add_to(CallFiles& files) const {
  files.reads(pairs_);
  if (masks_[0]) files.reads(*masks_[0], front_end_.spelled("mask_left"));
  if (masks_[1]) files.reads(*masks_[1], front_end_.spelled("mask_right"));
}

std::vector<fs::path> Inputs::files_of(std::size_t i) const {
  std::vector<fs::path> files = {left().file(i), right().file(i)};
  if (std::error_code ignored; fs::is_regular_file(settings_.left, ignored))  // a list of pairs
    files.push_back(settings_.left);
  for (const auto& masks : masks_)
    if (masks) files.push_back(masks->file(i));
  return files;
}

InputFrame Inputs::read_first() {
  for (first_index_ = 0;; ++first_index_) try {
      InputFrame first = read_any(first_index_);
      size_ = first.left.size();
      kind_ = kind_of(first.left);
      const AnyImageView view = first.left;
      format_ = {view.type, view.channels, view.bit_depth};
      masked_[0] = !first.mask_left.empty();
      masked_[1] = !first.mask_right.empty();
      in_grey_ = !first.note.empty();
      if (in_grey_) front_end_.remark(first.note);
      remark_no_data(first);
      return first;
    } catch (const std::exception&) {
      if (!settings_.keep_going || first_index_ + 1 == left().size()) throw;
    }
}

InputFrame Inputs::read(std::size_t i) const {
  InputFrame frame = read_any(i);
  check_alike(frame, i);
  make_masks_alike(frame, i);
  return frame;
}

InputFrame Inputs::read_any(std::size_t i) const {
  const Stopwatch watch;
  InputFrame frame;
  auto [of_left, of_right] = sources::read_pair(left(), right(), i);
  of_left = settings_.intensities.applied(std::move(of_left), left().name(i), front_end_);
  of_right = settings_.intensities.applied(std::move(of_right), right().name(i), front_end_);
  frame.note = make_alike(of_left.image, left().name(i), of_right.image, right().name(i), in_grey_);
  frame.left = std::move(of_left.image);
  frame.right = std::move(of_right.image);
  frame.mask_left = usable_pixels(read_mask_of(0, frame, i), of_left, is_sequence());
  frame.mask_right = usable_pixels(read_mask_of(1, frame, i), of_right, is_sequence());
  frame.no_data_left = of_left.no_data;
  frame.no_data_right = of_right.no_data;
  if (settings_.vertical) transpose(frame);
  frame.reading_ms = watch.ms();
  return frame;
}

Image<std::uint8_t> Inputs::read_mask_of(int view, const InputFrame& frame, std::size_t i) const {
  if (!masks_[view]) return {};
  const fs::path& file = masks_[view]->file(i);
  Image<std::uint8_t> mask = read_mask(file);
  if (mask.size() != frame.left.size())
    refuse(fmt::format("{} is {} but {} is {}; both must have the same size", left().name(i),
                       size_text(frame.left.size()), file.string(), size_text(mask.size())));
  return mask;
}

std::string Inputs::shown_size(Size matched) const {
  return size_text(settings_.vertical ? Size{matched.height, matched.width} : matched);
}

void Inputs::check_alike(const InputFrame& frame, std::size_t i) const {
  if (frame.left.size() == size_ && kind_of(frame.left) == kind_) return;
  const bool made_grey = !frame.note.empty() && !in_grey_;
  refuse(fmt::format(
      "{}, but the first frame, {}, is {} {}; all frames of a call must have the same size, pixel type and number of "
      "channels: match the others in another call",
      made_grey ? frame.note
                : fmt::format("{} is {} {}", left().name(i), shown_size(frame.left.size()), kind_of(frame.left)),
      left().name(first_index()), shown_size(size_), kind_));
}

// A frame without an alpha channel in a sequence whose first frame has one has data everywhere.
void Inputs::make_masks_alike(InputFrame& frame, std::size_t i) const {
  const auto make_alike = [&](Image<std::uint8_t>& mask, bool has_mask, const std::string& name) {
    if (has_mask && mask.empty()) mask = Image<std::uint8_t>(frame.left.size(), 1, 255);
    if (!has_mask && !mask.empty())
      refuse(
          fmt::format("{} has pixels without data, but the first frame has no alpha channel and no mask; give all "
                      "frames an alpha channel, or a mask with {} or {}",
                      name, front_end_.spelled("mask_left"), front_end_.spelled("mask_right")));
  };
  make_alike(frame.mask_left, masked_[0], left().name(i));
  make_alike(frame.mask_right, masked_[1], right().name(i));
}

void Inputs::remark_no_data(const InputFrame& first) const {
  const auto say_of = [&](long long count, const AnyImage& image, const std::string& name) {
    if (count == 0) return;
    const double all = static_cast<double>(image.size().width) * image.size().height;
    front_end_.remark(fmt::format("{} pixels of {} ({:.1f} %) are no data, and are masked", count, name,
                                  100 * static_cast<double>(count) / all));
  };
  say_of(first.no_data_left, first.left, left().name(first_index_));
  say_of(first.no_data_right, first.right, right().name(first_index_));
}

}  // namespace stereopsis::jobs
