// The steps that matching a single pair (match_pair.cpp) and the frames of a sequence (match_frames.cpp) share.
#pragma once

#include "match.hpp"

namespace stereopsis::command::matching {

// The smallest percentage of measured pixels; fewer indicate a problem with the pair or the call.
constexpr double least_measured = 5;

// Returns the pair whose left view is the right view of `frame`: the right view is matched so.
InputFrame mirrored(const InputFrame& frame);

// Notes the size of the results and the bytes of all workspaces, and says them with --verbose.
void note_workspace(const MatchJob& call, const Plan& left, std::size_t bytes, FrameRecords& records);
// Notes how much of a result was measured, and takes out of it what the options drop. Throws what --strict rejects.
// Returns the share of the usable pixels, 0 to 1, that was measured. Several threads may do this for different frames.
double note_result(const MatchJob& call, std::size_t i, const InputFrame& frame, FrameResult& result,
                   FrameRecord& record);
// In a catch block: notes the exception as the frame's failure, and returns it as the error that ends the call.
Error note_error(FrameRecord& record);

// match_pair.cpp
void match_pair(const MatchJob& call, FrameRecords& records);

}  // namespace stereopsis::command::matching
