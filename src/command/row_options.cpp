#include "command/row_options.hpp"

#include "command/front_end.hpp"
#include "stereopsis/rows.hpp"

namespace stereopsis::command {

void RowOptions::add_to(Command& command, const Option& dataset) {
  command
      .text("--align-rows", how, "HOW",
            "Align the rows of the right images, for all methods: auto (estimated for each scene), off, "
            "OFFSET[,ROLL[,ZOOM[,KEYSTONE]]] in pixels, or a file with such numbers [off]")
      .needs(dataset);
}

jobs::RowSettings RowOptions::settings() const { return jobs::row_settings(how, CommandFrontEnd()); }

LoadedScene load_scene(const DatasetScene& scene, const jobs::RowSettings& rows) {
  LoadedScene loaded = stereopsis::load_scene(scene);
  if (rows.is_off) return loaded;
  const auto alignment = rows.fixed ? rows.fixed : estimate_row_alignment(loaded.left, loaded.right).alignment;
  if (alignment) loaded.right = with_aligned_rows(loaded.right, *alignment).image;
  return loaded;
}

}  // namespace stereopsis::command
