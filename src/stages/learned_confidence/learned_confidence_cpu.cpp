#include <algorithm>
#include <atomic>
#include <cstring>

#include "device/cpu/threads.hpp"
#include "stages/learned_confidence/learned_confidence.hpp"
#include "stages/learned_confidence/learned_confidence_memory.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/learned_confidence/learned_confidence_cpu.cpp"
#include <hwy/foreach_target.h>

#include "device/cpu/highway-inl.hpp"
#include "stages/learned_confidence/learned_confidence_evidence_cpu-inl.hpp"
#include "stages/shared/convolution_cpu-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::learned_confidence::HWY_NAMESPACE {

// Applies layer 0 to a row of evidence: [channel][x].
HWY_INLINE void first_layer(const Evidence& e, std::span<const std::int32_t> weights, std::uint8_t* after) {
  const D32 d;
  const hn::Rebind<std::int8_t, D32> d8;
  const int lanes = static_cast<int>(hn::Lanes(d));
  for (int x = 0; x < e.size.width; x += lanes) {
    for (int o = 0; o < first_channels; ++o) {
      V32 sum = hn::Set(d, weights[o] + (1 << (shift - 1)));
      for (int g = 0; g < groups_of(evidence_channels); ++g)
        sum = convolution::HWY_NAMESPACE::add_products(sum, hn::LoadU(d, e.groups + g * e.pitch + x),
                                                       hn::Set(d, weights[(g + 1) * first_channels + o]));
      const V32 value = hn::Max(hn::ShiftRight<shift>(sum), hn::Zero(d));
      // Saturates at 127.
      hn::StoreU(hn::DemoteTo(d8, value), d8, reinterpret_cast<std::int8_t*>(after) + o * e.pitch + x);
    }
  }
}

// Writes the channels of two rows, [row][channel][x], as those of a row of half the size. Two columns are one number.
HWY_INLINE void interleave(const std::uint8_t* rows, std::ptrdiff_t pitch, int width, std::uint8_t* to) {
  const hn::ScalableTag<std::uint16_t> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  HWY_ALIGN std::uint16_t four[4 * hn::MaxLanes(d)];
  const auto two_columns = [&](int c, int j, int x) HWY_ATTR {
    return hn::LoadU(d, reinterpret_cast<const std::uint16_t*>(rows + (j * first_channels + c) * pitch) + x);
  };
  for (int x = 0; x < width; x += lanes)
    for (int c = 0; c < first_channels; c += 2) {
      hn::StoreInterleaved4(two_columns(c, 0, x), two_columns(c, 1, x), two_columns(c + 1, 0, x),
                            two_columns(c + 1, 1, x), d, four);
      for (int p = 0; p < std::min(lanes, width - x); ++p)
        std::memcpy(to + (x + p) * channels + 4 * c, four + 4 * p, sizeof(std::uint16_t) * 4);
    }
}

// Computes row y of layer 0 at half the size. `made` has memory for two rows of the image's size.
void pixel_row(const Evidence& e, std::span<const std::int32_t> weights, int y, std::uint8_t* made, const Plane& to) {
  const int width = e.size.width;
  for (const int j : {0, 1}) {
    const int row = std::min(2 * y + j, e.size.height - 1);
    evidence_row(e, row);
    std::uint8_t* const channels_of_row = made + j * first_channels * e.pitch;
    first_layer(e, weights, channels_of_row);
    if (width % 2 == 1)
      for (std::uint8_t* c = channels_of_row; c < channels_of_row + first_channels * e.pitch; c += e.pitch)
        c[width] = c[width - 1];
  }
  interleave(made, e.pitch, to.size.width, to.row(y));
  to.surround(y);
}

void convolved_row(const PackedConvolution& layer, const Plane& before, int y, std::uint8_t* after) {
  const std::uint8_t* const rows[3] = {before.before(y - 1), before.before(y), before.before(y + 1)};
  convolution::HWY_NAMESPACE::row(layer, rows, before.size.width, after);
}

// Computes row y of a plane from the plane of twice the size. If the size of that plane is odd, its last row is repeated,
// and so is its last column.
void halved_row(const Plane& from, int y, const Plane& to) {
  using D = hn::CappedTag<std::uint16_t, channels>;
  const D d16;
  const hn::Rebind<std::uint8_t, D> d;
  const auto wide = [&](const std::uint8_t* at) HWY_ATTR { return hn::PromoteTo(d16, hn::LoadU(d, at)); };
  const std::uint8_t *const a = from.row(2 * y), *const b = from.row(2 * y + 1);
  std::uint8_t* const out = to.row(y);
  for (int x = 0; x < to.size.width; ++x)
    for (int c = 0; c < channels; c += static_cast<int>(hn::Lanes(d))) {
      const int at = 2 * x * channels + c;
      const auto sum =
          hn::Add(hn::Add(wide(a + at), wide(a + at + channels)), hn::Add(wide(b + at), wide(b + at + channels)));
      const auto mean = hn::BitCast(hn::RebindToSigned<D>(), hn::ShiftRight<2>(hn::Add(sum, hn::Set(d16, 2))));
      hn::StoreU(hn::DemoteTo(d, mean), d, out + x * channels + c);
    }
  to.surround(y);
}

