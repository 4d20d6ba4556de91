// OpenCV's matchers as peers: their settings, images and results.
#pragma once

#include "command/peers.hpp"

namespace stereopsis::command {

// See make_peer. Throws Error(unsupported) without OpenCV.
std::optional<Peer> opencv_peer(const std::string& matcher, const PeerProblem& problem);

}  // namespace stereopsis::command
