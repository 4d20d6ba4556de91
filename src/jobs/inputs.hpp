// The pairs of a run, with masks and intensities. All frames have the size, the pixel type, the channels and the masks
// of the first one, because one plan serves all of them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "jobs/call_files.hpp"
#include "jobs/frame.hpp"
#include "jobs/front_end.hpp"
#include "jobs/intensities.hpp"
#include "sources/pairs.hpp"

namespace stereopsis::jobs {

struct InputSettings {
  std::filesystem::path left, right;            // as sources::find_pairs() takes them
  std::filesystem::path mask_left, mask_right;  // one mask, or one for each frame; empty: none
  PairSourceOptions pairing;
  Intensities intensities;
  bool vertical = false;    // the cameras are above each other: rows and columns are exchanged for matching
  bool keep_going = false;  // images without a partner, and frames that cannot be read, are skipped
};

// The format that all images of a run have.
struct InputFormat {
  PixelType type = PixelType::u8;
  int channels = 1, bit_depth = 8;

  std::size_t bytes_per_pixel() const {
    const std::size_t bytes = type == PixelType::u8 ? 1 : type == PixelType::u16 ? 2 : 4;
    return bytes * static_cast<std::size_t>(channels);
  }
};

// Returns the pixel type and the channels of an image: "uint8 RGB".
std::string kind_of(const AnyImageView& image);

// Converts both images of a pair to grey (ITU-R BT.601, rounded as the stages do it) if only one has colours, or if
// `in_grey`. Returns a note on the conversion; empty if the images are alike. Throws Error(call) for images of
// different sizes or pixel types.
std::string make_alike(AnyImage& left, const std::string& left_name, AnyImage& right, const std::string& right_name,
                       bool in_grey = false);

class Inputs {
 public:
  // Finds all files, and warns of images without a partner. Throws an Error for files that do not exist or that do not
  // pair up. Both arguments must outlive the object.
  Inputs(const InputSettings& settings, FrontEnd& front_end);

  const sources::Frames& left() const { return pairs_.left; }
  const sources::Frames& right() const { return pairs_.right; }
  bool is_sequence() const { return pairs_.left.sequence; }
  bool is_video() const { return pairs_.left.video || pairs_.right.video; }
  bool has_mask_files() const { return masks_[0] || masks_[1]; }
  const std::vector<std::string>& without_partner() const { return pairs_.dropped; }
  // Finds one file for all frames, or one for each frame; nothing if nothing is given.
  std::optional<sources::Frames> find_beside(const std::filesystem::path& given, const std::string& setting) const;
  void add_to(CallFiles& files) const;
  // Returns the files that a frame depends on.
  std::vector<std::filesystem::path> files_of(std::size_t i) const;

  // Reads the first frame that can be read, whose properties the others must have. Must come before read().
  InputFrame read_first();
  std::size_t first_index() const { return first_index_; }
  // Returns the size of the images as they are matched; with `vertical`, rows and columns are exchanged.
  Size image_size() const { return size_; }

  const InputFormat& format() const { return format_; }

  // Reads a frame. Throws an Error if it differs from the first one.
  InputFrame read(std::size_t i) const;
  // Reads a frame whatever its properties are.
  InputFrame read_any(std::size_t i) const;

 private:
  Image<std::uint8_t> read_mask_of(int view, const InputFrame& frame, std::size_t i) const;
  void check_alike(const InputFrame& frame, std::size_t i) const;
  void make_masks_alike(InputFrame& frame, std::size_t i) const;
  void remark_no_data(const InputFrame& first) const;
  std::string shown_size(Size matched) const;

  const InputSettings& settings_;
  FrontEnd& front_end_;
  sources::Pairs pairs_;
  std::optional<sources::Frames> masks_[2];  // the masks of the left images and of the right images
  std::size_t first_index_ = 0;
  InputFormat format_;
  Size size_;
  std::string kind_;
  bool masked_[2] = {};   // frames have masks, given or from their files
  bool in_grey_ = false;  // the first pair is of a colour and a grey image, so all pairs are matched in grey
};

}  // namespace stereopsis::jobs
