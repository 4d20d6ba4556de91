#include "fuzz/fuzz.hpp"
#include "io/points.hpp"
#include "stereopsis/seeds.hpp"

using namespace stereopsis;

// Reads points by each of the readers, and converts them to seeds.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Rig rig;
  rig.focal = 20, rig.baseline = 0.1, rig.cx_left = rig.cx_right = 16, rig.cy = 12;
  for (const auto decode : {io::decode_ply, io::decode_pcd, io::decode_kitti_points})
    fuzz::expect_result_or_refusal([&] {
      const io::Points points = decode(fuzz::bytes(data, size));
      fuzz::touch(seeds_of_points(points, Pose{}, rig, {32, 24}).view());
    });
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  const std::string
      ply = "ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\nproperty ",
      pcd =
          "# .PCD v0.7\nVERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\nWIDTH 2\nHEIGHT 1\n"
          "VIEWPOINT 0 0 0 1 0 0 0\nPOINTS 2\nDATA ",
      floats("\0\0\0\x40\0\0\x80\x3f\0\0\x80\x40\0\0\0\x3f", 16);
  return {
      ply + "float z\nend_header\n0.1 0.2 2\n-0.5 0 4\n",
      "ply\nformat binary_little_endian 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\n"
      "property uchar red\nend_header\n" +
          floats,
      ply + "double z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n1 2 3\n4 5 6\n1 0\n",
      pcd + "ascii\n0.1 0.2 2\n-0.5 0 4\n",
      pcd + "binary\n" + floats + floats.substr(0, 8),
      pcd + "binary_compressed\n" + std::string("\x1a\0\0\0\x18\0\0\0\x17", 9) + floats + floats,
      floats,
      floats + floats};
}
