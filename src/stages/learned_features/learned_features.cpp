#include "stages/learned_features/learned_features.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include "core/text.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis::learned_features {

// The library's own weights, which CMake generates from training/weights.
std::span<const std::byte> learned32_file();
std::span<const std::byte> learned16_file();

namespace {

constexpr char magic[] = "STEREOLF";
constexpr std::uint32_t version = 1;
constexpr std::size_t magic_bytes = 8, hash_bytes = 8;
// Limits that no practical network reaches.
constexpr std::uint32_t most_layers = 16, most_channels = 256, most_shift = 24;
// With this limit and 256 components, costs fit in 32 bits.
constexpr std::int32_t most_offset = 1 << 24;
// A file of the largest network has 10 MB.
constexpr std::size_t most_file_bytes = std::size_t{16} << 20;

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorCategory::format, text("the file of learned weights ", what));
}

std::uint64_t fnv1a(std::span<const std::byte> bytes) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const std::byte b : bytes) hash = (hash ^ static_cast<std::uint8_t>(b)) * 0x100000001b3u;
  return hash;
}

// Reads consecutive little-endian numbers.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

  std::span<const std::byte> take(std::size_t count) {
    if (count > rest_.size())
      refuse("ends before its last layer, although its hash is right; write it again with training/");
    const auto first = rest_.first(count);
    rest_ = rest_.subspan(count);
    return first;
  }
  std::uint64_t number(int bytes) {
    std::uint64_t value = 0;
    int shift = 0;
    for (const std::byte b : take(bytes)) value |= static_cast<std::uint64_t>(b) << shift, shift += 8;
    return value;
  }
  std::uint32_t word() { return static_cast<std::uint32_t>(number(4)); }
  std::uint32_t word(const char* name, std::uint32_t low, std::uint32_t high) {
    const std::uint32_t value = word();
    if (value < low || value > high)
      refuse(text("is not valid: the ", name, " is ", value, ", but it must be ", low, " to ", high,
                  "; write it again with training/"));
    return value;
  }
  bool at_end() const { return rest_.empty(); }

 private:
  std::span<const std::byte> rest_;
};

// Throws an Error if a sum of the layer may overflow. The inputs of the next layer are at most 128.
void check_sums(const Layer& layer) {
  for (int o = 0; o < layer.out; ++o) {
    long long most = std::abs(static_cast<long long>(layer.biases[o])) + (1ll << (layer.shift - 1));
    for (int i = 0; i < 9 * layer.in; ++i) most += 128 * std::abs(layer.weights[o * 9 * layer.in + i]);
    if (most > std::numeric_limits<std::int32_t>::max())
      refuse("has a bias that makes sums overflow 32 bits; write it again with training/");
  }
}

void check_file(std::span<const std::byte> file) {
  if (file.size() < magic_bytes || std::memcmp(file.data(), magic, magic_bytes) != 0)
    refuse("does not begin with STEREOLF, so it has another format; give a file that training/ wrote");
  if (file.size() < magic_bytes + hash_bytes) refuse("is cut off; copy it again");
  const auto content = file.first(file.size() - hash_bytes);
  if (Reader(file.last(hash_bytes)).number(8) != fnv1a(content))
    refuse("is damaged, because its hash differs from that of its contents; copy it again");
}

}  // namespace

Network parse(std::span<const std::byte> file) {
  check_file(file);
  Reader reader(file.first(file.size() - hash_bytes).subspan(magic_bytes));
  if (const std::uint32_t found = reader.word(); found != version)
    refuse(text("has version ", found, "; this version of the library reads version ", version));
  Network network{};
  network.layers.resize(reader.word("number of layers", 1, most_layers));
  int before = 1;
  for (Layer& layer : network.layers) {
    layer.in = static_cast<int>(reader.word("number of input channels", before, before));
    layer.out = static_cast<int>(reader.word("number of output channels", 1, most_channels));
    layer.shift = static_cast<int>(reader.word("shift", 1, most_shift));
    layer.low = &layer == &network.layers.back() ? -127 : 0;
    before = layer.out;
  }
  network.cost_offset = static_cast<int>(reader.word());
  if (std::abs(static_cast<long long>(network.cost_offset)) > most_offset)
    refuse(text("is not valid: the cost offset is ", network.cost_offset, ", but it must be -", most_offset, " to ",
                most_offset, "; write it again with training/"));
  network.cost_shift = static_cast<int>(reader.word("cost shift", 1, most_shift));
  network.cost_limit = static_cast<int>(reader.word("cost limit", 1, 255));
  for (Layer& layer : network.layers) {
    for (int o = 0; o < layer.out; ++o) layer.biases.push_back(static_cast<std::int32_t>(reader.word()));
    for (const std::byte b : reader.take(static_cast<std::size_t>(layer.out) * layer.in * 9))
      layer.weights.push_back(static_cast<std::int8_t>(b));
    check_sums(layer);
  }
  if (!reader.at_end()) refuse("has data after its last layer; write it again with training/");
  return network;
}

namespace {

std::vector<std::byte> bytes_of_file(const std::string& name) {
  std::error_code failed;
  const std::uintmax_t size = std::filesystem::file_size(name, failed);  // the call fails for a pipe or a folder
  std::ifstream file(name, std::ios::binary);
  if (failed || !file)
    throw Error(ErrorCategory::file, text("the file of learned weights '", name,
                                          "' cannot be read; give the name of a file, or learned32 or learned16"));
  if (size > most_file_bytes)
    throw Error(ErrorCategory::format,
                text("the file '", name, "' has ", size,
                     " bytes, which is more than weights can have; give a file that training/ wrote"));
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

}  // namespace

Weights::Loaded Weights::load(std::span<const std::byte> file) {
  Network network = parse(file);
  std::vector<std::int32_t> on_gpu = gpu_weights(network);
  return {std::move(network), std::move(on_gpu)};
}

Weights::Weights(std::string_view name) : name_(name) {
  if (std::ranges::count(known_names(), name) == 0)
    of_file_ = std::make_shared<const Loaded>(load(bytes_of_file(name_)));
}

const Weights::Loaded& Weights::loaded() const {
  if (of_file_) return *of_file_;
  if (name_ == known_names()[0]) {
    static const Loaded learned32 = load(learned32_file());
    return learned32;
  }
  static const Loaded learned16 = load(learned16_file());
  return learned16;
}

}  // namespace stereopsis::learned_features