// Computes row y of the sum of a plane, doubled in size, and another one.
void doubled_sum_row(const Plane& half, const Plane& whole_size, int y, const Plane& to) {
  const hn::CappedTag<std::uint8_t, channels> d;
  const std::uint8_t *const a = half.row(y / 2), *const b = whole_size.row(y);
  std::uint8_t* const out = to.row(y);
  for (int x = 0; x < to.size.width; ++x)
    for (int c = 0; c < channels; c += static_cast<int>(hn::Lanes(d))) {
      const int at = x * channels + c;
      hn::StoreU(hn::AverageRound(hn::LoadU(d, a + x / 2 * channels + c), hn::LoadU(d, b + at)), d, out + at);
    }
  to.surround(y);
}

void source_row(const Input& in, int y, const Evidence& e) { fill_row(in, y, e); }

}  // namespace stereopsis::learned_confidence::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::learned_confidence {
namespace {

HWY_EXPORT(source_row);
HWY_EXPORT(pixel_row);
HWY_EXPORT(convolved_row);
HWY_EXPORT(halved_row);
HWY_EXPORT(doubled_sum_row);

// A thread needs three rows of a plane, and computes the next one.
constexpr int kept_rows = 4;

// The planes that all threads share: results of the layers at half, a quarter and an eighth of the size.
struct Planes {
  Planes(Taker& taker, Size half)
      : s0(taker, half),
        quarter_a(taker, half_of(half)),
        quarter_b(taker, half_of(half)),
        s1(taker, half_of(half)),
        eighth_a(taker, half_of(half_of(half))),
        eighth_b(taker, half_of(half_of(half))) {}

  Plane s0, quarter_a, quarter_b, s1, eighth_a, eighth_b;
};

// Memory of the first part of a thread's work, up to layer 1.
struct Encoder {
  Encoder(Taker& taker, Size size)
      : evidence(taker, size),
        made(taker.take<std::uint8_t>(2 * first_channels * evidence.pitch)),
        pixels(taker, half_of(size), kept_rows) {}

  Evidence evidence;
  std::uint8_t* made;
  Plane pixels;
};

// Memory of the last parts of a thread's work, from layer 6 on.
struct Decoder {
  Decoder(Taker& taker, Size half)
      : sums(taker, half, kept_rows),
        quarter_sums(taker, half_of(half), kept_rows),
        last(taker, half, kept_rows),
        logit_rows(taker.take<std::int8_t>(static_cast<std::ptrdiff_t>(half.width + spare_pixels) *
                                           PackedConvolution::padded(logits))) {}

  Plane sums, quarter_sums, last;
  std::int8_t* logit_rows;
};

std::size_t bytes_of_thread(Size size) {
  Taker encoding, decoding;
  const Encoder encoder(encoding, size);
  const Decoder decoder(decoding, half_of(size));
  return with_gap(std::max(encoding.bytes, decoding.bytes));
}
std::size_t bytes_of_planes(Size size) {
  Taker taker;
  const Planes planes(taker, half_of(size));
  return taker.bytes;
}

// A convolution in the order of the vectors.
const PackedConvolution& packed(int layer) {
  static const std::vector<PackedConvolution> made(network().convolutions.begin(), network().convolutions.end());
  return made[layer - 1];
}

// A worker of a thread, which applies layers to bands of rows. Between layers, the rows of a band are in the cache.
// Bands compute again the rows that they share.
class Worker {
 public:
  Worker(const Input& in, ImageView<float> confidence, const Planes& planes, std::span<std::byte> memory)
      : in_(in), confidence_(confidence), p_(planes), memory_(memory) {}

  // Computes s₀, and halves it.
  void encode(int first, int last) const {
    Taker taker{memory_};
    const Encoder encoder(taker, in_.disparity.size());
    const Evidence& e = encoder.evidence;
    std::fill_n(e.inside.row(0), e.size.width, 255);
    e.inside.surround(0, e.size.width, 0, 0);
    int next_source = std::max(2 * (first - 1) - Evidence::reach, 0);
    Following pixels(encoder.pixels, first);
    for (int y = first; y < last; ++y) {
      pixels.up_to(y + 1, [&](int row) {
        for (; next_source < std::min(2 * row + 2 + Evidence::reach, e.size.height); ++next_source)
          HWY_DYNAMIC_DISPATCH(source_row)(in_, next_source, e);
        HWY_DYNAMIC_DISPATCH(pixel_row)(e, gpu_words(), row, encoder.made, encoder.pixels);
      });
      convolve(1, encoder.pixels, p_.s0, y);
      halve(p_.s0, y, p_.quarter_a);
    }
  }

  // Applies one of the layers from 2 to 5.
  void convolve_rows(int layer, const Plane& before, const Plane& after, int first, int last) const {
    for (int y = first; y < last; ++y) convolve(layer, before, after, y);
  }
  // Computes s₁, and halves it.
  void finish_s1(int first, int last) const {
    for (int y = first; y < last; ++y) {
      convolve(3, p_.quarter_b, p_.s1, y);
      halve(p_.s1, y, p_.eighth_a);
    }
  }

