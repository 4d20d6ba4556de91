// Codecs between memory and images. They do not access files, so that they can be fuzzed directly; the functions of
// io.hpp prepend the file's name to their errors.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stereopsis/image.hpp"
#include "stereopsis/pipeline.hpp"

namespace stereopsis::io {

using Bytes = std::span<const std::byte>;

inline Bytes bytes_of(std::string_view s) { return std::as_bytes(std::span(s)); }
inline std::string_view text_of(Bytes b) { return {reinterpret_cast<const char*>(b.data()), b.size()}; }

// Meaning of the numbers in an integer image.
enum class Values {
  intensities,  // a PNM whose maxval is not 2^n − 1 (n = 8 to 16) is scaled to the full range of 8 or 16 bits
  codes,        // masks and disparities × scale: kept unchanged
};

// The contents of a file, with its alpha channel and its value for no data as a mask.
struct Decoded {
  AnyImage image;
  Image<std::uint8_t> mask = {};  // 255 = data, 0 = no data; empty if the file does not distinguish them
  bool is_signed = false;         // the image holds signed 16-bit integers, as floats
};

Decoded decode_png(Bytes file);
AnyImage decode_pnm(Bytes file, Values values);
int pnm_maxval(Bytes file);
AnyImage decode_jpeg(Bytes file);
Decoded decode_tiff(Bytes file);
AnyImage decode_pfm(Bytes file);
AnyImage decode_webp(Bytes file);
AnyImage decode_bmp(Bytes file);
AnyImage decode_jpeg2000(Bytes file);
// An image has 1 or 3 channels; a volume has one channel per disparity.
Decoded decode_npy(Bytes file, bool is_volume = false);
// Returns the orientation, 1 to 8, that a TIFF structure gives, such as Exif data; 1 if it gives none.
int tiff_orientation(Bytes tiff);

// The header of an NPY image or volume; `head` holds at least the header.
struct NpyHeader {
  Size size;
  std::uintmax_t file_bytes = 0;  // header and numbers
};
NpyHeader npy_header(Bytes head);

std::string encode_png(AnyImageView image);
std::string encode_pnm(AnyImageView image);
std::string encode_jpeg(AnyImageView image);
std::string encode_tiff(AnyImageView image);
std::string encode_pfm(ImageView<const float> image);
std::string encode_npy(AnyImageView image, bool is_volume = false);

// A pipeline read from JSON: {"method": …, "cost": {"stage": "rank", "window": 9}, …, "refinements": [{"stage":
// "median", "enabled": true, …}, …]}. Keys may be in any order. Files of earlier versions have one key per refinement:
// "median", "median2".
struct NamedSlots {
  std::string method;
  std::vector<PipelineSlot> slots;  // only the name and the value of a parameter are read
};
NamedSlots slots_from_json(std::string_view json);
std::string slots_to_json(const NamedSlots& pipeline);
std::string value_to_json(const ParameterInfo& parameter);

// The size that a header declares, checked before any allocation.
struct Claim {
  const char* format;
  std::int64_t width;
  std::int64_t height;
  int channels;
  int bits;  // per sample, in the file
};

// Throws for an image that is empty or beyond the limits (2^20 pixels per side, 2^28 in total), or whose pixels cannot
// come from `available` bytes. Each byte gives at most `expansion` bytes of pixels.
void check(const Claim& claim, std::size_t available, double expansion = 1);
// Does the same for a format in which a few bytes can describe an image of a single colour: allows 64 MB of pixels, and
// 20000 bytes of pixels for each byte.
void check_as_compressed(const Claim& claim, std::size_t available);

// Loads a number in the file's byte order.
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
