// Other stereo matchers, which `bench` runs next to ours on the same images.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command/common.hpp"
#include "command/dense.hpp"

namespace stereopsis::command {

struct Peer {
  std::string name;
  Json parameters;
  std::function<void()> run;  // one match of the pair for which the peer was made
  // Returns the result of the last run, made dense.
  std::function<Image<float>()> disparity;
};

enum class PeerColumns {
  as_found,  // the peer may omit columns at the left, where not every disparity lies in the right image
  all        // the images are padded before the run, so that no column is omitted
};

// A pair of 8-bit grey or RGB images, which must outlive the peers. `threads`: 0 means all. The settings of the peers
// depend on the dataset; it is empty for generated pairs.
struct PeerProblem {
  ImageView<const std::uint8_t> left, right;
  int disparities, threads;
  PeerColumns columns;
  std::string dataset = {};
};

// Return the peers in this build, ready for one pair.
std::vector<Peer> make_peers(const PeerProblem&);
std::vector<Peer> opencv_peers(const PeerProblem&);
std::vector<Peer> libelas_peers(const PeerProblem&);

}  // namespace stereopsis::command
