// What most files of the library include, compiled once. Each of them includes what it uses all the same: the preset
// `package` does without this one.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/text.hpp"
#include "stereopsis/image.hpp"
#ifdef STEREOPSIS_SIMD
#include "device/cpu/threads.hpp"
#endif
