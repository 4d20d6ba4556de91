#include "core/memory_text.hpp"

#include <cmath>

#include "core/text.hpp"

namespace stereopsis {
namespace {

constexpr double tenth_of_mebibyte = (1 << 20) / 10.0;

std::string memory_text(std::size_t bytes, double tenths) {
  if (static_cast<double>(bytes) < tenth_of_mebibyte) return text(bytes, " bytes");
  const auto whole = static_cast<long long>(tenths) / 10;
  return text(whole, '.', static_cast<long long>(tenths) % 10, " MiB");
}

}  // namespace

std::string needed_memory(std::size_t bytes) {
  return memory_text(bytes, std::ceil(static_cast<double>(bytes) / tenth_of_mebibyte));
}
std::string given_memory(std::size_t bytes) {
  return memory_text(bytes, std::floor(static_cast<double>(bytes) / tenth_of_mebibyte));
}

}  // namespace stereopsis
