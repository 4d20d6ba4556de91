// Files that are given as calibrations and cannot be read as text, and ROS's oST files, which hold both cameras.
#pragma once

#include <string_view>
#include <vector>

#include "io/calibration_document.hpp"

namespace stereopsis::io {

// Throws Error(format), with the kind of the file and the remedy, for contents that are in no notation of calibrations:
// archives of NumPy and MATLAB, images, bags, web pages and other binary data.
void check_kind(std::string_view contents);

// Returns whether a text is the file (ost.txt) that ROS's camera_calibration writes.
bool is_ost(std::string_view text);
// Returns one document for each camera of such a file, with the names of a ROS camera_info.
std::vector<Document> parse_ost(std::string_view text);

}  // namespace stereopsis::io
