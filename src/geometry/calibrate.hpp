// Calibrates two cameras from views of a board. OpenCV finds the corners and solves the least-squares problem. This
// part, the library stereopsis_calibrate, is therefore built only if OpenCV is installed.
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

  // Parses chessboard:9x6:25mm (inner corners, square size) or charuco:8x6:30mm:22mm:DICT_4X4_50 (squares, square,
  // marker, dictionary). Lengths are in mm, cm or m. A length without a unit results in a rig without a unit. Throws
  // Error(call) for any other text.
  static Board parse(const std::string& text);
};

// The corners of the board found in one image, with their numbers on the board, row by row.
struct BoardView {
  std::vector<int> ids;
  std::vector<std::array<float, 2>> points;
};
// Finds the corners of the board with sub-pixel precision. Returns an empty view if the board is not found. `grey` has
// one channel.
BoardView find_board(ImageView<const std::uint8_t> grey, const Board& board);

struct BoardPair {
  std::string name;  // name for messages and for the table
  BoardView left, right;
};

struct CalibrateOptions {
  bool keep_outliers = false;
  double zoom = 0;  // 0 to crop rectified images to pixels with a source, 1 to keep all pixels of the cameras
};

// The calibration and its errors. Distances are in pixels.
struct CalibrationResult {
  struct View {
    std::string name;
    double rms_left = 0, rms_right = 0, rms = 0;  // reprojection errors
    double dy = 0;                                // mean |y_left − y_right| after rectification
    bool outlier = false;                         // true if the view is excluded from the calibration
  };

  StereoCalibration calibration;
  std::vector<View> views;                       // views in which both cameras see the board
  double rms_left = 0, rms_right = 0;            // reprojection error of each camera, calibrated alone
  double rms = 0;                                // reprojection error of the pair
  double dy_mean = 0, dy_p95 = 0;                // mean and 95th percentile of |y_left − y_right| after rectification
  double coverage_left = 0, coverage_right = 0;  // share of the 8×6 cells of the image that contain a corner
};

// Calibrates the cameras. Excludes views whose error exceeds three times the median error, the worst view first. Throws
// Error(call) if there are too few views, or if the views are too similar: they cover only a part of the image, or show
// the board in only one tilt.
CalibrationResult calibrate(const std::vector<BoardPair>& pairs, const Board& board, Size size,
                            const CalibrateOptions& options = {});

}  // namespace stereopsis
