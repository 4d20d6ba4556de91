// Other stereo matchers, which run next to ours on the same images with the settings of peers.json. Their names are those of a
// method: opencv:3WAY, libelas:ROBOTICS, or opencv for all of OpenCV's. A program that links libelas provides it.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
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

// Returns a matcher for a pair, or nothing if the images are too small for it.
using MakePeer = std::function<std::optional<Peer>(const std::string& matcher, const PeerProblem&)>;

// Provides the matchers of "libelas", which are left out otherwise.
void provide_libelas(MakePeer make);

struct PeerName {
  std::string program, matcher;  // "opencv", "3WAY"
  std::string text() const { return program + ":" + matcher; }
};

bool is_peer(std::string_view method);
// Returns the matchers that a method's name stands for. Throws an Error if they are not there, with the reason.
std::vector<PeerName> peers_named(const std::string& method);
// Returns all matchers that are there.
std::vector<PeerName> peers_there();
// Returns one sentence about those that are not there; empty if all are.
std::string peers_left_out();

std::optional<Peer> make_peer(const PeerName& name, const PeerProblem& problem);
// Returns one of OpenCV's matchers. Throws Error(unsupported) without OpenCV.
std::optional<Peer> opencv_peer(const std::string& matcher, const PeerProblem& problem);

// Returns a copy whose first column is repeated `columns` times at the left.
Image<std::uint8_t> padded(ImageView<const std::uint8_t> image, int columns);

}  // namespace stereopsis::command
