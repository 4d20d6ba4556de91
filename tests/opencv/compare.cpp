// Accuracy and time of the drop-in next to cv::StereoSGBM, with the same arguments, on the scenes of a folder, in one run; a
// table in Markdown. The arguments and the images (grey or colour) are those of src/command/peers.json; both leave out the columns
// that OpenCV leaves out. They run by turns, so that what else the machine does falls on both. How much each leaves out differs with
// the same arguments, so that both are scored dense as well, by one rule.
// opencv_compare FOLDER [THREADS] [RUNS]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <opencv2/calib3d.hpp>
#include <opencv2/imgproc.hpp>
#include <vector>

#include "command/dense.hpp"
#include "command/peer_settings.hpp"
#include "stereopsis/dataset.hpp"
#include "stereopsis/evaluation.hpp"
#include "stereopsis/opencv.hpp"

namespace {

using namespace stereopsis;

constexpr struct {
  const char* name;
  int mode;
} modes[] = {{"3WAY", cv::StereoSGBM::MODE_SGBM_3WAY},
             {"SGBM", cv::StereoSGBM::MODE_SGBM},
             {"HH4", cv::StereoSGBM::MODE_HH4},
             {"HH", cv::StereoSGBM::MODE_HH}};

// Means over scenes, and the sum of the times.
struct Score {
  double bad = 0;        // percent of the counted pixels that are off by more than a pixel, once holes are filled
  double bad_valid = 0;  // percent of those that have one
  double density = 0;    // percent
  double ms = 0;
};

cv::Mat as_mat(const AnyImage& image, bool colour) {
  const cv::Mat m = opencv::mat(std::get<Image<std::uint8_t>>(image.pixels));
  cv::Mat out = m;
  if (m.channels() == 3) cv::cvtColor(m, out, colour ? cv::COLOR_RGB2BGR : cv::COLOR_RGB2GRAY);
  return out;
}

// A matcher's result of a pair, and how long it took each time.
struct Runs {
  cv::Mat disparity = {};
  std::vector<double> ms = {};

  void once(cv::StereoSGBM& matcher, const cv::Mat& left, const cv::Mat& right) {
    const auto start = std::chrono::steady_clock::now();
    matcher.compute(left, right, disparity);
    ms.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  // Leaves the first run out, which warms up.
  double median() {
    std::sort(ms.begin() + 1, ms.end());
    return ms[1 + (ms.size() - 1) / 2];
  }
};

void add(Score& score, const cv::Mat& sixteenths, const LoadedScene& scene, const Image<std::uint8_t>& counted) {
  Image<float> disparity(sixteenths.cols, sixteenths.rows);
  for (int y = 0; y < sixteenths.rows; ++y)
    for (int x = 0; x < sixteenths.cols; ++x) {
      const short d = sixteenths.at<short>(y, x);
      disparity(x, y) = d < 0 ? invalid_disparity : static_cast<float>(d) / 16;
    }
  const Evaluation e = evaluate(disparity, scene.truth, counted);
  score.bad_valid += e.valid.bad10;
  score.density += e.all.density;
  command::make_dense(disparity);
  score.bad += evaluate(disparity, scene.truth, counted).all.bad10;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2) return std::fprintf(stderr, "opencv_compare FOLDER [THREADS] [RUNS]\n"), 2;
  const int threads = argc > 2 ? std::atoi(argv[2]) : 0, runs = argc > 3 ? std::atoi(argv[3]) : 5;
  cv::setNumThreads(threads > 0 ? threads : -1);
  Score theirs[std::size(modes)], ours[std::size(modes)];
  int scenes = 0;
  for (const DatasetScene& found : find_scenes(argv[1])) {
    const LoadedScene scene = load_scene(found);
    const auto region =
        std::find_if(scene.regions.begin(), scene.regions.end(), [](const auto& r) { return r.name == "nonocc"; });
    if (region == scene.regions.end()) continue;
    const int disparities = (found.disparities + 15) / 16 * 16;
    if (scene.left.size().width <= 2 * disparities) continue;
    Image<std::uint8_t> counted = region->mask;
    for (int y = 0; y < counted.height(); ++y) std::fill_n(counted.row(y), disparities, std::uint8_t{0});
    ++scenes;
    for (std::size_t i = 0; i < std::size(modes); ++i) {
      const auto [colour, p] = command::opencv_setting(modes[i].name, found.dataset, scene.left.channels());
      const cv::Mat left = as_mat(scene.left, colour), right = as_mat(scene.right, colour);
      const int block = p.at("blockSize"), p1 = p.at("P1"), p2 = p.at("P2"), check = p.at("disp12MaxDiff");
      const int cap = p.at("preFilterCap"), unique = p.at("uniquenessRatio");
      const int speckle = p.at("speckleWindowSize"), range = p.at("speckleRange"), mode = modes[i].mode;
      const auto opencvs =
          cv::StereoSGBM::create(0, disparities, block, p1, p2, check, cap, unique, speckle, range, mode);
      const auto mine = opencv::create(0, disparities, block, p1, p2, check, cap, unique, speckle, range, mode,
                                       {.device = "cpu", .threads = threads, .strict_border = true});
      Runs of_opencv, of_mine;
      for (int run = 0; run <= runs; ++run) {
        of_opencv.once(*opencvs, left, right);
        of_mine.once(*mine, left, right);
      }
      add(theirs[i], of_opencv.disparity, scene, counted);
      add(ours[i], of_mine.disparity, scene, counted);
      theirs[i].ms += of_opencv.median();
      ours[i].ms += of_mine.median();
    }
  }
  std::printf("%d scenes, %d threads, OpenCV %s\n\n", scenes, threads, CV_VERSION);
  std::printf(
      "| mode | bad > 1 px, filled, %%: OpenCV | here | bad of the valid, %%: OpenCV | here | density, %%: OpenCV | "
      "here | ms: OpenCV | here | times as fast |\n");
  std::printf("|---|---|---|---|---|---|---|---|---|---|\n");
  for (std::size_t i = 0; i < std::size(modes); ++i)
    std::printf("| %s | %.2f | %.2f | %.2f | %.2f | %.1f | %.1f | %.0f | %.0f | %.2f |\n", modes[i].name,
                theirs[i].bad / scenes, ours[i].bad / scenes, theirs[i].bad_valid / scenes, ours[i].bad_valid / scenes,
                theirs[i].density / scenes, ours[i].density / scenes, theirs[i].ms, ours[i].ms,
                theirs[i].ms / ours[i].ms);
} catch (const std::exception& error) {
  return std::fprintf(stderr, "opencv_compare: %s\n", error.what()), 1;
}
