// For a fuzzing engine in place of driver.cpp: `fuzz_png --write-seeds FOLDER` writes the seeds, and exits.
#include <cstdlib>
#include <string_view>

#include "fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerInitialize(const int* count, char*** arguments) {
  const char* const* words = *arguments;
  if (*count == 3 && words[1] == std::string_view("--write-seeds")) std::exit(stereopsis::fuzz::write_seeds(words[2]));
  return 0;
}
