// Black regions on the CPU. A flood from the border visits runs of black pixels, and nothing else.
#include <algorithm>
#include <cstring>
#include <limits>

#include "device/cpu/threads.hpp"
#include "stages/black_border/black_border.hpp"

namespace stereopsis::black_border {
namespace {

enum State : std::uint8_t { bright, black, flooded, small };

// Returns the largest integer that is black; for floats, the level itself.
template <class T>
T most_of(float level) {
  if constexpr (std::is_same_v<T, float>) return level;
  return static_cast<T>(std::min(level, static_cast<float>(std::numeric_limits<T>::max())));
}

// The loops have no branches, so that they vectorise.
template <int channels, class T>
void classify_row(const T* pixel, int width, float level, std::uint8_t* states) {
  const T most = most_of<T>(level);
  for (int x = 0; x < width; ++x, pixel += channels) {
    std::uint8_t all = pixel[0] <= most;
    if constexpr (channels > 1) all &= (pixel[1] <= most) & (pixel[2] <= most);
    states[x] = all;
  }
}

void write_row(const std::uint8_t* states, const std::uint8_t* mask, int width, std::uint8_t* usable) {
  for (int x = 0; x < width; ++x) {
    const bool excluded = (states != nullptr && states[x] == flooded) || (mask != nullptr && mask[x] == 0);
    usable[x] = excluded ? 0 : 255;
  }
}

// The states of all pixels, with a bright pixel around the image, and the runs that the flood has still to visit.
class Flood {
 public:
  Flood(Size size, std::span<std::byte> scratch)
      : size_(size),
        stride_(static_cast<std::int64_t>(size.width) + 2),
        runs_(reinterpret_cast<Run*>(scratch.data())),
        states_(reinterpret_cast<std::uint8_t*>(scratch.data() + run_bytes(size))) {}

  static std::size_t run_bytes(Size size) {
    return sizeof(Run) * (static_cast<std::size_t>(size.width) + 1) / 2 * static_cast<std::size_t>(size.height);
  }
  static std::size_t state_bytes(Size size) {
    return (static_cast<std::size_t>(size.width) + 2) * (static_cast<std::size_t>(size.height) + 2);
  }

  template <class T>
  void classify(const ImageView<const T>& image, float level, Threads& threads) {
    std::memset(states_, bright, static_cast<std::size_t>(stride_));
    std::memset(states_ + (size_.height + 1) * stride_, bright, static_cast<std::size_t>(stride_));
    threads.rows(size_.height, [&](int first, int last) {
      for (int y = first; y < last; ++y) {
        std::uint8_t* const row = states_ + (y + 1) * stride_;
        row[0] = row[stride_ - 1] = bright;
        const auto classify = image.channels == 1   ? classify_row<1, T>
                              : image.channels == 3 ? classify_row<3, T>
                                                    : classify_row<4, T>;
        classify(image.row(y), size_.width, level, row + 1);
      }
    });
  }

  void run() {
    for (int y = 0; y < size_.height; ++y) {
      const int step = y == 0 || y == size_.height - 1 ? 1 : std::max(1, size_.width - 1);
      for (int x = 0; x < size_.width; x += step)
        if (state(x, y) == black) flood(&state(x, y) - states_);
    }
  }

  const std::uint8_t* row(int y) const { return &state(0, y); }

 private:
  struct Run {
    std::int64_t first;
    std::int32_t count;
  };

  std::uint8_t& state(int x, int y) const { return states_[(y + 1) * stride_ + x + 1]; }

  // Adds the black run around a position to the region. Returns the position after the run.
  std::int64_t add(std::int64_t at) {
    std::int64_t first = at, end = at;
    while (states_[first - 1] == black) --first;
    while (states_[end] == black) ++end;
    std::memset(states_ + first, flooded, static_cast<std::size_t>(end - first));
    runs_[count_++] = {first, static_cast<std::int32_t>(end - first)};
    pixels_ += end - first;
    return end;
  }

  void add_beside(const Run& run, std::int64_t offset) {
    const std::int64_t end = run.first + offset + run.count;
    for (std::int64_t at = run.first + offset; at < end;) {
      const void* const found = std::memchr(states_ + at, black, static_cast<std::size_t>(end - at));
      if (found == nullptr) return;
      at = add(static_cast<const std::uint8_t*>(found) - states_);
    }
  }

  void flood(std::int64_t seed) {
    count_ = 0;
    pixels_ = 0;
    add(seed);
    for (std::size_t i = 0; i < count_; ++i) {
      const Run run = runs_[i];
      add_beside(run, -stride_);
      add_beside(run, stride_);
    }
    if (pixels_ >= fewest) return;
    for (std::size_t i = 0; i < count_; ++i)
      std::memset(states_ + runs_[i].first, small, static_cast<std::size_t>(runs_[i].count));
  }

  const Size size_;
  const std::int64_t stride_;
  Run* const runs_;
  std::uint8_t* const states_;
  std::size_t count_ = 0;
  std::int64_t pixels_ = 0;
};

}  // namespace

std::size_t scratch_bytes(Size image) { return Flood::run_bytes(image) + Flood::state_bytes(image); }

template <class T>
void cpu(const Parameters& p, const InputOf<T, ImageView>& in, ImageView<std::uint8_t> usable,
         std::span<std::byte> scratch, Threads& threads) {
  const bool floods = has_region(p, AnyView::of(in.image));
  Flood flood(in.image.size(), scratch);
  if (floods) {
    flood.classify(in.image, p.level, threads);
    flood.run();
  }
  threads.rows(usable.height, [&](int first, int last) {
    for (int y = first; y < last; ++y)
      write_row(floods ? flood.row(p.first.y + y) + p.first.x : nullptr, in.mask.empty() ? nullptr : in.mask.row(y),
                usable.width, usable.row(y));
  });
}

template void cpu(const Parameters&, const InputOf<std::uint8_t, ImageView>&, ImageView<std::uint8_t>,
                  std::span<std::byte>, Threads&);
template void cpu(const Parameters&, const InputOf<std::uint16_t, ImageView>&, ImageView<std::uint8_t>,
                  std::span<std::byte>, Threads&);
template void cpu(const Parameters&, const InputOf<float, ImageView>&, ImageView<std::uint8_t>, std::span<std::byte>,
                  Threads&);

}  // namespace stereopsis::black_border
