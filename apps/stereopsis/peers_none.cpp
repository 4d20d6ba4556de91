#include "peers.hpp"

namespace stereopsis::command {

std::vector<Peer> make_peers(ImageView<const std::uint8_t>, ImageView<const std::uint8_t>, int, int, PeerColumns) {
  return {};
}

}  // namespace stereopsis::command
