// Whether a sanitizer looks on. It makes a test ten times as long, and what it looks for shows in a part of the cases.
#pragma once

namespace stereopsis {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

}  // namespace stereopsis
