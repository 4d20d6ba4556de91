// The types that the header of every stage uses: parameters, images of the CPU and of GPUs, and spans of scratch memory.
#pragma once

#include "stages/shared/stage.hpp"

