// Files: images, disparity maps, point clouds, pipelines. Every reader throws Error(file) or
// Error(format) with one sentence that names the file; none allocates by an unchecked header. Every
// writer writes to a temporary name beside the target, waits until the disk holds it and renames it. A symbolic link
// stays: the file it leads to is written.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "stereopsis/disparity.hpp"
#include "stereopsis/image.hpp"
#include "stereopsis/pipeline.hpp"

namespace stereopsis {

// PNG (8, 16 bits), PNM (P2, P3, P5, P6; 8, 16 bits), JPEG, TIFF (8, 16 bits, float), PFM, NPY, told apart by
// their contents. Grey or RGB; an alpha channel is dropped, a palette expanded. A PNM's maxval gives the bit depth.
AnyImage read_image(const std::filesystem::path& file);

// Float PFM, NPY or TIFF, or PNG/PGM with value / scale (0 = unknown); NaN where unknown. Scale 0: 1 for
// float files, 256 for 16-bit files; 8-bit files need one.
Image<float> read_disparity(const std::filesystem::path& file, double scale = 0);

// A confidence from 0 to 1 for each pixel: integer files divided by their white (255, 65535, a PNM's maxval), float files
// as they are, NaN where those are not finite. Throws Error(format) for floats outside 0 to 1.
Image<float> read_confidence(const std::filesystem::path& file);

// An 8-bit mask: 255 where it is 255 (the pixel counts), 0 where it is 0 or 128 (it does not). Throws Error(format) for
// any other value.
Image<std::uint8_t> read_mask(const std::filesystem::path& file);

// The reasons and marks of each pixel (disparity.hpp), as `match --validity` writes them.
Image<std::uint8_t> read_validity(const std::filesystem::path& file);

// A volume of matching costs: an NPY array of (height, width, disparities), as an image with a channel for each disparity.
AnyImage read_volume(const std::filesystem::path& file);
void write_volume(const std::filesystem::path& file, AnyImageView volume);

// 8- or 16-bit PNG, PNM, TIFF or NPY; 8-bit JPEG; float PFM, TIFF or NPY: the extension decides.
void write_image(const std::filesystem::path& file, AnyImageView image);

// .pfm (+Inf = invalid), .npy, .tif, .tiff (float, NaN = invalid), .png (16-bit, ×256, 0 = invalid, a valid 0 is
// written as 1), or 8-bit .png/.pgm with scale > 0. Refuses negative disparities in PNG and PGM.
void write_disparity(const std::filesystem::path& file, ImageView<const float> disparity, double scale = 0);

// Throws what write_disparity would throw for this file name, before any work is done: unknown extension,
// missing folder, no permission.
void check_writable_disparity(const std::filesystem::path& file, DisparityRange range, double scale = 0);
// The same of any other file.
void check_writable(const std::filesystem::path& file);

// Binary PLY, organised when `organised` (width × height vertices, NaN where invalid) or valid points only.
// `points` has 3 channels; `colour` (RGB or grey, 8 bits) and `confidence` may be empty.
void write_point_cloud(const std::filesystem::path& file, ImageView<const float> points,
                       ImageView<const std::uint8_t> colour, ImageView<const float> confidence, bool organised);

// Returns whether `file` is as long as its header announces and, unless `size` is 0×0, holds an image of that size:
// false for a result that was cut off. PNG, JPEG, TIFF, binary PNM, PFM, NPY, and clouds as write_point_cloud writes
// them. The pixels are decoded only where the format says nothing without them.
bool is_whole(const std::filesystem::path& file, Size size = {});

// The file that is written under this name: symbolic links are followed, also where the last one leads to no file yet.
std::filesystem::path follow_links(const std::filesystem::path& file);

// The text, whole or not at all.
void write_text(const std::filesystem::path& file, const std::string& contents);
// A whole file. Throws Error(file).
std::string read_text(const std::filesystem::path& file);

// For a program that is about to end before its work does: removes the temporary files of what is being written, and lets no
// write begin or end any more: a thread that tries waits for ever.
void abandon_writing();
// Removes the temporary files that a process which was killed while it wrote `file` has left. Nobody may be writing it.
void remove_leftovers(const std::filesystem::path& file);

// Throws Error(format) where the JSON nests lists and objects more than 64 levels deep. Call it before a parser does its
// work: what reads, prints or compares deeper JSON would overflow the stack.
void check_json_depth(std::string_view json);

// The value, as a pipeline's JSON has it.
std::string to_json(const ParameterInfo& parameter);
// Keys come in any order; the refinements, which have one, are a list.
std::string to_json(const Pipeline& pipeline);
// The inverse of to_json(). Throws Error(format) with the place of what is wrong.
Pipeline pipeline_from_json(const std::string& json);
// The same from a file.
Pipeline read_pipeline(const std::filesystem::path& file);

}  // namespace stereopsis
