#include "api/overlaps.hpp"

#include <array>

#include "api/refuse.hpp"
#include "api/results.hpp"

namespace stereopsis {
namespace {

// The memory that an image covers: rows of bytes at a pitch.
struct Memory {
  const char* name = nullptr;
  std::uint64_t buffer = 0;  // the OpenCL buffer; 0: memory has addresses
  std::uint64_t start = 0;   // the address, or the offset in the buffer
  std::uint64_t row_bytes = 0, pitch = 0;
  std::uint64_t rows = 0;

  std::uint64_t end() const { return start + (rows - 1) * pitch + row_bytes; }
};

// Whether two images have a byte in common. Crops of one image may lie side by side, so that rows alternate.
bool overlap(const Memory& a, const Memory& b) {
  if (a.buffer != b.buffer || a.start >= b.end() || b.start >= a.end()) return false;
  for (std::uint64_t y = 0; y < a.rows; ++y) {
    const std::uint64_t row = a.start + y * a.pitch, row_end = row + a.row_bytes;
    if (row_end <= b.start || row >= b.end()) continue;
    // The last row of b that starts before this row of a ends.
    const std::uint64_t last = b.pitch == 0 ? 0 : std::min((row_end - 1 - b.start) / b.pitch, b.rows - 1);
    if (b.start + last * b.pitch + b.row_bytes > row) return true;
  }
  return false;
}

std::uint64_t bytes_of(PixelType type) { return static_cast<std::uint64_t>(bytes_of(element_of(type))); }

Memory memory_of(const char* name, std::uint64_t buffer, std::uint64_t start, PixelType type, Size size, int channels,
                 std::ptrdiff_t pitch) {
  return {name,
          buffer,
          start,
          static_cast<std::uint64_t>(size.width) * static_cast<std::uint64_t>(channels) * bytes_of(type),
          static_cast<std::uint64_t>(pitch) * bytes_of(type),
          static_cast<std::uint64_t>(size.height)};
}

// The images of one call: at most 11 of a pair and 15 of a result, so that nothing is allocated for a frame.
class Images {
 public:
  template <class T>
  void add(const char* name, const ImageView<T>& v) {
    add(name, AnyImageView(v));
  }
  void add(const char* name, const AnyOutputView& v) { add_host(name, v); }
  void add(const char* name, const AnyImageView& v) { add_host(name, v); }
  void add(const char* name, const DeviceImageView& v, bool has_addresses) {
    if (v.empty()) return;
    const std::uint64_t offset = static_cast<std::uint64_t>(v.offset) * bytes_of(v.type);
    add(has_addresses ? memory_of(name, 0, v.memory + offset, v.type, v.size(), v.channels, v.pitch)
                      : memory_of(name, v.memory, offset, v.type, v.size(), v.channels, v.pitch));
  }

  const Memory* begin() const { return list_.data(); }
  const Memory* end() const { return list_.data() + count_; }

 private:
  template <class View>
  void add_host(const char* name, const View& v) {
    // A pitch below the row is allowed only where the image is not read.
    if (!v.empty() && v.pitch >= std::int64_t{v.width} * v.channels)
      add(memory_of(name, 0, reinterpret_cast<std::uintptr_t>(v.data), v.type, v.size(), v.channels, v.pitch));
  }
  void add(const Memory& memory) { list_[count_++] = memory; }

  std::array<Memory, 16> list_;
  std::size_t count_ = 0;
};

void check(const Images& inputs, const Images& outputs) {
  for (const Memory& output : outputs) {
    for (const Memory& input : inputs)
      if (overlap(output, input))
        refuse(text("the memory for ", output.name, " overlaps ", input.name,
                    ", which is read while results are written; give each output memory of its own"));
    for (const Memory* other = outputs.begin(); other != &output; ++other)
      if (overlap(output, *other))
        refuse(text("the memory for ", output.name, " overlaps the memory for ", other->name,
                    "; give each output memory of its own"));
  }
}

Images inputs_of(const StereoPair& pair) {
  Images images;
  images.add("the left image", pair.left);
  images.add("the right image", pair.right);
  images.add("the left mask", pair.mask_left);
  images.add("the right mask", pair.mask_right);
  images.add("the given cost volume", pair.costs);
  images.add("the path costs above the stripe", pair.paths_above);
  images.add("the path costs below the stripe", pair.paths_below);
  images.add("the given disparity", pair.maps.disparity);
  images.add("the given validity", pair.maps.validity);
  images.add("the given disparity of the right view", pair.maps.right);
  images.add("the given confidence", pair.maps.confidence);
  return images;
}

const AnyOutputView& shown(const AnyOutputView& v) { return v; }
AnyImageView shown(const AnyImage& image) { return image; }
template <class T>
ImageView<const T> shown(const Image<T>& image) {
  return image;
}
template <class T>
ImageView<const T> shown(const ImageView<T>& view) {
  return view;
}

template <class Result>
Images outputs_of(const Result& result) {
  Images images;
  for_each_image(result, [&](Binding e, const auto& image) { images.add(name_of(e), shown(image)); });
  for_each_volume(result, [&](Binding e, const auto& volume) { images.add(name_of(e), shown(volume)); });
  images.add("the rectified image", shown(result.rectified));
  images.add("the path costs", shown(result.paths));
  for (const auto& probed : result.probed) images.add("the probed costs", shown(probed));
  return images;
}

}  // namespace

void check_overlaps(const StereoPair& pair, const MatchedViews& result) { check(inputs_of(pair), outputs_of(result)); }
void check_overlaps(const StereoPair& pair, const Matched& result) { check(inputs_of(pair), outputs_of(result)); }

void check_overlaps(const Plan& plan, const DevicePair& pair, const DeviceMatched& result) {
  const bool has_addresses = plan.device().name.starts_with("cuda");
  Images inputs, outputs;
  inputs.add("the left image", pair.left, has_addresses);
  inputs.add("the right image", pair.right, has_addresses);
  inputs.add("the left mask", pair.mask_left, has_addresses);
  inputs.add("the right mask", pair.mask_right, has_addresses);
  inputs.add("the given cost volume", pair.costs, has_addresses);
  const auto add_output = [&](Binding e, const DeviceImageView& v) { outputs.add(name_of(e), v, has_addresses); };
  for_each_image(result, add_output);
  for_each_volume(result, add_output);
  check(inputs, outputs);
}

}  // namespace stereopsis
