// Advice on the faults of a pair.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "jobs/setting_names.hpp"
#include "stereopsis/pair_judge.hpp"

namespace stereopsis::jobs {

// The remedy for a pair whose rows differ.
inline const std::string rectify_first =
    "rectify the pair first, or correct its calibration with `stereopsis calibrate --from-scenes`";

// Returns the faults of a pair with advice, which names its files.
std::vector<PairFault> with_advice(std::vector<PairFault> faults, const std::filesystem::path& left,
                                   const std::filesystem::path& right, const SettingNames& names,
                                   const std::string& how_to_rectify = rectify_first);
// Returns a remark if a file's orientation, which is not applied, may be the reason for a fault; else "".
std::string orientation_remark(const std::filesystem::path& left, const std::filesystem::path& right);

}  // namespace stereopsis::jobs
