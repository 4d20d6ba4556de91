// Time stamps of images, and the pairs of nearest stamps.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sources/frames.hpp"

namespace stereopsis::sources {

using Nanoseconds = long long;

// Returns the largest allowed difference of the stamps of a pair: a duration such as 5ms, 20us or 0.01 (seconds), or a
// share such as 5% of the time between two frames. If nothing is given, the slop is half this time. Throws Error(call).
Nanoseconds to_slop(const std::string& given, const std::vector<Nanoseconds>& left,
                    const std::vector<Nanoseconds>& right);

// Returns the time of each frame: of a video from its rate, else from timestamps.txt or times.txt next to the images or
// their folder (as in KITTI), else from the names: dates with times (20110926T130225) if all names end with them, else
// the last number of each name (as in EuRoC and TUM). Whole numbers are seconds, milli-, micro- or nanoseconds since 1970
// according to their length. Throws an Error if a frame has no time.
std::vector<Nanoseconds> stamps_of(const Frames& frames);

// Returns the indices of pairs whose stamps differ by at most `slop`, in ascending order: each right frame with the
// left one that is nearest of all. The stamps must ascend.
std::vector<std::pair<std::size_t, std::size_t>> nearest(const std::vector<Nanoseconds>& left,
                                                         const std::vector<Nanoseconds>& right, Nanoseconds slop);

}  // namespace stereopsis::sources
