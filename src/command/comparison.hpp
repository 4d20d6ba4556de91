// Methods compared on scenes with ground truth: the results of `bench --dataset` and `evaluate`, and their report as a
// page.
#pragma once

#include <string>
#include <vector>

#include "command/scores.hpp"

namespace stereopsis::command {

// The results of a method or of a peer.
struct Entry {
  std::string name;           // the label or, where it is not unique, the label and the device
  std::string label, device;  // words of the call
  int threads = 0;            // number of threads on the CPU; 0 for other devices
  Json parameters;            // the parameters; for a peer, of the last scene, because the search range changes
  bool peer = false;
  std::vector<SceneResult> results = {}, means = {};
  std::vector<Image<std::uint8_t>> errors = {};  // small error pictures of the scenes, if a report is requested
};

// Returns a picture of at most this width, by leaving pixels out.
Image<std::uint8_t> thumbnail(ImageView<const std::uint8_t> picture, int width = 400);

// Returns a page that needs no other files: figures with the best marked, medals per scene, accuracy over time, the
// worst scenes with their error pictures, and the settings that differ. `lefts` are small left images of the scenes.
std::string comparison_page(const std::string& dataset, const std::vector<Entry>& entries,
                            const std::vector<Image<std::uint8_t>>& lefts);

}  // namespace stereopsis::command
