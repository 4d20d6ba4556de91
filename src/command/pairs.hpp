// The options that name the pairs of a call.
#pragma once

#include <filesystem>
#include <string>

#include "command/frames.hpp"
#include "command/options.hpp"
#include "sources/pairs.hpp"

namespace stereopsis::command {

using sources::find_pairs, sources::Pairs, sources::read_pair;

// The options --pair, --slop, --side-by-side and --top-bottom.
struct PairOptions : PairSourceOptions {
  PairOptions();

  void add_to(Command& command);
};

// Adds the arguments LEFT and RIGHT. `also` ends the list of what may be given in place of both.
void add_views(Command& command, std::filesystem::path& left, std::filesystem::path& right,
               const std::string& also = "");

}  // namespace stereopsis::command
