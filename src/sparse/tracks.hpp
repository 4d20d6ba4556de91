// Tracks of a pair: corners of the left image, spread over the picture, that are located in the right image with a
// precision of about 1/50 px. The alignment of rows is fitted to them.
#pragma once

#include <vector>

#include "sparse/matches.hpp"

namespace stereopsis::sparse {

// Pixel (x, y) of the left image corresponds to (x − dx, y − dy) of the right image.
struct Track {
  int x = 0;
  int y = 0;
  double dx = 0;
  double dy = 0;
  double deviation = 0;  // standard deviation of dy, as the texture and a usual noise imply, in pixels
  // Place of the texture that determines dy, from the point, in pixels: if rows differ by v(x, y), dy is −v at this place.
  double texture_x = 0, texture_y = 0;
};

// Returns the tracks of corners whose rows differ by up to `rows` pixels. The image is divided into about this number of
// squares, of which each has at most one corner.
std::vector<Track> find_tracks(const Side& left, const Side& right, int rows, int squares);

}  // namespace stereopsis::sparse
