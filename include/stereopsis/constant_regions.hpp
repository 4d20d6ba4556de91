// Regions without contrast, whose costs hold no information: what the matcher does with them.
#pragma once

namespace stereopsis {

// Both parts are made from the images before the pipeline. Here, they are off by default. The command and the Python
// package turn them on, and have an option that turns them off.
struct ConstantRegions {
  // True to treat black regions at the border as if the mask of their view excluded them (validity::masked): the black
  // around a rectified image, around the round picture of an endoscope, or outside a satellite tile. A region consists
  // of at least 64 pixels with values of at most `black` in all channels, is connected over horizontal and vertical
  // neighbours, and touches the border of the image. A raw pair is treated before it is rectified.
  bool mask_black = false;
  // Largest value of a black pixel, in 8-bit units, 0 to 255; 2 for images that were decoded from JPEG or video.
  int black = 0;
  // True to mark a pixel as filled (validity::filled), if it would be measured and all pixels of the 7×7 window around
  // it have the same value in the left (rectified) image: clipped sky, a painted bar. The pixel keeps its disparity.
  bool mark_flat = false;
};

}  // namespace stereopsis
