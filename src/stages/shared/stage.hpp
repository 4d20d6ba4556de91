// The types that the header of every stage uses: parameters, images of the CPU and of GPUs, and spans of scratch memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/parameters.hpp"
#include "device/gpu/view.hpp"
#include "stereopsis/disparity.hpp"
#include "stereopsis/image.hpp"

namespace stereopsis {
class Threads;
}
