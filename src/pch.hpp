// The precompiled header, with headers that most files of the library include. Each file nevertheless includes the
// headers that it uses, because the preset `package` builds without a precompiled header.
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
