// JPEG 2000 through OpenJPEG: reads files (JP2) and bare code streams (J2K), grey or RGB with up to 16 bits. Writes files
// without loss.
#include "core/text.hpp"
#include "io/codecs.hpp"

#ifdef STEREOPSIS_JPEG2000

#include <openjpeg.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <memory>

#include "io/tokens.hpp"

namespace stereopsis::io {
namespace {

// The file contents in memory, with callbacks for OpenJPEG.
struct Source {
  Bytes bytes;
  std::size_t position = 0;

  static OPJ_SIZE_T read(void* to, OPJ_SIZE_T size, void* source) {
    auto& s = *static_cast<Source*>(source);
    const std::size_t count = std::min(size, s.bytes.size() - s.position);
    if (count == 0) return std::numeric_limits<OPJ_SIZE_T>::max();
    std::memcpy(to, s.bytes.data() + s.position, count);
    s.position += count;
    return count;
  }
  static OPJ_OFF_T skip(OPJ_OFF_T count, void* source) {
    auto& s = *static_cast<Source*>(source);
    if (count < 0 || static_cast<std::size_t>(count) > s.bytes.size() - s.position) return -1;
    s.position += static_cast<std::size_t>(count);
    return count;
  }
  static OPJ_BOOL seek(OPJ_OFF_T position, void* source) {
    auto& s = *static_cast<Source*>(source);
    if (position < 0 || static_cast<std::size_t>(position) > s.bytes.size()) return OPJ_FALSE;
    s.position = static_cast<std::size_t>(position);
    return OPJ_TRUE;
  }
};

// The file that is written, with callbacks for OpenJPEG. No exception may pass through OpenJPEG.
struct Target {
  std::string bytes;
  std::size_t position = 0;

