// `sanitized` tells whether a sanitizer runs. Tests then take ten times as long, so that they run a part of their
// cases.
#pragma once

namespace stereopsis {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

}  // namespace stereopsis
