// Reads and writes files: images, disparity maps, point clouds, pipelines. Every reader throws Error(file) or
// Error(format) with one sentence that names the file; readers check the sizes in a header before they allocate memory.
// Every writer writes to a temporary name next to the target, waits until the disk holds the data, and renames the
// file. A symbolic link is kept, and the file to which it leads is written.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "stereopsis/disparity.hpp"
#include "stereopsis/image.hpp"
#include "stereopsis/pipeline.hpp"

namespace stereopsis {

// Reads an image: PNG (8, 16 bits), PNM (P2, P3, P5, P6; 8, 16 bits), JPEG, TIFF (8, 16 bits, float), PFM, NPY, BMP or,
// in builds with libwebp and OpenJPEG, WebP and JPEG 2000 (up to 16 bits), detected by its contents. The result is grey
// or RGB: an alpha channel is dropped, a palette expanded. A PNM's maxval and JPEG 2000's precision give the bit depth.
// Throws Error(unsupported) for a format that this build cannot read.
AnyImage read_image(const std::filesystem::path& file);

// An image and the pixels of it that are data.
struct MaskedImage {
  AnyImage image;            // pixels without data are NaN in float images, and as in the file in others
  Image<std::uint8_t> mask;  // 255 = data, 0 = no data; empty if the file does not distinguish them
  long long no_data = 0;     // number of pixels without data
};

// Reads an image like read_image(), and which pixels are no data: those with an alpha of 0 (PNG, TIFF), unless all
// are; those with the value of GDAL_NODATA (TIFF); and pixels of float images that are not finite or have a customary
// value for no data: −9999, −32767, −32768 or the lowest float. Such float pixels become NaN.
MaskedImage read_masked_image(const std::filesystem::path& file);

// Returns the orientation that the file's Exif data or TIFF tag gives, 1 to 8; 1 if it gives none. Readers ignore it:
// pixels are read as they are stored.
int image_orientation(const std::filesystem::path& file);

// Returns whether the file has the name of a video, which read_image rejects.
bool is_video(const std::filesystem::path& file);

// Reads a disparity map: float PFM, NPY or TIFF, or integers with value / scale (0 = unknown), which may be signed
// (TIFF, NPY) for OpenCV's maps: their lowest value is unknown if it is a negative multiple of 16. Unknown disparities
// become NaN. Scale 0 means usual_scale(); a file without one needs a scale, which may be negative.
Image<float> read_disparity(const std::filesystem::path& file, double scale = 0);

// Returns the scale that read_disparity() assumes: 1 for float files, 256 for 16-bit files, 0 (none) for 8-bit and
// signed 16-bit files.
double usual_scale(const std::filesystem::path& file);

// Reads a confidence from 0 to 1 for each pixel. Integer files are divided by their white (255, 65535, a PNM's maxval);
// float files are used unchanged, with NaN for values that are not finite. Throws Error(format) for floats outside 0 to
// 1.
Image<float> read_confidence(const std::filesystem::path& file);

// Reads an 8-bit mask: 255 stays 255 (the pixel counts), 0 and 128 become 0 (it does not). Throws Error(format) for any
// other value.
Image<std::uint8_t> read_mask(const std::filesystem::path& file);

// Reads the validity bits of each pixel (disparity.hpp), as `match --validity` writes them.
Image<std::uint8_t> read_validity(const std::filesystem::path& file);

// Read and write a volume of matching costs: an NPY array of (height, width, disparities), as an image with a channel
// for each disparity.
AnyImage read_volume(const std::filesystem::path& file);
void write_volume(const std::filesystem::path& file, AnyImageView volume);

// Writes an image: 8- or 16-bit PNG, PNM, TIFF or NPY; 8-bit JPEG; float PFM, TIFF or NPY, with NaN as it is. The
// extension selects the format.
void write_image(const std::filesystem::path& file, AnyImageView image);

// Writes a disparity map: .pfm (+Inf = invalid), .npy, .tif, .tiff (float, NaN = invalid), .png (16-bit, ×256, 0 =
// invalid, a valid 0 is written as 1), or 8-bit .png/.pgm with scale > 0. Throws an Error for negative disparities in
// PNG and PGM. The float formats suit other float maps, too, such as depth.
void write_disparity(const std::filesystem::path& file, ImageView<const float> disparity, double scale = 0);

// Throws the errors that write_disparity would throw for this file name, before any work is done: unknown extension,
// missing folder, no permission.
void check_writable_disparity(const std::filesystem::path& file, DisparityRange range, double scale = 0);
// Does the same for any other file.
void check_writable(const std::filesystem::path& file);

// Writes a binary PLY: organised if `organised` (width × height vertices, NaN where invalid), else valid points only.
// `points` has 3 channels; `colour` (RGB or grey, 8 bits) and `confidence` may be empty.
void write_point_cloud(const std::filesystem::path& file, ImageView<const float> points,
                       ImageView<const std::uint8_t> colour, ImageView<const float> confidence, bool organised);

// Returns whether `file` is as long as its header announces and, unless `size` is 0×0, contains an image of that size;
// returns false for a truncated result. Supports PNG, JPEG, TIFF, binary PNM, PFM, NPY, and clouds as write_point_cloud
// writes them. Pixels are decoded only if the format requires it.
bool is_whole(const std::filesystem::path& file, Size size = {});

// Returns the file that is written under this name: follows symbolic links, even if the last one leads to no file yet.
std::filesystem::path follow_links(const std::filesystem::path& file);

// Writes the text completely or not at all.
void write_text(const std::filesystem::path& file, const std::string& contents);
// Reads a whole file. Throws Error(file).
std::string read_text(const std::filesystem::path& file);

// Call this before a program ends with unfinished work. It removes the temporary files of unfinished writes. Later
// writes neither begin nor end: a thread that tries to write waits forever.
void abandon_writing();
// Removes the temporary files of a process that was killed while it wrote `file`. No other process may write the file
// at the same time.
void remove_leftovers(const std::filesystem::path& file);

// Throws Error(format) if the JSON nests lists and objects more than 64 levels deep. Call this function before parsing:
// code that reads, prints or compares deeper JSON would overflow the stack.
void check_json_depth(std::string_view json);

// Returns the value as in a pipeline's JSON.
std::string to_json(const ParameterInfo& parameter);
// Returns the pipeline as JSON. Keys may be in any order; the refinements, whose order matters, are a list.
std::string to_json(const Pipeline& pipeline);
// Inverts to_json(). Throws Error(format) with the position of the error.
Pipeline pipeline_from_json(const std::string& json);
// Reads a pipeline from a JSON file.
Pipeline read_pipeline(const std::filesystem::path& file);

}  // namespace stereopsis
