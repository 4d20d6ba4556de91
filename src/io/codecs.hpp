// Codecs, which convert between file contents in memory and images. Codecs do not access files, so that they can be
// fuzzed directly. The functions of io.hpp prepend the name of the file to errors of the codecs.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stereopsis/image.hpp"
#include "stereopsis/pipeline.hpp"

namespace stereopsis::io {

using Bytes = std::span<const std::byte>;

inline Bytes bytes_of(std::string_view s) { return std::as_bytes(std::span(s.data(), s.size())); }
inline std::string_view text_of(Bytes b) { return {reinterpret_cast<const char*>(b.data()), b.size()}; }

// Meaning of the numbers in an integer image.
enum class Values {
  // Values of a PNM whose maxval is not 2^n − 1 (n = 8 to 16) are scaled to the full range of 8 or 16 bits.
  intensities,
  codes,  // values of masks and of disparities × scale are kept unchanged
};

// The decoded contents of a file. The alpha channel, and the value for pixels without data, are converted to a mask.
struct Decoded {
  AnyImage image;
  Image<std::uint8_t> mask = {};  // 255 = data, 0 = no data; empty if the file does not distinguish between them
  bool is_signed = false;         // true if the image had signed 16-bit integers, which are stored as floats
};

Decoded decode_png(Bytes file);
AnyImage decode_pnm(Bytes file, Values values);
int pnm_maxval(Bytes file);
AnyImage decode_jpeg(Bytes file);
class FileBytes;
// Decodes the image whose directory has this offset; 0: the first one.
Decoded decode_tiff(const FileBytes& file, std::uint64_t directory = 0);
AnyImage decode_pfm(Bytes file);
AnyImage decode_webp(Bytes file);
AnyImage decode_bmp(Bytes file);
AnyImage decode_jpeg2000(Bytes file);
// An image has 1 or 3 channels; a volume has one channel per disparity.
Decoded decode_npy(Bytes file, bool is_volume = false);
// Returns the orientation, 1 to 8, in a TIFF structure (tiff_pages.cpp), such as Exif data; 1 if there is none.
struct PhotoTags {
  int orientation = 1;  // 1 to 8
  int focal_35mm = 0;   // focal length of a camera with the same diagonal field of view on film, in mm; 0 if unknown
};
PhotoTags photo_tags(Bytes tiff);

// The header of an NPY image or volume; `head` must contain the complete header.
struct NpyHeader {
  Size size;
  std::uintmax_t file_bytes = 0;  // size of header and numbers
};
NpyHeader npy_header(Bytes head);

std::string encode_png(AnyImageView image);
std::string encode_pnm(AnyImageView image);
std::string encode_jpeg(AnyImageView image);
std::string encode_tiff(AnyImageView image);
std::string encode_webp(AnyImageView image);
std::string encode_jpeg2000(AnyImageView image);
std::string encode_pfm(ImageView<const float> image);
std::string encode_npy(AnyImageView image, bool is_volume = false);

// A pipeline read from JSON: {"method": …, "cost": {"stage": "rank", "window": 9}, …, "refinements": [{"stage":
// "median", "enabled": true, …}, …]}. Keys may be in any order. Files of earlier versions have one key per refinement:
// "median", "median2".
struct NamedSlots {
  std::string method;
  std::vector<PipelineSlot> slots;  // of each parameter, only the name and the value are read
};
NamedSlots slots_from_json(std::string_view json);
std::string slots_to_json(const NamedSlots& pipeline);
std::string value_to_json(const ParameterInfo& parameter);

// The size that a header declares, which is checked before memory is allocated.
struct Claim {
  const char* format;
  std::int64_t width;
  std::int64_t height;
  int channels;
  int bits;  // bits per sample in the file
};

// Throws for an image that is empty, exceeds the limits (2^20 pixels per side, 2^28 in total), or has more pixels than
// `available` bytes can encode. Each byte encodes at most `expansion` bytes of pixels.
void check(const Claim& claim, std::size_t available, double expansion = 1);
// Checks the size for a format in which a few bytes can encode an image of a single colour. Allows 64 MB of pixels,
// plus 20000 bytes of pixels for each byte of the file.
void check_as_compressed(const Claim& claim, std::size_t available);

// Loads a number in the byte order of the file.
template <class T>
T load(const std::byte* bytes, std::endian order) {
  std::array<std::byte, sizeof(T)> raw;
  std::copy_n(bytes, sizeof(T), raw.begin());
  if (order != std::endian::native) std::reverse(raw.begin(), raw.end());
  return std::bit_cast<T>(raw);
}

template <class T>
void append(std::string& bytes, T value, std::endian order) {
  auto raw = std::bit_cast<std::array<char, sizeof(T)>>(value);
  if (order != std::endian::native) std::reverse(raw.begin(), raw.end());
  bytes.append(raw.data(), raw.size());
}

}  // namespace stereopsis::io
