// Lowers filtered cost volumes (Rhemann et al. 2011; Reis and Souza 2017; across scales, Zhang et al. 2014). Features
// of both views are computed first. For each tile of rows, the steps are then a volume of costs, the filter on its
// slices, the same on coarser levels if there are any, and the selection. Only the volumes of one tile exist at a time,
// so that the memory does not depend on the height of the image. The result does not depend on the height of the tiles.
//
// The right view's disparity comes from a separate cost volume, guided by the right image.
#pragma once

#include "graph/builder.hpp"

namespace stereopsis::row_tiles {

// The levels that contribute to the costs, from the finest to the coarsest.
struct Levels {
  // A coarse volume that is added to the volume of the finest level.
  struct Coarse {
    int level = 1;
    bool from_right = false;
    DisparityRange fine_range, range;
    Rows fine_rows, rows;
    int fine_costs = -1, costs = -1;  // values
  };

  int count = 1;
  StageParameters parameters = {};  // parameters of the stage in the slot `levels`
  std::string halve = {};           // name of the stage that halves an image
  DisparityRange (*range_at)(const DisparityRange&, int level, bool from_right) = nullptr;
  // Sets the parameters of the filter for coarser levels.
  void (*set_filter)(const StageParameters& levels, StageParameters& filter) = nullptr;
  void (*couple)(Builder&, const StageParameters& levels, const Coarse&, const std::string& title) = nullptr;
};

// Returns whether the maps of a pipeline are computed in row tiles.
bool applies(const PipelineData& pipeline, const Request& request);
void match(Builder& builder, const Levels& levels, Images& images, const DisparityRange& range, Maps& maps);

// Returns the required input of a region. The required input begins at a pixel of the coarsest level.
Rect required_input(const PipelineData& pipeline, const Request& request, const Levels& levels);

}  // namespace stereopsis::row_tiles
