#include "device/opencl/program_cache.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <sstream>
#include <string_view>

#include "core/text.hpp"
#include "device/system/system.hpp"

namespace stereopsis::opencl {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view magic = "stereopsis OpenCL program 1\n";

// FNV-1a hash.
std::uint64_t hash(std::string_view bytes) {
  std::uint64_t h = 14695981039346656037ull;
  for (const char c : bytes) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return h;
}

std::string number(std::uint64_t v) {
  std::ostringstream out;
  out << std::hex << std::setw(16) << std::setfill('0') << v;
  return out.str();
}

// Returns the first bytes of a complete entry with this key, which precede the program.
std::string head(const std::string& key, std::string_view binary) {
  return text(magic, number(key.size()), number(binary.size()), number(hash(binary)), key);
}

}  // namespace

std::string program_path(const std::string& key) {
  const fs::path caches = system::cache_folder();
  return caches.empty() ? std::string() : (caches / "stereopsis" / (number(hash(key)) + ".program")).string();
}

std::optional<std::string> load_program(const std::string& key) {
  std::error_code ignored;
  // Reading a folder would throw an exception.
  if (!fs::is_regular_file(program_path(key), ignored)) return std::nullopt;
  std::ifstream file(program_path(key), std::ios::binary);
  std::string entry((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::size_t start = head(key, {}).size();
  if (entry.size() <= start) return std::nullopt;
  std::string binary = entry.substr(start);
  if (entry.compare(0, start, head(key, binary)) != 0) return std::nullopt;
  return binary;
}

void store_program(const std::string& key, const std::string& binary) {
  const fs::path path = program_path(key);
  if (path.empty()) return;
  std::error_code failed;
  fs::create_directories(path.parent_path(), failed);
  const fs::path temporary =
      text(path.string(), ".", system::process_id(), ".", reinterpret_cast<std::uintptr_t>(&failed));
  {
    std::ofstream file(temporary, std::ios::binary);
    file << head(key, binary) << binary;
    file.close();
    if (file)
      fs::rename(temporary, path, failed);
    else
      failed = std::make_error_code(std::errc::io_error);
  }
  std::error_code ignored;
  if (failed) fs::remove(temporary, ignored);
}

}  // namespace stereopsis::opencl
