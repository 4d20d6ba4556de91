// Values as sentences show them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "stereopsis/device.hpp"
#include "stereopsis/disparity.hpp"
#include "stereopsis/image.hpp"

namespace stereopsis::jobs {

std::string memory_text(std::size_t bytes);                  // "812 KiB", "43.2 MiB", "1.27 GiB"
std::string size_text(Size size);                            // "640×480"
std::string range_text(DisparityRange range);                // "0 to 63"
std::string names_text(const std::vector<Device>& devices);  // "cuda:0,cuda:1"

}  // namespace stereopsis::jobs
