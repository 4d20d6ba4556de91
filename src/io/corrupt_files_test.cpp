// Tests files that are truncated, oversized or empty, or contain negative or invalid numbers. Each error is one
// sentence that names the file.
#ifdef STEREOPSIS_TIFF
#include <tiffvers.h>
#endif

#include "io/codecs.hpp"
#include "stereopsis/io.hpp"
#include "support/files.hpp"
#include "support/stage_test.hpp"

namespace stereopsis::corrupt_files_test {
namespace {

using namespace test;

struct Case {
  std::string contents;
  std::string part;  // text that the error must contain
};

void expect_refusals(const std::vector<Case>& cases) {
  const TemporaryFolder folder;
  for (const auto& [contents, part] : cases) {
    SCOPED_TRACE(contents.substr(0, 80));
    const auto file = put(folder / "broken.bin", contents);
    try {
      read_image(file);
      ADD_FAILURE() << "was read";
    } catch (const Error& error) {
      const std::string sentence = error.what();
      EXPECT_TRUE(error.category() == ErrorCategory::format || error.category() == ErrorCategory::unsupported);
      EXPECT_NE(sentence.find("broken.bin"), std::string::npos) << sentence;
      EXPECT_NE(sentence.find(part), std::string::npos) << sentence;
      EXPECT_EQ(sentence.find('\n'), std::string::npos) << sentence;
    }
  }
}

// Every proper prefix of a file must be rejected, except prefixes that lack at most the last `unused` bytes.
void expect_every_beginning_refused(const std::string& file, std::size_t unused = 0) {
  const TemporaryFolder folder;
  for (std::size_t size = 0; size < file.size() - unused; ++size)
    EXPECT_THROW(read_image(put(folder / "cut", file.substr(0, size))), Error) << size << " of " << file.size();
  EXPECT_NO_THROW(read_image(put(folder / "cut", file)));
}

TEST(CorruptFiles, NoImage) {
  expect_refusals({{"", "the file is empty"},
                   {"P", "not a PNG, PNM"},
                   {"hello", "not a PNG, PNM"},
                   {"BM\1\2\3", "the BMP ends within its header"}});
}

TEST(CorruptFiles, Pnm) {
  expect_refusals({
      {"P5", "ends before the width"},
      {"P5\n3", "ends before the height"},
      {"P5\n3 # 4 5\n", "ends before the height"},
      {"P5\n3 2\n", "ends before the maxval"},
      {"P5\n3 2\n255\n12345", "cannot contain"},
      {"P5\n0 2\n255\n", "size 0×2"},
      {"P5\n2 0\n255\n", "size 2×0"},
      {"P5\n-3 2\n255\n123456", "width of the PNM file is '-3'"},
      {"P5\n3 x\n255\n123456", "height of the PNM file is 'x'"},
      {"P5\n3.5 2\n255\n123456", "'3.5'"},
      {"P5\n3 2\n0\n123456", "maxval of the PNM file is '0'"},
      {"P5\n3 2\n65536\n123456", "maxval of the PNM file is '65536'"},
      {"P5\n99999999999999999999 2\n255\n", "'99999999999999999999'"},
      {"P5\n2147483647 2147483647\n255\n", "at most"},
      {"P5\n1 1048577\n255\n", "at most"},
      {"P6\n1000 1000\n255\nabc", "cannot contain"},
      {"P2\n1000 1000\n255\n1 2 3", "cannot contain"},
      {"P2\n3 1\n255\n1 2 x", "sample of the PNM file is 'x'"},
      {"P2\n3 1\n255\n1 22 \n", "ends before the sample"},
      {"P2\n3 1\n100\n1 2 101", "value 101"},
      {"P5\n1 1\n100\n\xff", "value 255"},
      {"P4\n8 1\n\xff", "variant 'P4'"},
      {"P7\nWIDTH 8", "variant 'P7'"},
      {"P5x\n1 1\n255\na", "variant 'P5x'"},
  });
  expect_every_beginning_refused(io::encode_pnm(random_image<std::uint16_t>({3, 3}, 1, 0, 65535)));
}

TEST(CorruptFiles, Pfm) {
  expect_refusals({
      {"Pf", "ends before the width"},
      {"Pfx\n1 1\n1\n1234", "'Pfx'"},
      {"Pf\n1 1\n", "ends before the scale"},
      {"Pf\n1 1\n0\n1234", "scale of the PFM file is '0'"},
      {"Pf\n1 1\nnan\n1234", "'nan'"},
      {"Pf\n1 1\nbig\n1234", "'big'"},
      {"Pf\n1 1\n-1\n123", "cannot contain"},
      {"PF\n1 1\n-1\n12345678901", "cannot contain"},
      {"Pf\n0 1\n-1\n", "size 0×1"},
      {"Pf\n-1 1\n-1\n1234", "'-1'"},
      {"Pf\n30000 30000\n-1\n1234", "at most"},
      {"Pf\n10000 10000\n-1\n1234", "cannot contain"},
  });
  expect_every_beginning_refused(io::encode_pfm(random_image<float>({3, 3}, 1, 0, 9)));
}

std::string npy(const std::string& header, const std::string& data) {
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header + data;
}

TEST(CorruptFiles, Npy) {
  const std::string six = "123456";
  expect_refusals({
      {"\x93NUMPY", "ends inside its header"},
      {std::string("\x93NUMPY\x01\x00\xff\xff{", 11), "ends inside its header"},
      {std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff{", 13), "ends inside its header"},
      {npy("", six), "differs from the format of NumPy"},
      {npy("{", six), "differs from the format of NumPy"},
      {npy("{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), 'x': 1}", six), "'x'"},
      {npy("{'descr': '|u1', 'shape': (2, 3)}", six), "lacks descr"},
      {npy("{'descr': '|u1', 'fortran_order': maybe, 'shape': (2, 3), }", six), "'maybe"},
      {npy("{'descr': '|u1', 'fortran_order': False, 'shape': (2, 99999999999999999999), }", six),
       "'99999999999999999999'"},
      {npy("{'descr': '|u1', 'fortran_order': False, 'shape': (-2, -3), }", six), "size -3×-2"},
      {npy("{'descr': '|u1', 'fortran_order': False, 'shape': (0, 3), }", six), "size 3×0"},
      {npy("{'descr': '|u1', 'fortran_order': False, 'shape': (2, 4), }", six), "cannot contain"},
      {npy("{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }", six), "cannot contain"},
      {npy("{'descr': '|u1', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", six), "at most"},
      {npy("{'descr': '|u1', 'fortran_order': False, 'shape': (6,), }", six), "shape (6)"},
      {npy("{'descr': '|u1', 'fortran_order': False, 'shape': (3, 1, 2), }", six), "shape (3, 1, 2)"},
      {npy("{'descr': '<i4', 'fortran_order': False, 'shape': (1, 1), }", six), "type '<i4'"},
      {npy("{'descr': 'u2', 'fortran_order': False, 'shape': (1, 1), }", six), "type 'u2'"},
      {npy("{'descr': '|O', 'fortran_order': False, 'shape': (1, 1), }", six), "type '|O'"},
      {npy("{'descr': '', 'fortran_order': False, 'shape': (1, 1), }", six), "type ''"},
  });
  expect_every_beginning_refused(io::encode_npy(random_image<std::uint16_t>({3, 3}, 1, 0, 9)));
}

TEST(CorruptFiles, Png) {
  const std::string good = io::encode_png(random_image<std::uint8_t>({9, 7}, 1, 0, 255));
  std::string damaged = good;
  damaged[60] ^= 1;
  std::string wrong_size = good;
  wrong_size[17] = 9;  // the checksum does not match the changed byte
  expect_refusals({{"\x89PNG", "cut off"},
                   {damaged, "damaged"},
                   {wrong_size, "damaged"},
                   {"\x89PNG\r\n\x1a\nabcdefghijklmnop", "damaged"}});
  expect_every_beginning_refused(good);
}

// A valid header with almost no data is rejected before the pixels are allocated.
TEST(CorruptFiles, PngBomb) {
  expect_refusals({{RawPng(15000, 15000, 16, 2).with("few"), "cannot contain"},
                   {RawPng(0, 3, 8, 0).with("few"), "PNG"},
                   {RawPng(900000, 900000, 1, 0).with("few"), "at most"},
                   {RawPng(-1, -1, 8, 0).with("few"), "PNG"},
                   {RawPng(3, 3, 3, 0).with("few"), "PNG"},
                   {RawPng(3, 3, 8, 5).with("few"), "PNG"}});
}

TEST(CorruptFiles, Jpeg) {
  const std::string good = io::encode_jpeg(random_image<std::uint8_t>({19, 17}, 1, 0, 255, 3));
  std::string zero = good;
  std::string huge = good;
  const std::size_t frame = good.find("\xff\xc0");
  ASSERT_NE(frame, std::string::npos);
  zero.replace(frame + 5, 4, 4, '\0');
  huge.replace(frame + 5, 4, "\xff\x00\xff\x00", 4);
  expect_refusals({{"\xff\xd8\xff", "JPEG"},
                   {good.substr(0, good.size() / 2), "damaged"},
                   {good.substr(0, frame), "damaged"},
                   {zero, "JPEG"},
                   {huge, "at most"}});
  huge.replace(frame + 5, 4, "\x30\x00\x30\x00", 4);
  expect_refusals({{huge, "cannot contain"}});
}

#ifdef STEREOPSIS_TIFF
TEST(CorruptFiles, Tiff) {
  const std::string good = io::encode_tiff(random_image<std::uint16_t>({9, 7}, 1, 0, 255));
  expect_refusals({{std::string("II*\0", 4), "damaged"},
                   {std::string("II*\0\xff\xff\xff\xff", 8), "damaged"},
                   {good.substr(0, good.size() / 2), "damaged"}});
  expect_every_beginning_refused(good, 4);  // the last 4 bytes are the offset of the next image, which is not read
  // Versions of libtiff before 4.5 open no image without columns.
  const char* const no_columns = TIFFLIB_VERSION < 20221213 ? "damaged" : "size is zero";
  for (const auto& [width, part] : {std::pair{0U, no_columns}, {0x7FFFFFFFU, "at most"}, {60000U, "cannot contain"}}) {
    std::string changed = good;
    // The width is the first tag: type short, value 9.
    const std::string tag("\x00\x01\x03\x00\x01\x00\x00\x00\x09\x00\x00\x00", 12);
    const std::size_t at = changed.find(tag);
    ASSERT_NE(at, std::string::npos);
    std::string value;
    io::append(value, width, std::endian::little);
    changed.replace(at + 2, 1, "\x04");
    changed.replace(at + 8, 4, value);
    expect_refusals({{changed, part}});
  }
}
#endif

}  // namespace
}  // namespace stereopsis::corrupt_files_test
