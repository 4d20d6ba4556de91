#pragma once

#include <hwy/targets.h>

#include <cstdint>

namespace stereopsis {

// Makes the library run the code of these targets only, which are bits of Highway; 0: of all targets of this CPU.
inline void choose_targets(std::int64_t bits) {
  hwy::SetSupportedTargetsForTest(bits);
  const auto update = [](auto& chosen) {
    if constexpr (requires { chosen.Update(hwy::SupportedTargets()); })
      chosen.Update(hwy::SupportedTargets());
    else
      chosen.Update();  // Highway 0.16
  };
  update(hwy::GetChosenTarget());
}

}  // namespace stereopsis
