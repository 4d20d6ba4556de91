// Other stereo matchers, for `bench` to run beside ours on the same images.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common.hpp"

namespace stereopsis::command {

struct Peer {
  std::string name;
  Json parameters;
  std::function<void()> run;  // one match of the pair it was made for
};

// Those that were built in, ready for one pair of 8-bit grey images, which must outlive them. `threads` 0: all.
std::vector<Peer> make_peers(ImageView<const std::uint8_t> left, ImageView<const std::uint8_t> right, int disparities,
                             int threads);

}  // namespace stereopsis::command
