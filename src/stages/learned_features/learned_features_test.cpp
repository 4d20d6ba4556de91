#include "stages/learned_features/learned_features.hpp"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "device/system/system.hpp"
#include "stereopsis/error.hpp"
#include "support/cost_volumes.hpp"
#include "support/devices.hpp"
#include "support/sanitized.hpp"
#include "support/stage_test.hpp"
#include "support/targets.hpp"

namespace stereopsis::learned_features_test {
namespace {

using namespace test;
using learned_features::Layer;
using learned_features::Network;

// Returns a network with weights over the whole range. The shifts of the layers are chosen so that values neither
// vanish nor all reach their limits.
Network random_network(const std::vector<int>& channels, unsigned seed = 1) {
  std::mt19937 generator(seed);
  const auto between = [&](int low, int high) {
    return low + static_cast<int>(generator() % static_cast<unsigned>(high - low + 1));
  };
  Network network{{}, 64 << 10, 10, 127};
  for (std::size_t l = 0; l + 1 < channels.size(); ++l) {
    const bool last = l + 2 == channels.size();
    Layer layer{channels[l], channels[l + 1], l == 0 ? 6 : 9, last ? -127 : 0, {}, {}};
    for (int i = 0; i < 9 * layer.in * layer.out; ++i)
      layer.weights.push_back(static_cast<std::int8_t>(between(-127, 127)));
    for (int o = 0; o < layer.out; ++o) layer.biases.push_back(between(-4000, 8000));
    network.layers.push_back(layer);
  }
  return network;
}

void copy(const Image<std::int8_t>& from, ImageView<std::int8_t> to) {
  for (int y = 0; y < to.height; ++y)
    std::copy_n(from.row(y), static_cast<std::size_t>(to.width) * to.channels, to.row(y));
}

class WeightsOnDevice {
 public:
  WeightsOnDevice(gpu::Device& device, gpu::Queue& queue, std::vector<std::int32_t> words)
      : words_(std::move(words)), buffer_(device, sizeof(std::int32_t) * words_.size()) {
    const int count = static_cast<int>(words_.size());
    queue.upload<std::int32_t>({words_.data(), count, 1}, {buffer_.handle(), 0, count, 1, 1, count});
  }
  gpu::Array<const std::int32_t> array() const { return {buffer_.handle(), 0}; }

 private:
  std::vector<std::int32_t> words_;
  gpu::Buffer buffer_;
};

const std::vector<std::vector<int>> shapes = {
    {1, 32, 32, 32, 32}, {1, 16, 16, 16, 32}, {1, 5, 3}, {1, 20, 17, 64}, {1, 7}};

TEST(LearnedFeatures, CpuEqualsOracle) {
  for (const Size size : awkward_sizes)
    for (const auto& shape : shapes) {
      if (shape.size() == 5 && size.width * size.height > 600) continue;  // the oracle would be too slow
      const Network network = random_network(shape);
      SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", " << shape.size() - 1 << " layers");
      PitchedImage<std::uint8_t> grey(random_image<std::uint8_t>(size, 7, 0, 255).view());
      Image<std::int8_t> expected(size, network.components());
      learned_features::oracle(network, grey, expected);
      for_each_engine([&](Threads& threads) {
        expect_equals_oracle<std::int8_t>(
            size, [&](auto out) { copy(expected, out); },
            [&](auto out) { learned_features::cpu(network, grey, out, threads); }, network.components());
      });
    }
}

TEST(LearnedFeatures, GpuEqualsOracle) {
  for_each_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    for (const Size size : {Size{1, 1}, Size{9, 1}, Size{5, 7}, Size{37, 11}, Size{127, 37}})
      for (const auto& shape : shapes) {
        const Network network = random_network(shape);
        SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", " << shape.size() - 1 << " layers");
        PitchedImage<std::uint8_t> grey(random_image<std::uint8_t>(size, 7, 0, 255).view());
        const OnDevice<std::uint8_t> there(device, queue, grey);
        const WeightsOnDevice weights(device, queue, learned_features::gpu_weights(network));
        const std::size_t bytes = learned_features::gpu_scratch_bytes(network, size);
        const gpu::Buffer scratch = poisoned(device, queue, bytes);
        expect_equals_oracle<std::int8_t>(
            size, [&](auto out) { learned_features::oracle(network, grey, out); },
            [&](auto out) {
              PitchedImage<std::int8_t> got(size, network.components());
              OnDevice<std::int8_t> features(device, queue, got);
              learned_features::gpu(network, weights.array(), there, features, {scratch.handle(), 0, bytes}, queue);
              features.download();
              EXPECT_TRUE(got.guard_intact());
              copy(Image<std::int8_t>(ImageView<const std::int8_t>(got.view())), out);
            },
            network.components());
      }
  });
}

