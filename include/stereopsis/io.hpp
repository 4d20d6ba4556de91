// Reads and writes files: images, disparity maps, point clouds, pipelines. Every reader throws Error(file) or
// Error(format) with one sentence that names the file. Readers check the sizes in a header before allocating memory.
// Every writer writes to a temporary file next to the target, waits until the disk holds the data, and renames the
// file. If the target is a symbolic link, the link is kept, and the file to which it leads is replaced.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "stereopsis/disparity.hpp"
#include "stereopsis/image.hpp"
#include "stereopsis/pipeline.hpp"

namespace stereopsis {

// Reads an image, whose format is detected from the contents: PNG (8, 16 bits), PNM (P2, P3, P5, P6; 8, 16 bits), JPEG,
// TIFF (8, 16 bits, float), PFM, NPY or BMP. Builds with libwebp and OpenJPEG also read WebP and JPEG 2000 (up to 16
// bits). The result is grey or RGB: alpha channels are dropped, and palettes are expanded. The bit depth is taken from
// the maxval of a PNM file and the precision of a JPEG 2000 file. Throws Error(unsupported) for a format that this
// build cannot read.
//
// The name may end with a picture of the file: pair.tif[1] is the second page of a TIFF or the second picture of an MPO,
// unless a file has this name itself. Throws Error(format) for a file with several pictures if none is chosen. Reduced
// images, such as thumbnails and the levels of a pyramid, are not counted. All other readers of images do the same.
AnyImage read_image(const std::filesystem::path& file);

// An image, and the mask of pixels that contain data.
struct MaskedImage {
  AnyImage image;            // pixels without data are NaN in float images, and unchanged in other images
  Image<std::uint8_t> mask;  // 255 = data, 0 = no data; empty if the file does not distinguish between them
  long long no_data = 0;     // number of pixels without data
};

// Reads an image like read_image(), and determines which pixels have no data. These are pixels with an alpha of 0 (PNG,
// TIFF), unless all pixels have this alpha, and pixels with the value of GDAL_NODATA (TIFF). In float images, pixels
// also have no data if they are not finite or have a customary value for no data (−9999, −32767, −32768 or the lowest
// float). Float pixels without data become NaN.
MaskedImage read_masked_image(const std::filesystem::path& file);

// Returns the orientation, 1 to 8, that the Exif data or the TIFF tag of the file states; 1 if none is stated. Readers
// ignore the orientation: they return pixels as stored.
int image_orientation(const std::filesystem::path& file);
// Returns the focal length in pixels of an image of `size`, which follows from the focal length in 35 mm film that the
// Exif data states (FocalLengthIn35mmFilm; CIPA DC-008); nothing if none is stated.
std::optional<double> photo_focal(const std::filesystem::path& file, Size size);

// Returns the number of pictures in an image file: pages of a TIFF that are not reduced images or masks, views of an
// MPO; 1 for other files.
std::size_t picture_count(const std::filesystem::path& file);
// Returns the file of an image's name: pair.tif for pair.tif[1], and the name itself if it chooses no picture.
std::filesystem::path image_file(const std::filesystem::path& name);

// Returns whether the name of the file is that of a video, which read_image rejects.
bool is_video(const std::filesystem::path& file);

// Reads a disparity map: float PFM, NPY or TIFF, or integers with disparity = value / scale (0 = unknown). Signed
// integers (TIFF, NPY) are OpenCV's maps, in which the lowest value is unknown if it is a negative, whole number of
// pixels. Unknown disparities become NaN. The scale 0 stands for the usual scale: 1 for float files, and 256 for 16-bit
// files. 8-bit and signed 16-bit files have no usual scale and require one. The scale may be negative: no lowest value
// is then unknown.
Image<float> read_disparity(const std::filesystem::path& file, double scale = 0);

// A disparity map and the scales of its file.
struct ScaledDisparity {
  Image<float> values;     // disparities, in pixels
  double scale = 1;        // the scale with which the file was read
  double usual_scale = 1;  // the scale that read_disparity() assumes; 0 if files of this type have none
};
// Reads a disparity map like read_disparity(). If no scale is given and the file has no usual scale, the scale is 1.
ScaledDisparity read_scaled_disparity(const std::filesystem::path& file, double scale = 0);

// Reads a confidence map, with values from 0 to 1. Integers are divided by the largest value of the file (255, 65535,
// or the maxval of a PNM). Floats are used unchanged, and values that are not finite become NaN. Throws Error(format)
// for floats outside 0 to 1.
Image<float> read_confidence(const std::filesystem::path& file);

// Reads an 8-bit mask: 255 (the pixel counts) stays 255, and 0 and 128 (the pixel does not count) become 0. Throws
// Error(format) for any other value.
Image<std::uint8_t> read_mask(const std::filesystem::path& file);

// Reads the validity bits of each pixel (disparity.hpp), as `match --validity` writes them.
Image<std::uint8_t> read_validity(const std::filesystem::path& file);

// Read and write a volume of matching costs as an NPY array of (height, width, disparities). In memory, the volume is
// an image with one channel per disparity.
AnyImage read_volume(const std::filesystem::path& file);
void write_volume(const std::filesystem::path& file, AnyImageView volume);

// Writes an image: 8- or 16-bit PNG, PNM, TIFF or NPY; 8-bit JPEG; float PFM, TIFF or NPY, in which NaN is kept. The
// extension selects the format.
void write_image(const std::filesystem::path& file, AnyImageView image);

// Writes a disparity map. Float formats are .pfm (invalid = +Inf) and .npy, .tif, .tiff (invalid = NaN). Integer
// formats are 16-bit .png (×256, invalid = 0, a valid 0 is written as 1) and, with scale > 0, 8-bit .png and .pgm.
// Throws an Error for negative disparities in an integer format. The float formats can also store other float maps,
// such as depth.
void write_disparity(const std::filesystem::path& file, ImageView<const float> disparity, double scale = 0);

// Throws the errors that write_disparity would throw for this file name, so that they occur before long work: unknown
// extension, missing folder, no permission.
void check_writable_disparity(const std::filesystem::path& file, DisparityRange range, double scale = 0);
// Checks the file name of any other output in the same way.
void check_writable(const std::filesystem::path& file);

// Writes a point cloud as binary PLY. With `organised`, the file has width × height vertices, NaN where invalid,
// otherwise the valid points only. `points` has 3 channels; `colour` (RGB or grey, 8 bits) and `confidence` may be
// empty.
void write_point_cloud(const std::filesystem::path& file, ImageView<const float> points,
                       ImageView<const std::uint8_t> colour, ImageView<const float> confidence, bool organised);

// Returns whether `file` is as long as its header announces and, unless `size` is 0×0, has an image of this size.
// Supports PNG, JPEG, TIFF, binary PNM, PFM, NPY, and clouds as write_point_cloud writes them. Pixels are decoded only
// if the length of the file cannot be checked otherwise.
bool is_whole(const std::filesystem::path& file, Size size = {});

// Returns the file that a write to this name would replace. Follows symbolic links, even if the last link leads to no
// existing file.
std::filesystem::path follow_links(const std::filesystem::path& file);

// Returns the name of a hidden file next to `file`: "." + name + ending. A hash replaces a name that would become longer
// than 255 bytes.
std::filesystem::path name_beside(const std::filesystem::path& file, const std::string& ending);

// Creates an empty file next to `file`, which another library then writes, and returns its name. The name has the host,
// the process and the extension of `file`. Throws the errors of check_writable().
std::filesystem::path unfinished_file(const std::filesystem::path& file);
// Renames the complete file to `file`, after the disk holds its contents. Throws Error(file).
void finish_file(const std::filesystem::path& unfinished, const std::filesystem::path& file);

// Writes the complete text, or leaves the file unchanged.
void write_text(const std::filesystem::path& file, std::string_view contents);
// Reads a whole file, without a byte order mark. Throws Error(file) if the file cannot be read.
std::string read_text(const std::filesystem::path& file);

// Call this before a program ends with unfinished work. The call removes the temporary files of unfinished writes.
// After the call, a thread that tries to write waits forever.
void abandon_writing();
// Removes the temporary files that processes of this machine left in the folder of `file`, when they were killed while
// they wrote. Files of running processes and of other machines remain.
void remove_leftovers(const std::filesystem::path& file);

// Throws Error(format) if lists and objects in the JSON are nested more than 64 levels deep. Call this function before
// parsing: code that reads, prints or compares deeper JSON would overflow the stack.
void check_json_depth(std::string_view json);

// Returns the value of a parameter in the notation of a pipeline's JSON.
std::string to_json(const ParameterInfo& parameter);
// Returns the pipeline as JSON. Keys may be in any order; the refinements, whose order matters, are a list.
std::string to_json(const Pipeline& pipeline);
// Returns the pipeline that to_json() has written. Throws Error(format) with the position of the error.
Pipeline pipeline_from_json(const std::string& json);
// Reads a pipeline from a JSON file.
Pipeline read_pipeline(const std::filesystem::path& file);

}  // namespace stereopsis
