// Tests NPY files against NumPy itself.
#include <cstdlib>

#include "stereopsis/io.hpp"
#include "support/files.hpp"
#include "support/stage_test.hpp"

namespace stereopsis::numpy_test {
namespace {

using namespace test;

// Returns the name of a Python interpreter that has NumPy, or an empty string.
std::string python() {
  for (const char* name : {"python3", "/usr/bin/python3"})
    if (std::system((std::string(name) + " -c 'import numpy' 2> /dev/null").c_str()) == 0) return name;
  return "";
}

class Numpy : public testing::Test {
 protected:
  void SetUp() override {
    if (python_.empty()) GTEST_SKIP() << "needs python3 with numpy";
  }
  // Runs Python statements in the folder of the test, with numpy imported as np.
  bool run(const std::string& statements) {
    put(folder_ / "script.py", "import numpy as np\n" + statements);
    return std::system(("cd " + folder_.path().string() + " && " + python_ + " script.py").c_str()) == 0;
  }

  inline static const std::string python_ = python();
  TemporaryFolder folder_;
};

TEST_F(Numpy, ReadsWhatIsWritten) {
  Image<std::uint8_t> colour({5, 3}, 3, 7);
  colour(4, 2, 1) = 200;
  Image<std::uint16_t> wide({5, 3}, 1, 60000);
  wide(1, 2) = 258;
  Image<float> real({5, 3}, 1, 0.1F);
  real(3, 0) = -2.5F;
  write_image(folder_ / "colour.npy", colour);
  write_image(folder_ / "wide.npy", wide);
  write_image(folder_ / "real.npy", real);
  EXPECT_TRUE(run(R"(
a = np.load('colour.npy'); assert a.dtype == np.uint8 and a.shape == (3, 5, 3)
assert a[2, 4, 1] == 200 and a[0, 0, 0] == 7 and (a != 7).sum() == 1
a = np.load('wide.npy'); assert a.dtype == np.uint16 and a.shape == (3, 5)
assert a[2, 1] == 258 and a[0, 0] == 60000
a = np.load('real.npy'); assert a.dtype == np.float32 and a.shape == (3, 5)
assert a[0, 3] == -2.5 and a[1, 1] == np.float32(0.1)
)"));
}

TEST_F(Numpy, WritesWhatIsRead) {
  ASSERT_TRUE(run(R"(
base = np.arange(15).reshape(3, 5)
for name, type in dict(u1='u1', u2='<u2', big_u2='>u2', f4='<f4', big_f4='>f4', f8='<f8', big_f8='>f8').items():
    np.save(name + '.npy', base.astype(type))
np.save('fortran.npy', np.asfortranarray(base.astype('u1')))
np.save('bool.npy', base > 3)
np.save('one.npy', base.astype('u1')[:, :, None])
np.save('colour.npy', np.arange(45, dtype='u1').reshape(3, 5, 3))
np.save('fortran_colour.npy', np.asfortranarray(np.arange(45, dtype='u1').reshape(3, 5, 3)))
np.save('long.npy', base)
)"));
  for (const char* name : {"u1", "u2", "big_u2", "f4", "big_f4", "f8", "big_f8", "fortran", "one"}) {
    const AnyImage image = read_image(folder_ / (std::string(name) + ".npy"));
    ASSERT_EQ(image.size(), (Size{5, 3})) << name;
    ASSERT_EQ(image.channels(), 1) << name;
    with_pixels(image, [&](auto pixels) {
      for (int y = 0; y < 3; ++y)
        for (int x = 0; x < 5; ++x) EXPECT_EQ(pixels(x, y), 5 * y + x) << name;
    });
  }
  for (const char* name : {"colour.npy", "fortran_colour.npy"}) {
    const auto colour = std::get<Image<std::uint8_t>>(read_image(folder_ / name).pixels);
    ASSERT_EQ(colour.channels(), 3);
    EXPECT_EQ(colour(4, 2, 1), 43) << name;
    EXPECT_EQ(colour(1, 0, 2), 5) << name;
  }
  const auto mask = read_mask(folder_ / "bool.npy");
  EXPECT_EQ(mask(3, 0), 0);
  EXPECT_EQ(mask(4, 0), 255);
  EXPECT_TRUE(refuses([&] { read_image(folder_ / "long.npy"); }, ErrorCategory::unsupported, "astype"));
}

}  // namespace
}  // namespace stereopsis::numpy_test