// Dot products that saturate on a SIMD target would fail for products of the largest values.
TEST(LearnedFeatures, TheLargestProductsDoNotSaturate) {
  for (const int weight : {127, -127, -128}) {
    Network network{{}, 64 << 10, 10, 127};
    network.layers.push_back({1, 16, 1, 0, std::vector<std::int8_t>(9 * 16, 127), std::vector<std::int32_t>(16, 1000)});
    network.layers.push_back({16, 16, 12, -127, std::vector<std::int8_t>(9 * 16 * 16, static_cast<std::int8_t>(weight)),
                              std::vector<std::int32_t>(16)});
    const Size size{13, 5};
    PitchedImage<std::uint8_t> grey(random_image<std::uint8_t>(size, 7, 254, 255).view());
    for_each_engine([&](Threads& threads) {
      expect_equals_oracle<std::int8_t>(
          size, [&](auto out) { learned_features::oracle(network, grey, out); },
          [&](auto out) { learned_features::cpu(network, grey, out, threads); }, 16);
    });
  }
}

// One layer, computed by hand. The only filter of the layer is the difference of the right and the left neighbour,
// halved, with halves rounded up.
TEST(LearnedFeaturesOracle, IsTheConvolutionOfTheDefinition) {
  Network network{{{1, 1, 1, -127, {0, 0, 0, -1, 0, 1, 0, 0, 0}, {3}}}, 0, 1, 1};
  Image<std::uint8_t> grey(Size{3, 2});
  const std::uint8_t values[2][3] = {{10, 20, 60}, {255, 0, 0}};
  for (int y = 0; y < 2; ++y) std::copy_n(values[y], 3, grey.row(y));
  Image<std::int8_t> features(Size{3, 2}, 1);
  learned_features::oracle(network, grey, features);
  EXPECT_EQ(features(0, 0), 7);     // (20 − 10 + 3 + 1) >> 1, because the border replicates
  EXPECT_EQ(features(1, 0), 27);    // (60 − 10 + 3 + 1) >> 1
  EXPECT_EQ(features(2, 0), 22);    // (60 − 20 + 3 + 1) >> 1
  EXPECT_EQ(features(0, 1), -126);  // (0 − 255 + 3 + 1) >> 1
  EXPECT_EQ(features(2, 1), 2);     // (0 + 3 + 1) >> 1
}

// The network and the image are the same as in training/test_training.py, where an emulation in integers results in the
// same sum.
TEST(LearnedFeaturesOracle, IsWhatTrainingEmulates) {
  std::uint32_t state = 1;
  const auto next = [&] { return (state = state * 1664525 + 1013904223) >> 16; };
  Network network{{{1, 6, 6, 0, {}, {}}, {6, 5, 9, 0, {}, {}}, {5, 8, 9, -127, {}, {}}}, 0, 1, 1};
  for (Layer& layer : network.layers) {
    for (int i = 0; i < 9 * layer.in * layer.out; ++i)
      layer.weights.push_back(static_cast<std::int8_t>(static_cast<int>(next() % 255) - 127));
    for (int o = 0; o < layer.out; ++o) layer.biases.push_back(static_cast<int>(next() % 8000) - 2000);
  }
  Image<std::uint8_t> grey(11, 7);
  for (int y = 0; y < 7; ++y)
    for (int x = 0; x < 11; ++x) grey(x, y) = static_cast<std::uint8_t>(next() % 256);
  Image<std::int8_t> features(11, 7, 8);
  learned_features::oracle(network, grey, features);
  std::uint64_t sum = 0xcbf29ce484222325u;
  for (int y = 0; y < 7; ++y)
    for (int i = 0; i < 11 * 8; ++i) sum = (sum ^ static_cast<std::uint8_t>(features.row(y)[i])) * 0x100000001b3u;
  EXPECT_EQ(sum, 0x4db478a45f054750u) << std::hex << sum;
}

