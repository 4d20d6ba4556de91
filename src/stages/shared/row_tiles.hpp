// Filtered cost volumes (Rhemann et al. 2011; Reis and Souza 2017; across scales, Zhang et al. 2014): features of both
// views, and then, a tile of rows after another, a volume of costs, the filter on its slices, the same at coarser
// levels if they take part, and the selection. Only the volumes of one tile exist at a time, so that the memory does
// not depend on the height of the image. The result does not depend on the height of the tiles.
//
// The right view's disparity comes from a separate cost volume, guided by the right image.
#pragma once

#include "graph/builder.hpp"

namespace stereopsis::row_tiles {

// The levels that take part, from the finest on.
struct Levels {
  // A coarse volume that is added to the finest one.
  struct Coarse {
    int level = 1;
    bool from_right = false;
    DisparityRange fine_range, range;
    Rows fine_rows, rows;
    int fine_costs = -1, costs = -1;  // values
  };

  int count = 1;
  StageParameters parameters = {};  // parameters of the stage in the slot `levels`
  std::string halve = {};           // the stage that halves an image
  DisparityRange (*range_at)(const DisparityRange&, int level, bool from_right) = nullptr;
  void (*set_filter)(const StageParameters& levels, StageParameters& filter) = nullptr;  // for coarser levels
  void (*couple)(Builder&, const StageParameters& levels, const Coarse&, const std::string& title) = nullptr;
};

// Returns whether a pipeline's maps are made in row tiles.
bool applies(const PipelineData& pipeline, const Request& request);
void match(Builder& builder, const Levels& levels, Images& images, const DisparityRange& range, Maps& maps);

// Returns the required input of a region. It begins with a pixel of the coarsest level.
Rect required_input(const PipelineData& pipeline, const Request& request, const Levels& levels);

}  // namespace stereopsis::row_tiles
