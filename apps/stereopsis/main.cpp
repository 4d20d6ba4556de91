#include "command/command.hpp"
#include "linked_peers.hpp"

int main(int argc, char** argv) {
#ifdef STEREOPSIS_OPENCV_PEERS
  stereopsis::command::provide_linked_opencv();
#endif
#ifdef STEREOPSIS_LIBELAS_PEERS
  stereopsis::command::provide_linked_libelas();
#endif
  return stereopsis::command::run(argc, argv);
}