  // Applies layer 6.
  void decode_quarter(int first, int last) const {
    Taker taker{memory_};
    const Decoder decoder(taker, p_.s0.size);
    Following sums(decoder.quarter_sums, first);
    for (int y = first; y < last; ++y) {
      sums.up_to(y + 1, [&](int row) {
        HWY_DYNAMIC_DISPATCH(doubled_sum_row)(p_.eighth_a, p_.s1, row, decoder.quarter_sums);
      });
      convolve(6, decoder.quarter_sums, p_.quarter_b, y);
    }
  }

  // Applies layers 7 and 8.
  void decode(int first, int last) const {
    Taker taker{memory_};
    const Decoder decoder(taker, p_.s0.size);
    Following sums(decoder.sums, first - 1), last_plane(decoder.last, first);
    for (int y = first; y < last; ++y) {
      last_plane.up_to(y + 1, [&](int row) {
        sums.up_to(row + 1, [&](int sum_row) {
          HWY_DYNAMIC_DISPATCH(doubled_sum_row)(p_.quarter_b, p_.s0, sum_row, decoder.sums);
        });
        convolve(7, decoder.sums, decoder.last, row);
      });
      HWY_DYNAMIC_DISPATCH(convolved_row)
      (packed(8), decoder.last, y, reinterpret_cast<std::uint8_t*>(decoder.logit_rows));
      look_up(decoder.logit_rows, 2 * y);
    }
  }

 private:
  // The next row of a plane that a band computes, from the row before its first one on.
  class Following {
   public:
    Following(const Plane& plane, int first) : height_(plane.size.height), next_(std::max(first - 1, 0)) {}
    // Calls f(row) for each missing row up to y.
    template <class F>
    void up_to(int y, F&& f) {
      for (; next_ <= std::min(y, height_ - 1); ++next_) f(next_);
    }

   private:
    int height_, next_;
  };

  void convolve(int layer, const Plane& before, const Plane& after, int y) const {
    HWY_DYNAMIC_DISPATCH(convolved_row)(packed(layer), before, y, after.row(y));
    after.surround(y);
  }
  // Halves rows y − 1 and y if row y is the second one of a pair, or the last one.
  static void halve(const Plane& from, int y, const Plane& to) {
    if (y % 2 == 1 || y == from.size.height - 1) HWY_DYNAMIC_DISPATCH(halved_row)(from, y / 2, to);
  }

  // Looks up the probabilities of two rows of logits.
  void look_up(const std::int8_t* logit, int y) const {
    const auto& probability = network().probability;
    for (int j = 0; j < 2 && y + j < confidence_.height; ++j) {
      const float* const disparity = in_.disparity.row(y + j);
      float* const confidence = confidence_.row(y + j);
      for (int x = 0; x < confidence_.width; ++x)
        confidence[x] =
            in_16ths(disparity[x]) == nothing
                ? 0.0f
                : probability[logit[x / 2 * PackedConvolution::padded(logits) + 2 * j + x % 2] + most_logit];
    }
  }

  const Input& in_;
  ImageView<float> confidence_;
  const Planes& p_;
  std::span<std::byte> memory_;
};

}  // namespace

std::size_t scratch_bytes(Size size, int threads) { return bytes_of_planes(size) + threads * bytes_of_thread(size); }

void cpu(const Input& in, ImageView<float> confidence, std::span<std::byte> scratch, Threads& threads) {
  const Size size = in.disparity.size();
  Taker taker{scratch};
  const Planes p(taker, half_of(size));
  const auto in_bands = [&](int rows, auto&& apply) {
    // Bands of an even number of rows begin with a pair of rows.
    const int band = std::max(16, (rows / (4 * threads.count()) + 1) / 2 * 2);
    std::atomic<int> next = 0;
    threads.each([&](int thread) {
      const std::size_t bytes = bytes_of_thread(size);
      const Worker worker(in, confidence, p, scratch.subspan(taker.bytes + thread * bytes, bytes));
      for (int first; (first = next.fetch_add(band)) < rows;) apply(worker, first, std::min(first + band, rows));
    });
  };
  const auto convolve = [&](int layer, const Plane& before, const Plane& after) {
    in_bands(before.size.height, [&](const Worker& worker, int first, int last) {
      worker.convolve_rows(layer, before, after, first, last);
    });
  };
  const int half = p.s0.size.height, quarter = p.s1.size.height;
  in_bands(half, [](const Worker& worker, int first, int last) { worker.encode(first, last); });
  convolve(2, p.quarter_a, p.quarter_b);
  in_bands(quarter, [](const Worker& worker, int first, int last) { worker.finish_s1(first, last); });
  convolve(4, p.eighth_a, p.eighth_b);
  convolve(5, p.eighth_b, p.eighth_a);
  in_bands(quarter, [](const Worker& worker, int first, int last) { worker.decode_quarter(first, last); });
  in_bands(half, [](const Worker& worker, int first, int last) { worker.decode(first, last); });
}

}  // namespace stereopsis::learned_confidence
#endif
