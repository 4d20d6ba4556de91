// The outputs of a selection, with a pitch and poison, on the host and on a device.
#pragma once

#include "stages/wta/wta.hpp"
#include "support/devices.hpp"
#include "support/stage_test.hpp"

namespace stereopsis::test {

struct Selected {
  explicit Selected(Size size) : disparity(size), right(size), confidence(size), validity(size) {}
  wta::Output view() { return {disparity, validity, right, confidence}; }

  PitchedImage<float> disparity, right, confidence;
  PitchedImage<std::uint8_t> validity;
};

// `all`: the right view and the confidence, too.
inline void expect_same(Selected& got, Selected& expected, bool all = true) {
  EXPECT_TRUE(same_bits(got.validity.view(), expected.validity.view()));
  EXPECT_TRUE(same_bits(got.disparity.view(), expected.disparity.view()));
  EXPECT_TRUE(!all || same_bits(got.right.view(), expected.right.view()));
  EXPECT_TRUE(!all || same_bits(got.confidence.view(), expected.confidence.view()));
  EXPECT_TRUE(got.disparity.guard_intact() && got.right.guard_intact() && got.confidence.guard_intact() &&
              got.validity.guard_intact());
}

class SelectedOnDevice {
 public:
  SelectedOnDevice(gpu::Device& device, gpu::Queue& queue, Selected& selected)
      : disparity_(device, queue, selected.disparity),
        right_(device, queue, selected.right),
        confidence_(device, queue, selected.confidence),
        validity_(device, queue, selected.validity) {}

  wta::OutputOf<gpu::View> view(bool all = true) const {
    if (!all) return {disparity_, validity_, {}, {}};
    return {disparity_, validity_, right_, confidence_};
  }
  void download() {
    for (auto* map : {&disparity_, &right_, &confidence_}) map->download();
    validity_.download();
  }

 private:
  OnDevice<float> disparity_, right_, confidence_;
  OnDevice<std::uint8_t> validity_;
};

}  // namespace stereopsis::test
