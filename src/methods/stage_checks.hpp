// The stages, each with small inputs, as every backend offers them: a line for each in run_stages().
//
// A tray has inputs of all kinds, and outputs, which are poisoned before and kept after, for a backend to work on.
#pragma once

#include "methods/cpu_backend.hpp"
#include "methods/gpu_backend.hpp"
#include "stereopsis/rig.hpp"

namespace stereopsis::checks {

constexpr Size size{61, 29};
constexpr int disparities = 24;
constexpr int min_disparity = -3;

// What is on a tray: random pixels, the same on every tray.
template <class T>
Image<T> pixels(unsigned seed, int low, int high, int channels = 1) {
  Image<T> image(size, channels);
  std::uint64_t state = seed + 1;
  for (int y = 0; y < size.height; ++y)
    for (int i = 0; i < size.width * channels; ++i) {
      state = state * 6364136223846793005ull + 1442695040888963407ull;
      image.row(y)[i] = static_cast<T>(low + static_cast<int>((state >> 33) % static_cast<unsigned>(high - low + 1)));
    }
  return image;
}
template <class T>
Image<T> words(unsigned seed) {
  Image<T> image(size);
  std::uint64_t state = seed + 1;
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      state = state * 6364136223846793005ull + 1442695040888963407ull;
      image(x, y) = static_cast<T>(state >> 2);
    }
  return image;
}
// Disparities in quarters, one of six invalid.
inline Image<float> map(unsigned seed) {
  Image<float> image = pixels<float>(seed, 4 * min_disparity, 4 * (min_disparity + disparities - 1));
  const Image<std::uint8_t> dice = pixels<std::uint8_t>(seed + 1, 1, 6);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) image(x, y) = dice(x, y) == 1 ? invalid_disparity : 0.25f * image(x, y);
  return image;
}
// 0 to 1.
inline Image<float> trust() {
  Image<float> image = pixels<float>(40, 0, 128);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) image(x, y) /= 128;
  return image;
}
inline Rig rig() {
  Rig r;
  r.focal = 500;
  r.baseline = 0.1;
  r.cx_left = r.cx_right = 30;
  r.cy = 14;
  return r;
}
inline Image<std::uint8_t> reasons(unsigned seed) {
  const Image<float> disparity = map(seed);
  Image<std::uint8_t> image(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      image(x, y) = std::isnan(disparity(x, y)) ? validity::left_right : std::uint8_t{0};
  return image;
}

template <class Tray>
void run_stages(Tray& t) {
  using sgm_wta::Parameters;
  const sgm::Parameters eight{.p1 = 10, .p2 = 60}, four{.paths = 4, .p1 = 10, .p2 = 90, .gradient = 8, .p2_min = 20};
  const wta::Parameters select{.subpixel = wta::Subpixel::parabola, .uniqueness = 5};

  t.check("grey", [&](auto& b) { b.grey(t.colour(), t.mask(1), t.out8(), {}); });
  t.check("grey, float", [&](auto& b) { b.grey(t.floats(), t.mask(1), t.out_float(), t.out8()); });
  t.check("8-bit grey", [&](auto& b) { b.grey8(t.grey16(1), 12, t.out8()); });
  t.check("hsv", [&](auto& b) {
    b.hsv(cost::weighting(cost::Space::hsv, {0.2, 0.3, 0.5}), t.colour(), 8, t.mask(1), t.out32(), t.none8());
  });
  t.check("rank", [&](auto& b) { b.rank(rank::Parameters{9}, t.grey(1), t.out8()); });
  t.check("rank, 16-bit", [&](auto& b) { b.rank(rank::Parameters{5}, t.grey16(1), t.out8()); });
  t.check("census 5x5", [&](auto& b) { b.census(census::Parameters{census::Window::w5x5}, t.grey(1), t.out32()); });
  t.check("census 9x7", [&](auto& b) { b.census(census::Parameters{census::Window::w9x7}, t.grey(1), t.out64()); });
  t.check("census + gradient", [&](auto& b) { b.census_gradient(t.grey(1), t.grey(1), t.out32()); });
  t.check("sgm, rank", [&](auto& b) { t.match(b, Parameters{eight, select}, cost::Rank{9}, t.ranks(1), t.ranks(2)); });
  t.check("sgm, rank, 4 adaptive paths", [&](auto& b) {
    t.match(b, Parameters{four, select}, cost::Rank{9}, t.ranks(1), t.ranks(2));
  });
  t.check("sgm, census 5x5", [&](auto& b) {
    t.match(b, Parameters{eight, {}}, cost::Census<std::uint32_t>{24}, t.words32(1), t.words32(2));
  });
  t.check("sgm, census 9x7", [&](auto& b) {
    t.match(b, Parameters{eight, {}}, cost::Census<std::uint64_t>{62}, t.words64(1), t.words64(2));
  });
  t.check("sgm, census + gradient", [&](auto& b) {
    t.match(b, Parameters{four, select}, cost::CensusGradient{3, 15}, t.words32(1), t.words32(2));
  });
  t.check("sgm, stripes", [&](auto& b) {
    b.stripe_rows = 8;
    t.match(b, Parameters{eight, select}, cost::Rank{9}, t.ranks(1), t.ranks(2));
    b.stripe_rows = 0;
  });
  t.check("window sad", [&](auto& b) { t.match_windows(b, {{7, 5}, select}, t.words32(1), t.words32(2)); });
  t.check("downsample", [&](auto& b) { b.downsample(2, t.grey(1), t.out_half()); });
  t.check("pyramid", [&](auto& b) { t.refine_level(b, pyramid::Parameters{}, t.words32(1), t.words32(2)); });
  t.check("confidence", [&](auto& b) {
    b.confidence(confidence::Parameters{}, {7, 5}, {t.words32(1), t.words32(2), {1020}}, t.disparity(1), t.out_float());
  });
  t.check("repair", [&](auto& b) {
    b.repair(repair::Parameters{}, {t.scratch_map(1), t.out_float(), t.trust(), t.scratch_float(), t.validity(1)});
  });
  t.check("remap", [&](auto& b) { t.remap(b); });
  t.check("triangulate", [&](auto& b) {
    b.triangulate({.rig = rig()}, t.disparity(1), {t.out_float(), t.out_points(), t.out_float()});
  });
  t.check("left-right check",
          [&](auto& b) { b.left_right(left_right::Parameters{}, t.disparity(9), t.map(1), t.validity(1)); });
  t.check("speckle", [&](auto& b) {
    b.speckle(speckle::Parameters{8, 3}, t.map(1), t.validity(1), t.memory(b.speckle_bytes(size)));
  });
  t.check("median 3x3", [&](auto& b) { b.median(median::Parameters{3}, t.disparity(1), t.out_float()); });
  t.check("median 5x5", [&](auto& b) { b.median(median::Parameters{5}, t.disparity(1), t.out_float()); });
  for (const auto& [mode, name] : names_of(fill::Mode()))
    t.check(std::string("fill, ") + name, [&](auto& b) { t.fill(b, fill::Parameters{mode}); });
}

// Checks that take more than a call.
template <template <class> class View, class Tray>
class TrayOf {
 public:
  // Remembers what the stage made of the outputs it asked for.
  struct Made {
    std::string stage;
    std::vector<std::byte> bytes;
    std::string problem;
  };
  std::vector<Made> made;

  template <class F>
  void check(std::string stage, F&& f) {
    Made result{std::move(stage), {}, {}};
    try {
      f(tray().backend());
      result.bytes = tray().collect();
    } catch (const Error& error) {
      result.problem = error.what();
    }
    made.push_back(std::move(result));
    tray().clear();
  }

  auto colour() { return tray().put(pixels<std::uint8_t>(20, 0, 255, 3)); }
  auto grey(unsigned seed) { return tray().put(pixels<std::uint8_t>(seed, 0, 60)); }
  auto grey16(unsigned seed) { return tray().put(pixels<std::uint16_t>(seed, 0, 4095)); }
  auto floats() { return tray().put(pixels<float>(21, 0, 255)); }
  auto mask(unsigned seed) { return tray().put(pixels<std::uint8_t>(seed + 30, 0, 9)); }
  auto ranks(unsigned seed) { return tray().put(pixels<std::uint8_t>(seed, 0, 80)); }
  auto words32(unsigned seed) { return tray().put(words<std::uint32_t>(seed)); }
  auto words64(unsigned seed) { return tray().put(words<std::uint64_t>(seed)); }
  auto disparity(unsigned seed) { return tray().put(checks::map(seed)); }
  View<std::uint8_t> none8() { return {}; }
  // Changed in place.
  View<float> map(unsigned seed) { return tray().out(checks::map(seed)); }
  View<std::uint8_t> validity(unsigned seed) { return tray().out(reasons(seed)); }
  View<std::uint8_t> out8() { return tray().out(Image<std::uint8_t>(size, 1, std::uint8_t{0xA5})); }
  View<std::uint32_t> out32() { return tray().out(Image<std::uint32_t>(size, 1, 0xA5A5A5A5u)); }
  View<std::uint64_t> out64() { return tray().out(Image<std::uint64_t>(size, 1, 0xA5A5A5A5A5A5A5A5u)); }
  View<float> out_float() { return tray().out(Image<float>(size, 1, -777.0f)); }
  View<std::uint8_t> out_half() {
    return tray().out(Image<std::uint8_t>(downsample::downsampled(size, 2), 1, std::uint8_t{0xA5}));
  }
  View<float> out_points() { return tray().out(Image<float>(size, 3, -777.0f)); }
  View<float> trust() { return tray().out(checks::trust()); }
  // Overwritten with what is nobody's business.
  View<float> scratch_map(unsigned seed) { return tray().changed(checks::map(seed)); }
  View<float> scratch_float() { return tray().changed(Image<float>(size, 1, -777.0f)); }
  auto memory(std::size_t bytes) { return tray().scratch(bytes); }

  template <class Backend, class Kind, class Words>
  void match(Backend& b, const sgm_wta::Parameters& p, const Kind& kind, Words left, Words right) {
    const sgm_wta::Input<Kind, View> in{{left, right, kind}, grey(3), {min_disparity, mask(1), mask(2)}, disparities};
    b.sgm_wta(p, in, selected(), memory(b.sgm_wta_bytes(p, kind, size, disparities)));
  }
  template <class Backend, class Words>
  void match_windows(Backend& b, const window_sad_wta::Parameters& p, Words left, Words right) {
    const window_sad_wta::Input<View> in{{left, right, {1020}}, {min_disparity, mask(1), mask(2)}, disparities};
    const wta::OutputOf<View> out = selected();
    b.window_sad_wta(p, in, out, memory(b.window_sad_wta_bytes(p, size, disparities, out)));
  }
  template <class Backend, class Words>
  void refine_level(Backend& b, const pyramid::Parameters& p, Words left, Words right) {
    const pyramid::Input<View> in{left, right, -1, mask(1), mask(2), {min_disparity, disparities}, disparity(1)};
    const auto disparity_out = out_float(), confidence = out_float();
    b.pyramid(p, {7, 5}, {}, in, {disparity_out, out8(), confidence});
  }
  // Positions in and around the image, in 1/256.
  template <class Backend>
  void remap(Backend& b) {
    const auto to = out8();
    b.remap(remap::InputOf<std::uint8_t, View>{grey(1), mask(1),
                                               tray().put(pixels<std::int32_t>(50, -500, 256 * size.height, 2))},
            remap::OutputOf<std::uint8_t, View>{to, out8()});
  }
  template <class Backend>
  void fill(Backend& b, const fill::Parameters& p) {
    b.fill(p, fill::InputOf<View>{disparity(1), disparity(9)}, out_float(), validity(1), memory(b.fill_bytes(p, size)));
  }

 private:
  wta::OutputOf<View> selected() {
    const auto disparity_out = out_float(), right = out_float(), confidence = out_float();
    return {disparity_out, out8(), right, confidence};
  }
  Tray& tray() { return static_cast<Tray&>(*this); }
};

}  // namespace stereopsis::checks
