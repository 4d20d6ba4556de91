// Codecs: memory to image and back. They know no files, so that they can be fuzzed as they are; the functions of
// io.hpp put the file's name in front of what they throw.
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

// What the numbers of an integer image mean.
enum class Values {
  intensities,  // a PNM whose maxval is not 2^n − 1 (n = 8 to 16) is brought to the full range of 8 or 16 bits
  codes,        // masks, disparities × scale: kept as they are
};

AnyImage decode_png(Bytes file);
AnyImage decode_pnm(Bytes file, Values values);
int pnm_maxval(Bytes file);
AnyImage decode_jpeg(Bytes file);
AnyImage decode_tiff(Bytes file);
AnyImage decode_pfm(Bytes file);
// An image has 1 or 3 channels, a volume one for each disparity.
AnyImage decode_npy(Bytes file, bool is_volume = false);

// Reads the header of an NPY image or volume; `head` holds at least the header.
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

// A pipeline as JSON: {"method": …, "cost": {"stage": "rank", "window": 9}, …, "refinements": [{"stage": "median", "enabled":
// true, …}, …]}. Keys come in any order. Files of earlier versions have each refinement as a key: "median", "median2".
struct NamedSlots {
  std::string method;
  std::vector<PipelineSlot> slots;  // of a parameter, only name and value are read
};
NamedSlots slots_from_json(std::string_view json);
std::string slots_to_json(const NamedSlots& pipeline);
std::string value_to_json(const ParameterInfo& parameter);

// The size that a header claims, before anything is allocated for it.
struct Claim {
  const char* format;
  std::int64_t width;
  std::int64_t height;
  int channels;
  int bits;  // of a sample, in the file
};

// Refuses an image that is empty, beyond what is read at all (2^20 pixels a side, 2^28 in all), or whose pixels
// can't come out of `available` bytes, each of which gives `expansion` bytes of pixels at the most.
void check(const Claim& claim, std::size_t available, double expansion = 1);

// A number as the file has it.
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
