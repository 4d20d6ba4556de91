// --align-rows of commands that match the scenes of datasets.
#pragma once

#include <string>

#include "command/options.hpp"
#include "jobs/rows.hpp"
#include "stereopsis/dataset.hpp"

namespace stereopsis::command {

struct RowOptions {
  std::string how = "off";

  // The option requires the option `dataset`.
  void add_to(Command& command, const Option& dataset);
  // Throws an Error for a value that is not allowed.
  jobs::RowSettings settings() const;
};

// Reads a scene whose right image is aligned, for our methods and for other stereo matchers.
LoadedScene load_scene(const DatasetScene& scene, const jobs::RowSettings& rows);

}  // namespace stereopsis::command
