// Calibrates two cameras from views of a board. OpenCV finds the corners and solves the least squares, so that this
// part is built only if OpenCV is installed (the library stereopsis_calibrate).
#pragma once

#include <array>
#include <string>
#include <vector>

#include "stereopsis/rectification.hpp"

namespace stereopsis {

// A planar calibration board. Lengths are in `unit`.
struct Board {
  enum class Kind { chessboard, charuco };

  Kind kind = Kind::chessboard;
  Size corners;       // number of inner corners, columns × rows
  double square = 0;  // side length of a square
  double marker = 0;  // side length of a marker; charuco only
  std::string dictionary;
  std::string unit;  // "mm", "m", or "" if the unit of the squares is unknown

  // Parses chessboard:9x6:25mm (inner corners, square) or charuco:8x6:30mm:22mm:DICT_4X4_50 (squares, square, marker,
  // dictionary). Lengths are in mm, cm or m; without a unit the rig has none. Throws Error(call).
  static Board parse(const std::string& text);
};

// The corners of the board found in one image, with their numbers in the board, row by row.
struct BoardView {
  std::vector<int> ids;
  std::vector<std::array<float, 2>> points;
};
// Finds the board's corners with sub-pixel precision; returns an empty view if the board is not found. `grey` has one
// channel.
BoardView find_board(ImageView<const std::uint8_t> grey, const Board& board);

struct BoardPair {
  std::string name;  // used in messages and in the table
  BoardView left, right;
};

struct CalibrateOptions {
  bool keep_outliers = false;
  double zoom = 0;  // 0: rectified images contain only pixels that have a source; 1: all pixels of the cameras are kept
};

// The calibration and its errors. Distances are in pixels.
struct CalibrationResult {
  struct View {
    std::string name;
    double rms_left = 0, rms_right = 0, rms = 0;  // reprojection errors
    double dy = 0;                                // mean |y_left − y_right| after rectification
    bool outlier = false;                         // excluded from the calibration
  };

  StereoCalibration calibration;
  std::vector<View> views;                       // views in which both cameras see the board
  double rms_left = 0, rms_right = 0;            // errors of each camera calibrated alone
  double rms = 0;                                // error of the pair
  double dy_mean = 0, dy_p95 = 0;                // |y_left − y_right| after rectification
  double coverage_left = 0, coverage_right = 0;  // share of the image's 8×6 cells with a corner in them
};

// Calibrates the cameras. Excludes views whose error is more than three times the median error, the worst first. Throws
// Error(call) with the reason if there are too few views, or if they cover only one part of the image or only one tilt
// of the board.
CalibrationResult calibrate(const std::vector<BoardPair>& pairs, const Board& board, Size size,
                            const CalibrateOptions& options = {});

}  // namespace stereopsis