// Returns the contents of a file, as training/weights.py writes them.
std::string file_of(const Network& n) {
  std::string file = "STEREOLF";
  const auto word = [&](std::uint32_t v) {
    for (int shift = 0; shift < 32; shift += 8) file += static_cast<char>(v >> shift);
  };
  word(1), word(static_cast<std::uint32_t>(n.layers.size()));
  for (const Layer& l : n.layers) word(l.in), word(l.out), word(l.shift);
  word(n.cost_offset), word(n.cost_shift), word(n.cost_limit);
  for (const Layer& l : n.layers) {
    for (const std::int32_t b : l.biases) word(static_cast<std::uint32_t>(b));
    file.append(reinterpret_cast<const char*>(l.weights.data()), l.weights.size());
  }
  return file;
}

std::string with_hash(std::string file) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : file) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  for (int shift = 0; shift < 64; shift += 8) file += static_cast<char>(hash >> shift);
  return file;
}

Network parsed(const std::string& file) { return learned_features::parse(std::as_bytes(std::span(file))); }

TEST(LearnedFeaturesFile, IsReadAsItWasWritten) {
  const Network network = random_network({1, 16, 8, 12});
  const Network read = parsed(with_hash(file_of(network)));
  ASSERT_EQ(read.layers.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(read.layers[i].in, network.layers[i].in);
    EXPECT_EQ(read.layers[i].out, network.layers[i].out);
    EXPECT_EQ(read.layers[i].shift, network.layers[i].shift);
    EXPECT_EQ(read.layers[i].low, network.layers[i].low);
    EXPECT_EQ(read.layers[i].weights, network.layers[i].weights);
    EXPECT_EQ(read.layers[i].biases, network.layers[i].biases);
  }
  EXPECT_EQ(read.cost_offset, network.cost_offset);
  EXPECT_EQ(read.cost_shift, network.cost_shift);
  EXPECT_EQ(read.cost_limit, network.cost_limit);
}

TEST(LearnedFeaturesFile, DamageIsRefusedWithASentence) {
  const auto sentence = [](const std::string& file) -> std::string {
    try {
      parsed(file);
    } catch (const Error& error) {
      EXPECT_EQ(error.category(), ErrorCategory::format);
      return error.what();
    }
    return "not refused";
  };
  const auto expect = [&](const std::string& file, const std::vector<std::string>& parts) {
    const std::string said = sentence(file);
    for (const std::string& part : parts) EXPECT_NE(said.find(part), std::string::npos) << said;
  };
  const Network network = random_network({1, 4, 2});
  const std::string content = file_of(network), whole = with_hash(content);
  expect("", {"STEREOLF"});
  expect("a picture, perhaps", {"STEREOLF"});
  expect("STEREOLF", {"cut off"});
  for (std::size_t at = 8; at < whole.size(); at += 5) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    expect(damaged, {"damaged", "hash"});
  }
  for (std::size_t length = 8; length < whole.size(); length += 7)
    EXPECT_NE(sentence(whole.substr(0, length)), "not refused");
  const auto changed = [&](std::size_t at, char value) {
    std::string other = content;
    other[at] = value;
    return with_hash(other);
  };
  expect(changed(8, 2), {"version 2", "version 1"});
  expect(changed(12, 0), {"number of layers is 0", "1 to 16"});
  expect(changed(16, 3), {"input channels is 3", "1 to 1"});
  expect(changed(24, 99), {"shift is 99", "1 to 24"});
  expect(changed(43, 100), {"cost offset is 16", "-16777216 to 16777216"});
  expect(with_hash(content.substr(0, content.size() - 3)), {"ends before its last layer"});
  expect(with_hash(content + "x"), {"data after its last layer"});
  Network heavy = network;
  heavy.layers[1].biases[0] = 2147483647;
  expect(with_hash(file_of(heavy)), {"overflow"});
}

