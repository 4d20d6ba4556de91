#include "command/peers.hpp"

#include <iterator>

namespace stereopsis::command {

std::vector<Peer> make_peers([[maybe_unused]] const PeerProblem& problem) {
  std::vector<Peer> peers;
  [[maybe_unused]] const auto add = [&](std::vector<Peer> more) {
    std::move(more.begin(), more.end(), std::back_inserter(peers));
  };
#ifdef STEREOPSIS_OPENCV_PEERS
  add(opencv_peers(problem));
#endif
#ifdef STEREOPSIS_LIBELAS_PEERS
  add(libelas_peers(problem));
#endif
  return peers;
}

}  // namespace stereopsis::command
