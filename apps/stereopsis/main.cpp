#include "command/command.hpp"
#ifdef STEREOPSIS_HAS_LIBELAS
#include "libelas_peers.hpp"
#endif

int main(int argc, char** argv) {
#ifdef STEREOPSIS_HAS_LIBELAS
  stereopsis::command::provide_libelas();
#endif
  return stereopsis::command::run(argc, argv);
}
