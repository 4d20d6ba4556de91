#pragma once

namespace stereopsis::command {

// Provides libelas, which this program links, as a peer.
void provide_libelas();

}  // namespace stereopsis::command
