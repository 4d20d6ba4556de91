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
  // What the last run found, made dense: an invalid run of pixels takes the smaller of its two row neighbours.
  std::function<Image<float>()> disparity;
};

enum class PeerColumns {
  as_found,  // the peer may leave out columns at the left, where not every disparity lies in the right image
  all        // the images are padded, before the run, so that it leaves out none
};

// Those that were built in, ready for one pair of 8-bit grey images, which must outlive them. `threads` 0: all.
std::vector<Peer> make_peers(ImageView<const std::uint8_t> left, ImageView<const std::uint8_t> right, int disparities,
                             int threads, PeerColumns columns);

}  // namespace stereopsis::command
