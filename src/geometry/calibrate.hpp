// From views of a board to the calibration of two cameras. Corners and the least squares are OpenCV's: this is the one
// part that is built only where OpenCV is installed (the library stereopsis_calibrate).
#pragma once

#include <array>
#include <string>
#include <vector>

#include "stereopsis/rectification.hpp"

namespace stereopsis {

// A flat board. Lengths are in `unit`.
struct Board {
  enum class Kind { chessboard, charuco };

  Kind kind = Kind::chessboard;
  Size corners;       // inner corners, columns × rows
  double square = 0;  // side of a square
  double marker = 0;  // charuco: side of a marker
  std::string dictionary;
  std::string unit;  // "mm", "m", or "" for whatever the squares are measured in

  // chessboard:9x6:25mm (inner corners, square), charuco:8x6:30mm:22mm:DICT_4X4_50 (squares, square, marker, dictionary).
  // Lengths are in mm, cm or m; without a unit the rig has none. Throws Error(call).
  static Board parse(const std::string& text);
};

// What was found of the board in one image: corners, by their number in the board, row after row.
struct BoardView {
  std::vector<int> ids;
  std::vector<std::array<float, 2>> points;
};
// Refined to parts of a pixel; empty where the board is not found. `grey` has one channel.
BoardView find_board(ImageView<const std::uint8_t> grey, const Board& board);

struct BoardPair {
  std::string name;  // for messages and the table
  BoardView left, right;
};

struct CalibrateOptions {
  bool keep_outliers = false;
  double zoom = 0;  // 0: rectified images without pixels that have no source; 1: all pixels of the cameras are kept
};

// Distances are in pixels.
struct CalibrationResult {
  struct View {
    std::string name;
    double rms_left = 0, rms_right = 0, rms = 0;  // of the reprojection
    double dy = 0;                                // mean |y_left − y_right| after rectification
    bool outlier = false;                         // left out
  };

  StereoCalibration calibration;
  std::vector<View> views;                       // those where both cameras see the board
  double rms_left = 0, rms_right = 0;            // of each camera alone
  double rms = 0;                                // of the pair
  double dy_mean = 0, dy_p95 = 0;                // |y_left − y_right| after rectification
  double coverage_left = 0, coverage_right = 0;  // share of the image's 8×6 cells with a corner in them
};

// Views whose error is more than three times that of the middle one are left out, the worst first. Throws Error(call)
// with the reason where the views are too few, see one place of the image only, or hold the board at one tilt only.
CalibrationResult calibrate(const std::vector<BoardPair>& pairs, const Board& board, Size size,
                            const CalibrateOptions& options = {});

}  // namespace stereopsis
