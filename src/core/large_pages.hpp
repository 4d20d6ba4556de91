// Large pages, for the memory of images and volumes.
#pragma once

#include <cstddef>

namespace stereopsis {

// Asks the system to back this memory by large pages: volumes span thousands of pages of the default size, and large
// pages reduce TLB misses. The system's file in device/system/ defines this function.
void ask_for_large_pages(void* memory, std::size_t bytes);

}  // namespace stereopsis
