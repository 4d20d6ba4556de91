// Staging buffers in pinned memory for images that a device cannot copy directly.
#pragma once

#include <cstring>
#include <map>
#include <memory>

#include "device/gpu/device.hpp"
#include "graph/any_view.hpp"

namespace stereopsis {

class PinnedStaging {
 public:
  // Returns the image itself, or a copy of it in its staging buffer.
  AnyView copied(gpu::Device& device, std::size_t slot, const AnyView& image) {
    const AnyView to = instead(device, slot, image);
    copy(image, to);
    return to;
  }
  // Returns the image itself, or its staging buffer, whose contents deliver() copies to the image.
  AnyView instead(gpu::Device& device, std::size_t slot, const AnyView& image) {
    if (image.memory == 0 || gpu::is_page_locked(device, reinterpret_cast<const void*>(image.memory))) return image;
    AnyView there = image;
    there.offset = 0;
    there.pitch = pitch_of(image);
    const std::size_t bytes = bytes_for(image);
    Piece& piece = pieces_[slot];
    if (piece.bytes < bytes) {
      piece = {};
      piece.memory.reset(gpu::allocate_page_locked(device, bytes));
      piece.bytes = bytes;
    }
    there.memory = reinterpret_cast<std::uint64_t>(piece.memory.get());
    return there;
  }
  static void deliver(const AnyView& from, const AnyView& to) { copy(from, to); }
  // Returns the size of the staging buffer of an image of this shape.
  static std::size_t bytes_for(const AnyView& image) {
    return static_cast<std::size_t>(bytes_of(image.element)) * pitch_of(image) * image.height;
  }

 private:
  static std::int64_t pitch_of(const AnyView& image) {
    const int line = 64 / bytes_of(image.element);
    return (image.row_elements() + line - 1) / line * line;
  }
  static void copy(const AnyView& from, const AnyView& to) {
    if (from.memory == to.memory || from.empty()) return;
    const std::size_t element = bytes_of(from.element), row = element * from.row_elements();
    const auto at = [&](const AnyView& v, int y) {
      return reinterpret_cast<char*>(v.memory) + element * (v.offset + y * v.pitch);
    };
    for (int y = 0; y < from.height; ++y) std::memcpy(at(to, y), at(from, y), row);
  }

  struct Release {
    void operator()(void* memory) const { gpu::release_page_locked(memory); }
  };
  struct Piece {
    std::unique_ptr<void, Release> memory;
    std::size_t bytes = 0;
  };
  std::map<std::size_t, Piece> pieces_;
};

}  // namespace stereopsis
