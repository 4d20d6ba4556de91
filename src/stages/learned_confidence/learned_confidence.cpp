#include "stages/learned_confidence/learned_confidence.hpp"

#include <bit>
#include <cstring>
#include <string_view>

#include "core/text.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis::learned_confidence {

// The weights that CMake generates from training/weights/confidence.weights, little-endian: "STEREOCF", the version, for
// layer 0 and each convolution the biases and the weights, then the probabilities.
std::span<const std::byte> confidence_file();

namespace {

template <class T>
void take(std::span<const std::byte>& file, T* to, std::size_t count) {
  const std::size_t bytes = count * sizeof(T);
  if (bytes > file.size())
    throw Error(ErrorCategory::format, "the weights of the learned confidence are cut off; build the library again");
  std::memcpy(to, file.data(), bytes);
  file = file.subspan(bytes);
}

Network parse(std::span<const std::byte> file) {
  constexpr std::string_view magic = "STEREOCF";
  constexpr std::uint32_t version = 3;
  std::array<char, magic.size()> begin;
  std::uint32_t made_version;
  take(file, begin.data(), begin.size());
  take(file, &made_version, 1);
  if (std::string_view(begin.data(), begin.size()) != magic || made_version != version)
    throw Error(ErrorCategory::format,
                text("the weights of the learned confidence are not those of version ", version,
                     "; train them again with training/confidence.py, and build the library again"));
  Network network;
  take(file, network.first_biases.data(), network.first_biases.size());
  take(file, network.first_weights.data(), network.first_weights.size());
  for (int layer = 1; layer <= layers; ++layer) {
    const bool last = layer == layers;
    Convolution c{channels, last ? logits : channels, shift, last ? -most_logit : 0, {}, {}};
    c.biases.resize(static_cast<std::size_t>(c.out));
    c.weights.resize(static_cast<std::size_t>(9) * c.in * c.out);
    take(file, c.biases.data(), c.biases.size());
    take(file, c.weights.data(), c.weights.size());
    network.convolutions.push_back(std::move(c));
  }
  take(file, network.probability.data(), network.probability.size());
  return network;
}

std::vector<std::int32_t> words_of(const Network& network) {
  std::vector<std::int32_t> words(network.first_biases.begin(), network.first_biases.end());
  for (int g = 0; g < groups_of(evidence_channels); ++g)
    for (int o = 0; o < first_channels; ++o)
      words.push_back(four_weights(4 * g, evidence_channels,
                                   [&](int i) { return network.first_weights[o * evidence_channels + i]; }));
  for (const Convolution& c : network.convolutions) append_words(c, words);
  for (const float p : network.probability) words.push_back(std::bit_cast<std::int32_t>(p));
  return words;
}

}  // namespace

const Network& network() {
  static const Network made = parse(confidence_file());
  return made;
}

std::span<const std::int32_t> gpu_words() {
  static const std::vector<std::int32_t> words = words_of(network());
  return words;
}

}  // namespace stereopsis::learned_confidence
