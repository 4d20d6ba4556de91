// The pairs of an input, as the command uses them; PairSource is the interface of other programs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sources/frames.hpp"
#include "sources/stamps.hpp"
#include "stereopsis/pair_source.hpp"

namespace stereopsis::sources {

struct Pairs {
  Frames left, right;                     // equally many frames
  std::vector<std::string> dropped = {};  // frames without a partner
  std::vector<Nanoseconds> apart = {};    // time between both images of each pair; empty unless paired by time stamp
  std::string note = {};                  // says which view is which, if the file itself does not
};

// Finds the pairs of LEFT and RIGHT; RIGHT is empty for inputs that hold both views. Throws as PairSource. `advice` ends
// the sentence on frames without a partner.
Pairs find_pairs(const std::filesystem::path& left, const std::filesystem::path& right,
                 const PairSourceOptions& options, const std::string& advice = "");

// Returns the names of both files of pair i, "A and B", or one name if one file holds both views.
std::string names_of_pair(const Frames& left, const Frames& right, std::size_t i);

// Returns both views of pair i. Throws as read_image, and Error(call) for a picture that cannot be halved.
PairOfImages read_pair(const Frames& left, const Frames& right, std::size_t i);

}  // namespace stereopsis::sources
