// mesh_scenes --pack DIR synth …: the subcommand `synth` of stereopsis, with meshes in its scenes.
#include <cstdio>
#include <cstring>
#include <vector>

#include "command/command.hpp"
#include "furnish.hpp"
#include "stereopsis/error.hpp"
#include "synth/scenes.hpp"

int main(int argc, char** argv) {
  if (argc < 4 || std::strcmp(argv[1], "--pack") != 0 || std::strcmp(argv[3], "synth") != 0) {
    std::fprintf(stderr, "mesh_scenes: give --pack DIR, and then the subcommand synth with its options\n");
    return 2;
  }
  try {
    const stereopsis::meshes::Pack pack(argv[2]);
    stereopsis::synth::furnish() = [&pack](auto& builder, const auto& rig) {
      stereopsis::meshes::furnish(pack, builder, rig);
    };
    std::vector<char*> rest{argv[0]};
    rest.insert(rest.end(), argv + 3, argv + argc);
    rest.push_back(nullptr);
    return stereopsis::command::run(static_cast<int>(rest.size()) - 1, rest.data());
  } catch (const stereopsis::Error& error) {
    std::fprintf(stderr, "mesh_scenes: %s\n", error.what());
    return 1;
  }
}
