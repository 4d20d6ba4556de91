#include "fuzz/fuzz.hpp"
#include "io/calibration_formats.hpp"
#include "io/calibration_kinds.hpp"

using namespace stereopsis;

// A zero byte separates the left from the right camera's file.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t end = text.find('\0');
  // The detectors of files that hold no calibration, and of files with both cameras.
  fuzz::expect_result_or_refusal([&] { io::check_kind(text); });
  fuzz::expect_result_or_refusal([&] {
    if (io::is_ost(text)) static_cast<void>(io::calibration_in({io::parse_ost(text), {}}));
  });
  fuzz::expect_result_or_refusal([&] {
    io::Inputs inputs{{io::Document::parse(text.substr(0, end))}, {}};
    inputs.options.size = {640, 480};
    if (end != std::string_view::npos) inputs.files.push_back(io::Document::parse(text.substr(end + 1)));
    const CalibrationFile file = io::calibration_in(inputs);
    static_cast<void>(file.rig.range(1, 100));
    if (file.cameras) static_cast<void>(file.cameras->left.lens.project({0.1, 0.2, 1}));
  });
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  const std::string ros_camera =
      "image_width: 640\nimage_height: 480\ncamera_name: left\nprojection_matrix:\n  rows: 3\n  cols: 4\n"
      "  data: [400, 0, 320, 0, 0, 400, 240, 0, 0, 0, 1, 0]\n";
  const std::string ros_right =
      "image_width: 640\nimage_height: 480\nprojection_matrix:\n  data:\n  - 400\n  - 0\n  - 320\n  - -48\n  - 0\n"
      "  - 400\n  - 240\n  - 0\n  - 0\n  - 0\n  - 1\n  - 0\n";
  const std::string matrix = " !!opencv-matrix\n   rows: 3\n   cols: 3\n   dt: d\n   data: [ ";
  const std::string opencv_cameras =
      "%YAML:1.0\n---\nimage_width: 640\nimage_height: 480\nunit: \"mm\"\nM1:" + matrix +
      "500, 0, 320, 0, 500, 240, 0, 0, 1 ]\n" + "D1:" + matrix + "-0.2, 0.1, 0, 0, 0 ]\nM2:" + matrix +
      "500, 0, 320, 0, 500, 240, 0, 0, 1 ]\nD2:" + matrix + "-0.2, 0.1, 0, 0, 0 ]\n" + "R1:" + matrix +
      "1, 0, 0, 0, 1, 0, 0, 0, 1 ]\nR2:" + matrix + "0.6, 0.8, 0, -0.8, 0.6, 0, 0, 0, 1 ]\n" + "P1:" + matrix +
      "440, 0, 320, 0, 0, 440, 240, 0, 0, 0, 1, 0 ]\nP2:" + matrix +
      "440, 0, 320, -1400, 0, 440, 240, 0, 0, 0, 1, 0 ]\n";
  const std::string kalibr_camera =
      ":\n  camera_model: pinhole\n  distortion_coeffs: [-0.3, 0.1, 0, 0]\n  distortion_model: radtan\n"
      "  intrinsics: [500, 500, 320, 240]\n  resolution: [640, 480]\n";
  const std::string depthai_camera =
      "{\"cameraType\": 0, \"width\": 640, \"height\": 480, \"distortionCoeff\": [-0.3, 0.1, 0, 0, 0],\n"
      "\"intrinsicMatrix\": [[500, 0, 320], [0, 500, 240], [0, 0, 1]], \"extrinsics\": {\"toCameraSocket\": 2,\n"
      "\"rotationMatrix\": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], \"translation\": {\"x\": -7.5, \"y\": 0, \"z\": 0}}}";
  const std::string agisoft_sensor =
      "<sensor id=\"0\"><calibration><resolution width=\"640\" height=\"480\"/><f>500</f><k1>-0.3</k1></calibration>"
      "</sensor>";
  return {
      "cam0" + kalibr_camera + "cam1" + kalibr_camera +
          "  T_cn_cnm1:\n  - [1, 0, 0, -0.1]\n  - [0, 1, 0, 0]\n  - [0, 0, 1, 0]\n  - [0, 0, 0, 1]\n",
      "[LEFT_CAM_HD]\nfx=500\nfy=500\ncx=320\ncy=240\n[RIGHT_CAM_HD]\nfx=500\nfy=500\ncx=320\ncy=240\n[STEREO]\n"
      "Baseline=120\nRX_HD=0.01\n",
      "{\"left\": {\"width\": 640, \"height\": 480, \"fx\": 500.0, \"fy\": 500.0, \"ppx\": 320.0, \"ppy\": 240.0},\n"
      "\"right\": {\"width\": 640, \"height\": 480, \"fx\": 500.0, \"fy\": 500.0, \"ppx\": 320.0, \"ppy\": 240.0},\n"
      "\"rotation\": [1, 0, 0, 0, 1, 0, 0, 0, 1], \"translation\": [-0.05, 0, 0]}",
      "{\"cameraData\": [[1, " + depthai_camera + "], [2, " + depthai_camera +
          "]], \"stereoRectificationData\": {\"leftCameraSocket\": 1, \"rightCameraSocket\": 2}}",
      std::string("1 OPENCV 640 480 500 500 320 240 -0.3 0.1 0 0\n") + '\0' +
          "1 2 CAMERA 1 CAMERA 1 1 1 0 0 0 -0.1 0 0\n",
      "<document><chunk><sensors>" + agisoft_sensor + "</sensors><cameras>" +
          "<camera id=\"0\" sensor_id=\"0\"><transform>1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1</transform></camera>" +
          "<camera id=\"1\" sensor_id=\"0\"><transform>1 0 0 1 0 1 0 0 0 0 1 0 0 0 0 1</transform></camera>" +
          "</cameras></chunk></document>",
      "{\"intrinsic\": {\"fx\": 2262.5, \"u0\": 1096.9, \"v0\": 513.1}, \"extrinsic\": {\"baseline\": 0.21}}",
      "cam0=[999.421 0 294.182; 0 999.421 252.932; 0 0 1]\ncam1=[999.421 0 326.96; 0 999.421 252.932; 0 0 1]\n"
      "doffs=32.778\nbaseline=193.001\nwidth=741\nheight=497\n",
      "P0: 700 0 600 0 0 700 180 0 0 0 1 0\nP1: 700 0 600 -380 0 700 180 0 0 0 1 0\n",
      "calib_time: 09-Jan-2012 13:57:47\nS_rect_02: 1242 375\nP_rect_02: 700 0 600 40 0 700 180 0.2 0 0 1 0.002\n"
      "P_rect_03: 700 0 600 -330 0 700 180 0.3 0 0 1 0.003\n",
      "%YAML:1.0\n---\nP1: !!opencv-matrix\n   rows: 3\n   cols: 4\n   dt: d\n   data: [ 4.4e+02, 0., 3.2e+02, 0., "
      "0.,\n"
      "       440., 240., 0., 0., 0., 1., 0. ]\nP2: !!opencv-matrix\n   data: [ 440., 0., 320., -1.4e+03, 0., 440.,\n"
      "       240., 0., 0., 0., 1., 0. ]\n",
      "<?xml version=\"1.0\"?>\n<opencv_storage>\n<Q type_id=\"opencv-matrix\">\n  <rows>4</rows><cols>4</cols>\n"
      "  <data>1. 0. 0. -320. 0. 1. 0. -240. 0. 0. 0. 440.\n 0. 0. 0.3 0.</data></Q>\n"
      "<imageSize>640 480</imageSize>\n</opencv_storage>\n",
      ros_camera + '\0' + ros_right,
      "# oST version 5.0 parameters\n[image]\nwidth\n640\nheight\n480\n[left]\ncamera matrix\n500 0 320\n0 500 240\n0 "
      "0 1\n"
      "distortion\n-0.3 0.1 0 0 0\nrectification\n1 0 0\n0 1 0\n0 0 1\nprojection\n400 0 320 0\n0 400 240 0\n0 0 1 0\n"
      "[right]\nprojection\n400 0 320 -48\n0 400 240 0\n0 0 1 0\n",
      opencv_cameras,
  };
}
