// Reads and writes the structs of the header for callers of any version, and converts them to C++.
#pragma once

#include <cstring>
#include <optional>

#include "c/guard.hpp"
#include "stereopsis/matcher.hpp"

namespace stereopsis::c {

// The sizes of the structs in the first version, 0.1. No caller has smaller structs.
template <class S>
inline constexpr std::size_t first_size = 0;
template <>
inline constexpr std::size_t first_size<sp_image> = 56;
template <>
inline constexpr std::size_t first_size<sp_method> = 32;
template <>
inline constexpr std::size_t first_size<sp_device> = 40;
template <>
inline constexpr std::size_t first_size<sp_parameter> = 112;
template <>
inline constexpr std::size_t first_size<sp_stage_call> = 104;
template <>
inline constexpr std::size_t first_size<sp_stage> = 56;
template <>
inline constexpr std::size_t first_size<sp_rig> = 48;
template <>
inline constexpr std::size_t first_size<sp_row_alignment> = 1008;
template <>
inline constexpr std::size_t first_size<sp_row_estimate> = 2040;
template <>
inline constexpr std::size_t first_size<sp_camera> = 216;
template <>
inline constexpr std::size_t first_size<sp_problem> = 136;
template <>
inline constexpr std::size_t first_size<sp_plan> = 56;
template <>
inline constexpr std::size_t first_size<sp_pair> = 48;
template <>
inline constexpr std::size_t first_size<sp_result> = 96;
template <>
inline constexpr std::size_t first_size<sp_stage_time> = 32;
template <>
inline constexpr std::size_t first_size<sp_allocator> = 32;

// Returns the size of the caller's struct. Throws an Error if the struct is larger than in this version of the library.
template <class S>
std::size_t size_of(const S* s, const char* name) {
  static_assert(sizeof(void*) != 8 || (first_size<S> >= 8 && first_size<S> <= sizeof(S)),
                "members may only be appended");
  if (s == nullptr) refuse(text(name, " is null; pass a struct whose struct_size is set"));
  const std::size_t least = sizeof(void*) == 8 ? first_size<S> : sizeof(S), size = s->struct_size;
  if (size > sizeof(S))
    throw Error(ErrorCategory::unsupported, text(name, ".struct_size is ", size, ", more than the ", sizeof(S),
                                                 " bytes that version ", STEREOPSIS_VERSION,
                                                 " of the library knows; set struct_size to the sizeof of the struct, "
                                                 "and use a library that is at least as new as the header"));
  if (size < least)
    refuse(text(name, ".struct_size is ", size, "; set it to the sizeof of the struct, which is at least ", least));
  return size;
}

// Returns a copy of the caller's struct. Members that the caller's header lacks are 0 in the copy.
template <class S>
S read(const S* s, const char* name) {
  S known{};
  std::memcpy(&known, s, size_of(s, name));
  return known;
}

// Writes the members that exist in the caller's header.
template <class S>
void write(S known, S* s, const char* name) {
  known.struct_size = size_of(s, name);
  std::memcpy(s, &known, known.struct_size);
}

PixelType pixel_type(std::int32_t type, const char* name);
std::optional<RowAlignment> row_alignment_of(const sp_row_alignment* given, const char* name);
std::optional<PixelFormat> pixel_format(std::int32_t format, const char* name);
std::int32_t number_of(PixelType type);
std::ptrdiff_t bytes_of(PixelType type);

// The image of a view, split into its pixel format and an image without a format.
struct GivenView {
  GivenView(const sp_image* given, const char* name);
  operator const sp_image*() const { return is_there ? &image : nullptr; }

  bool is_there;
  sp_image image;
  std::optional<PixelFormat> format;
};
// Returns the common format of both views.
std::optional<PixelFormat> format_of(const GivenView& left, const GivenView& right);

// Return a view of an image in host memory; for a null image, the view is empty.
AnyImageView host_image(const sp_image* image, const char* name);
AnyOutputView host_output(const sp_image* image, const char* name);
// Returns a view with the given pixel type; an empty view remains empty.
template <class T>
ImageView<T> typed(const AnyOutputView& v, const char* name) {
  if (v.data == nullptr) return {};
  if (v.type != pixel_type_of<T>)
    refuse(text(name, " has pixels of ", to_string(v.type), "; they must be ", to_string(pixel_type_of<T>)));
  return {static_cast<T*>(v.data), v.width, v.height, v.channels, v.pitch};
}
DeviceImageView device_image(const sp_image* image, const char* name);

// Returns the C struct of a view.
sp_image image_of(const DeviceImageView& view, std::int32_t place);

Problem problem_of(const sp_problem& p);
Device device_of(const sp_problem& p);

}  // namespace stereopsis::c
