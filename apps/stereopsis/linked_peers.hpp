// Provides the peers that this program links.
#pragma once

namespace stereopsis::command {

void provide_linked_opencv();
void provide_linked_libelas();

}  // namespace stereopsis::command
