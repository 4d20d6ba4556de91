// JPEG through libjpeg. libjpeg reports an error to a callback, which must leave with longjmp. Therefore, libjpeg is
// called only inside attempt(), and all objects with destructors are declared outside. Pixels are returned as stored,
// and the orientation tag is ignored.
#include <csetjmp>
#include <cstdio>  // before jpeglib.h, which needs FILE
#include <cstdlib>

#include <jpeglib.h>
// jerror.h needs the types of jpeglib.h.
#include <jerror.h>

#include "core/text.hpp"
#include "io/codecs.hpp"

namespace stereopsis::io {
namespace {

struct Errors : jpeg_error_mgr {
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX] = "";
};

void on_error(j_common_ptr jpeg) {
  auto* errors = static_cast<Errors*>(jpeg->err);
  errors->format_message(jpeg, errors->message);
  std::longjmp(errors->jump, 1);
}

// A warning means that libjpeg filled in pixels, which is treated as an error. The two exceptions concern bytes outside
// the pixels.
void on_message(j_common_ptr jpeg, int level) {
  const int code = jpeg->err->msg_code;
  if (level < 0 && code != JWRN_EXTRANEOUS_DATA && code != JWRN_ADOBE_XFORM) on_error(jpeg);
}

jpeg_error_mgr* prepare(Errors& errors) {
  jpeg_std_error(&errors);
  errors.error_exit = on_error;
  errors.emit_message = on_message;
  errors.output_message = [](j_common_ptr) {};
  return &errors;
}

// Runs f. Returns false if libjpeg reported an error.
template <class F>
bool attempt(Errors& errors, const F& f) {
  if (setjmp(errors.jump) != 0) return false;
  f();
  return true;
}

class Reader {
 public:
  Reader() { jpeg_.err = prepare(errors_); }
  ~Reader() { jpeg_destroy_decompress(&jpeg_); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  void open(Bytes file) {
    call([&] {
      jpeg_create_decompress(&jpeg_);
      jpeg_mem_src(&jpeg_, reinterpret_cast<const unsigned char*>(file.data()), file.size());
      jpeg_.progress = &limit_;
      limit_.progress_monitor = stop_after_many_scans;
      jpeg_read_header(&jpeg_, TRUE);
    });
  }

  Claim claim() const { return {"JPEG", jpeg_.image_width, jpeg_.image_height, jpeg_.num_components, 8}; }
  bool is_arithmetic() const { return jpeg_.arith_code != 0; }

  Image<std::uint8_t> pixels() {
    Image<std::uint8_t> image(static_cast<int>(jpeg_.image_width), static_cast<int>(jpeg_.image_height),
                              jpeg_.num_components);
    call([&] {
      jpeg_.out_color_space = jpeg_.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
      jpeg_.dct_method = JDCT_ISLOW;
      jpeg_start_decompress(&jpeg_);
      while (jpeg_.output_scanline < jpeg_.output_height) {
        JSAMPROW row = image.row(static_cast<int>(jpeg_.output_scanline));
        jpeg_read_scanlines(&jpeg_, &row, 1);
      }
      jpeg_finish_decompress(&jpeg_);
    });
    return image;
  }

 private:
  template <class F>
  void call(const F& f) {
    if (attempt(errors_, f)) return;
    throw Error(ErrorCategory::format, text("the JPEG data cannot be decoded (", errors_.message,
                                            "); the file is damaged or not a baseline or progressive 8-bit JPEG"));
  }

  // A file of a few hundred bytes can request thousands of passes over a large image.
  static void stop_after_many_scans(j_common_ptr jpeg) {
    constexpr int most_scans = 200;
    if (reinterpret_cast<j_decompress_ptr>(jpeg)->input_scan_number <= most_scans) return;
    auto* errors = static_cast<Errors*>(jpeg->err);
    std::snprintf(errors->message, sizeof errors->message, "more than %d scans", most_scans);
    std::longjmp(errors->jump, 1);
  }

  Errors errors_;
  jpeg_decompress_struct jpeg_{};
  jpeg_progress_mgr limit_{};
};

class Writer {
 public:
  Writer() { jpeg_.err = prepare(errors_); }
  ~Writer() {
    jpeg_destroy_compress(&jpeg_);
    std::free(file_);
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  std::string write(ImageView<const std::uint8_t> image) {
    const bool done = attempt(errors_, [&] {
      jpeg_create_compress(&jpeg_);
      jpeg_mem_dest(&jpeg_, &file_, &size_);
      jpeg_.image_width = static_cast<JDIMENSION>(image.width);
      jpeg_.image_height = static_cast<JDIMENSION>(image.height);
      jpeg_.input_components = image.channels;
      jpeg_.in_color_space = image.channels == 3 ? JCS_RGB : JCS_GRAYSCALE;
      jpeg_set_defaults(&jpeg_);
      jpeg_set_quality(&jpeg_, 95, TRUE);
      jpeg_start_compress(&jpeg_, TRUE);
      while (jpeg_.next_scanline < jpeg_.image_height) {
        JSAMPROW row = const_cast<JSAMPROW>(image.row(static_cast<int>(jpeg_.next_scanline)));
        jpeg_write_scanlines(&jpeg_, &row, 1);
      }
      jpeg_finish_compress(&jpeg_);
    });
    if (!done) throw Error(ErrorCategory::call, text("the JPEG cannot be encoded: ", errors_.message));
    return {reinterpret_cast<const char*>(file_), size_};
  }

 private:
  Errors errors_;
  jpeg_compress_struct jpeg_{};
  unsigned char* file_ = nullptr;
  unsigned long size_ = 0;
};

}  // namespace

AnyImage decode_jpeg(Bytes file) {
  Reader reader;
  reader.open(file);
  const Claim claim = reader.claim();
  if (claim.channels != 1 && claim.channels != 3)
    throw Error(ErrorCategory::unsupported,
                text("the JPEG has ", claim.channels, " channels (CMYK, for instance); convert it to grey or RGB"));
  if (reader.is_arithmetic())
    throw Error(ErrorCategory::unsupported,
                "the JPEG has arithmetic coding, which is not supported; convert it to Huffman coding");
  // With Huffman coding, each 8×8 block takes at least one bit. The smallest unit of the file covers at most 32×32
  // pixels. The unit has one block for every 64 of these pixels, or more than eight blocks.
  constexpr double huffman_expansion = 32 * 32 * 3;
  check(claim, file.size(), huffman_expansion);
  return reader.pixels();
}

std::string encode_jpeg(AnyImageView image) { return Writer().write(image.as<std::uint8_t>()); }

}  // namespace stereopsis::io