// A file that is deleted at the end of the test.
class WeightsFile {
 public:
  explicit WeightsFile(const std::string& contents)
      : path_((std::filesystem::temp_directory_path() / text("stereopsis-", system::process_id(), ".weights")).string()) {
    std::ofstream(path_, std::ios::binary).write(contents.data(), static_cast<std::streamsize>(contents.size()));
  }
  ~WeightsFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

learned_features::Weights weights_of(const Network& network) {
  return learned_features::Weights(WeightsFile(with_hash(file_of(network))).path());
}

void expect_costs_equal_oracle(const learned_features::Parameters& p) {
  const Network& network = p.weights.network();
  for_each_volume([&](Size size, DisparityRange range) {
    PitchedImage<std::uint8_t> left(random_image<std::uint8_t>(size, 1, 0, 255).view());
    PitchedImage<std::uint8_t> right(random_image<std::uint8_t>(size, 2, 0, 255).view());
    Volume<std::uint8_t> expected(size, range.count);
    learned_features::cost_oracle(p, left, right, range.min, expected.view());
    for_each_engine([&](Threads& threads) {
      Volume<std::uint8_t> got = poisoned_volume<std::uint8_t>(size, range.count);
      Scratch scratch(learned_features::cost_scratch_bytes(network, size, range.count, threads.count()));
      learned_features::cost_cpu(p, left, right, range.min, got.view(), scratch.span(), threads);
      EXPECT_TRUE(same_cells(got, expected));
    });
    for_each_usable_gpu([&](gpu::Queue& queue, gpu::Device& device) {
      const OnDevice<std::uint8_t> left_there(device, queue, left), right_there(device, queue, right);
      const WeightsOnDevice weights(device, queue, p.weights.on_gpu());
      const std::size_t bytes = learned_features::features_scratch_bytes(network, size);
      const gpu::Buffer scratch = poisoned(device, queue, bytes);
      VolumeOnDevice<std::uint8_t> got(device, queue, size, range.count);
      learned_features::cost_gpu(p, weights.array(), left_there, right_there, range.min, got.volume(),
                                 {scratch.handle(), 0, bytes}, queue);
      EXPECT_TRUE(same_cells(got.download(), expected));
    });
  });
}

TEST(LearnedCost, DevicesEqualOracle) {
  expect_costs_equal_oracle({learned_features::Weights("learned16"), 25});
  if (!sanitized) expect_costs_equal_oracle({learned_features::Weights("learned32"), 16});
  for (const auto& shape : {std::vector{1, 5, 3}, {1, 7, 40}, {1, 4, 31}}) {
    Network network = random_network(shape);
    network.cost_offset = 20000;
    network.cost_shift = 8;
    network.cost_limit = 200;
    expect_costs_equal_oracle({weights_of(network), 7});
  }
  skip_without_gpu();
}

// Computed by hand from the features 7, 27 and 22 in the first row of IsTheConvolutionOfTheDefinition: 20 · 1.25 −
// 0.0195 · 1.25 · dot.
TEST(LearnedCostOracle, FallsWithTheDotProduct) {
  const Network network{{{1, 1, 1, -127, {0, 0, 0, -1, 0, 1, 0, 0, 0}, {3}}}, 1024, 6, 15};
  Image<std::uint8_t> grey(Size{3, 1});
  const std::uint8_t values[] = {10, 20, 60};
  std::copy_n(values, 3, grey.row(0));
  Volume<std::uint8_t> costs({3, 1}, 3);
  learned_features::cost_oracle({weights_of(network), 20}, grey, grey, -1, costs.view());
  EXPECT_EQ(costs(1, 0, 1), 6);   // (1024 − 27 · 27) · 20 / 1024 = 5.8
  EXPECT_EQ(costs(1, 0, 0), 8);   // (1024 − 27 · 22) · 20 / 1024 = 8.4
  EXPECT_EQ(costs(1, 0, 2), 15);  // (1024 − 27 · 7) · 20 / 1024 = 16.3: the limit
  // The candidate is outside, so the nearest right pixel counts: (1024 − 22 · 22) · 20 / 1024 = 10.5, halves up.
  EXPECT_EQ(costs(2, 0, 0), 11);
}

TEST(LearnedWeights, TheLibrarysOwnAreThereAndFilesAreReadOrRefused) {
  for (const char* name : learned_features::Weights::known_names()) {
    const learned_features::Weights weights(name);
    EXPECT_EQ(weights.name(), name);
    EXPECT_EQ(weights.network().components(), 32);
    EXPECT_EQ(weights.network().radius(), 4);
  }
  const auto refusal = [](const std::string& name) -> std::string {
    try {
      learned_features::Parameters p;
      set_parameter("cost", p, "weights", name);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(refusal("/nowhere/at.all").find("'/nowhere/at.all' cannot be read"), std::string::npos);
  EXPECT_NE(refusal(std::filesystem::temp_directory_path().string()).find("cannot be read"), std::string::npos);
  EXPECT_NE(refusal("").find("cannot be read"), std::string::npos);
  std::string contents = with_hash(file_of(random_network({1, 4, 2})));
  EXPECT_EQ(refusal(WeightsFile(contents).path()), "");
  contents[40] = static_cast<char>(contents[40] ^ 1);
  EXPECT_NE(refusal(WeightsFile(contents).path()).find("damaged"), std::string::npos);
}

}  // namespace
}  // namespace stereopsis::learned_features_test
