// The memory of a matcher: one block, handed out front to back and given back in reverse, the same way at every run.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "core/text.hpp"
#include "stereopsis/image.hpp"

namespace stereopsis {

inline void check_end(std::size_t used, std::size_t size) {
  if (used > size)
    throw Error(ErrorCategory::memory, text("a run takes ", used, " bytes of workspace where ", size,
                                            " were planned; this is a fault of the library"));
}

// Without a block it only counts: bytes() is then what a run would take.
class Workspace {
 public:
  Workspace() = default;
  explicit Workspace(std::span<std::byte> block) : block_(block.data()), size_(block.size()) {}

  std::span<std::byte> memory(std::size_t bytes) {
    std::byte* start = block_ == nullptr ? nullptr : block_ + used_;
    used_ += (bytes + 63) / 64 * 64;
    most_used_ = std::max(most_used_, used_);
    if (block_ != nullptr) check_end(used_, size_);
    return {start, block_ == nullptr ? 0 : bytes};
  }
  template <class T>
  ImageView<T> image(Size size, int channels = 1) {
    constexpr std::ptrdiff_t lane = 64 / sizeof(T);
    const std::ptrdiff_t pitch = (static_cast<std::ptrdiff_t>(size.width) * channels + lane - 1) / lane * lane;
    const auto block = memory(sizeof(T) * pitch * size.height);
    return {reinterpret_cast<T*>(block.data()), size.width, size.height, channels, pitch};
  }
  bool counts_only() const { return block_ == nullptr; }
  // The most that was handed out at a time.
  std::size_t bytes() const { return most_used_; }

  // Everything handed out since used() said `used` is given back.
  std::size_t used() const { return used_; }
  void give_back(std::size_t used) { used_ = used; }

 private:
  std::byte* block_ = nullptr;
  std::size_t size_ = 0;
  std::size_t used_ = 0;
  std::size_t most_used_ = 0;
};

}  // namespace stereopsis