  static OPJ_SIZE_T write(void* from, OPJ_SIZE_T size, void* target) try {
    auto& t = *static_cast<Target*>(target);
    t.bytes.resize(std::max(t.bytes.size(), t.position + size));
    std::memcpy(t.bytes.data() + t.position, from, size);
    t.position += size;
    return size;
  } catch (const std::exception&) {
    return std::numeric_limits<OPJ_SIZE_T>::max();
  }
  static OPJ_OFF_T skip(OPJ_OFF_T count, void* target) {
    auto& t = *static_cast<Target*>(target);
    return seek(static_cast<OPJ_OFF_T>(t.position) + count, target) == OPJ_TRUE ? count : -1;
  }
  static OPJ_BOOL seek(OPJ_OFF_T position, void* target) {
    static_cast<Target*>(target)->position = static_cast<std::size_t>(position);
    return OPJ_TRUE;
  }
};

template <auto release>
struct Release {
  template <class T>
  void operator()(T* object) const {
    release(object);
  }
};
using Codec = std::unique_ptr<opj_codec_t, Release<opj_destroy_codec>>;
using Stream = std::unique_ptr<opj_stream_t, Release<opj_stream_destroy>>;
using Picture = std::unique_ptr<opj_image_t, Release<opj_image_destroy>>;

[[noreturn]] void damaged(std::string why) {
  why.erase(why.find_last_not_of(" \n") + 1);
  throw Error(ErrorCategory::format,
              text("the JPEG 2000 data cannot be decoded (", why.empty() ? "cut off" : Tokens::printable(why, 200),
                   "); the file is damaged"));
}

[[noreturn]] void unsupported(const std::string& what) {
  throw Error(ErrorCategory::unsupported,
              text("the JPEG 2000 has ", what, "; convert it to grey or RGB with 8 or 16 bits"));
}

// Returns the number of channels, 1 or 3. Further components, such as alpha, are dropped.
int channels_of(const opj_image_t& image) {
  if (image.numcomps < 1) damaged("no component");
  if (image.color_space == OPJ_CLRSPC_SYCC || image.color_space == OPJ_CLRSPC_EYCC ||
      image.color_space == OPJ_CLRSPC_CMYK)
    unsupported("another colour space than grey or RGB");
  const int channels = image.numcomps < 3 ? 1 : 3;
  const opj_image_comp_t& first = image.comps[0];
  for (int c = 0; c < channels; ++c) {
    const opj_image_comp_t& one = image.comps[c];
    if (one.w != first.w || one.h != first.h || one.dx != first.dx || one.dy != first.dy || one.prec != first.prec)
      unsupported("components of different sizes");
    if (one.prec < 1 || one.prec > 16 || one.sgnd != 0)
      unsupported(text(one.prec, "-bit samples", one.sgnd != 0 ? " with a sign" : ""));
  }
  return channels;
}

template <class T>
Image<T> pixels_of(const opj_image_t& image, int channels) {
  const opj_image_comp_t& first = image.comps[0];
  Image<T> pixels(static_cast<int>(first.w), static_cast<int>(first.h), channels);
  for (int c = 0; c < channels; ++c)
    for (int y = 0; y < pixels.height(); ++y)
      for (int x = 0; x < pixels.width(); ++x)
        pixels(x, y, c) = static_cast<T>(image.comps[c].data[static_cast<std::size_t>(y) * first.w + x]);
  return pixels;
}

Picture picture_of(AnyImageView image) {
  opj_image_cmptparm_t components[3] = {};
  for (opj_image_cmptparm_t& one : components) {
    one.dx = one.dy = 1;
    one.w = static_cast<OPJ_UINT32>(image.width);
    one.h = static_cast<OPJ_UINT32>(image.height);
    one.prec = image.type == PixelType::u8 ? 8 : 16;
  }
  Picture picture(opj_image_create(static_cast<OPJ_UINT32>(image.channels), components,
                                   image.channels == 3 ? OPJ_CLRSPC_SRGB : OPJ_CLRSPC_GRAY));
  if (picture == nullptr) return picture;
  picture->x1 = components[0].w;
  picture->y1 = components[0].h;
  with_pixels(image, [&]<class T>(ImageView<const T> pixels) {
    for (int c = 0; c < image.channels; ++c) {
      OPJ_INT32* sample = picture->comps[c].data;
      for (int y = 0; y < image.height; ++y)
        for (int x = 0; x < image.width; ++x)
          *sample++ = static_cast<OPJ_INT32>(pixels.row(y)[static_cast<std::ptrdiff_t>(x) * image.channels + c]);
    }
  });
  return picture;
}

}  // namespace

std::string encode_jpeg2000(AnyImageView image) {
  opj_cparameters_t parameters;
  opj_set_default_encoder_parameters(&parameters);  // without loss
  parameters.tcp_numlayers = 1;
  parameters.cp_disto_alloc = 1;
  parameters.tcp_mct = image.channels == 3 ? 1 : 0;
  const auto shorter = static_cast<unsigned>(std::min(image.width, image.height));
  parameters.numresolution = std::min(parameters.numresolution, static_cast<int>(std::bit_width(shorter)));
  const Picture picture = picture_of(image);
  const Codec codec(opj_create_compress(OPJ_CODEC_JP2));
  const Stream stream(opj_stream_default_create(OPJ_FALSE));
  Target target;
  opj_stream_set_user_data(stream.get(), &target, nullptr);
  opj_stream_set_write_function(stream.get(), Target::write);
  opj_stream_set_skip_function(stream.get(), Target::skip);
  opj_stream_set_seek_function(stream.get(), Target::seek);
  if (picture == nullptr || opj_setup_encoder(codec.get(), &parameters, picture.get()) == OPJ_FALSE ||
      opj_start_compress(codec.get(), picture.get(), stream.get()) == OPJ_FALSE ||
      opj_encode(codec.get(), stream.get()) == OPJ_FALSE || opj_end_compress(codec.get(), stream.get()) == OPJ_FALSE)
    throw Error(ErrorCategory::memory, "the JPEG 2000 cannot be encoded; free memory, or use .png");
  return std::move(target.bytes);
}

AnyImage decode_jpeg2000(Bytes file) {
  Source source{file};
  std::string why;
  const bool is_bare = text_of(file).starts_with("\xff\x4f\xff\x51");
  const Codec codec(opj_create_decompress(is_bare ? OPJ_CODEC_J2K : OPJ_CODEC_JP2));
  opj_set_error_handler(
      codec.get(),
      [](const char* message, void* first) {
        if (auto& kept = *static_cast<std::string*>(first); kept.empty()) kept = message;
      },
      &why);
  opj_dparameters_t parameters;
  opj_set_default_decoder_parameters(&parameters);
  if (opj_setup_decoder(codec.get(), &parameters) == OPJ_FALSE) damaged(why);
  const Stream stream(opj_stream_default_create(OPJ_TRUE));
  opj_stream_set_user_data(stream.get(), &source, nullptr);
  opj_stream_set_user_data_length(stream.get(), file.size());
  opj_stream_set_read_function(stream.get(), Source::read);
  opj_stream_set_skip_function(stream.get(), Source::skip);
  opj_stream_set_seek_function(stream.get(), Source::seek);
  opj_image_t* header = nullptr;
  const bool has_header = opj_read_header(stream.get(), codec.get(), &header) == OPJ_TRUE;
  const Picture image(header);
  if (!has_header || image == nullptr) damaged(why);
  check_as_compressed({"JPEG 2000", std::int64_t{image->x1} - image->x0, std::int64_t{image->y1} - image->y0,
                       static_cast<int>(image->numcomps), 16},
                      file.size());
  if (opj_decode(codec.get(), stream.get(), image.get()) == OPJ_FALSE ||
      opj_end_decompress(codec.get(), stream.get()) == OPJ_FALSE)
    damaged(why);
  const int channels = channels_of(*image);  // computed after decoding, which expands a palette
  const auto bits = static_cast<int>(image->comps[0].prec);
  for (int c = 0; c < channels; ++c)
    if (image->comps[c].data == nullptr) damaged("no pixels");
  if (bits <= 8) return pixels_of<std::uint8_t>(*image, channels);
  return {pixels_of<std::uint16_t>(*image, channels), bits};
}

}  // namespace stereopsis::io

#else

namespace stereopsis::io {
namespace {
[[noreturn]] void refuse() {
  throw Error(ErrorCategory::unsupported,
              "this build has no JPEG 2000; use PNG, or install libopenjp2-7-dev and build again");
}
}  // namespace
AnyImage decode_jpeg2000(Bytes) { refuse(); }
std::string encode_jpeg2000(AnyImageView) { refuse(); }

}  // namespace stereopsis::io

#endif
