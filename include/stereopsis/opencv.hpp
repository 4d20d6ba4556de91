// Stereopsis for programs that use OpenCV (4.5 and later): an implementation of cv::StereoSGBM, and cv::Mat and GpuMat
// as views, without copies. Programs that include this header must link OpenCV (core). docs/from-opencv.md lists each
// parameter and its equivalent.
//
//   auto matcher = stereopsis::opencv::create(0, 128, 3, 0, 0, 1, 0, 10, 100, 2);   // was cv::StereoSGBM::create(…)
//   matcher->compute(left, right, disparity);                                      // CV_16S, sixteenths, as before
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <opencv2/calib3d.hpp>
#include <opencv2/core.hpp>
#include <opencv2/core/cuda.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stereopsis/matcher.hpp"

namespace stereopsis::opencv {

// ---- Converts cv::Mat and GpuMat to views, and back. The ownership of the pixels does not change.

namespace detail {

[[noreturn]] inline void refuse(const std::string& sentence) { CV_Error(cv::Error::StsBadArg, sentence); }

inline PixelType pixel_type(int depth) {
  switch (depth) {
    case CV_8U: return PixelType::u8;
    case CV_16U: return PixelType::u16;
    case CV_32F: return PixelType::f32;
    default:
      refuse(std::string("a Mat of depth ") + cv::depthToString(depth) +
             " is not supported as an image; convert it to CV_8U, CV_16U or CV_32F");
  }
}
inline int depth_of(PixelType type) { return type == PixelType::u8 ? CV_8U : type == PixelType::u16 ? CV_16U : CV_32F; }

template <class M>
std::ptrdiff_t pitch_of(const M& m) {
  if (m.step % m.elemSize1() != 0)
    refuse("a Mat's step of " + std::to_string(static_cast<std::size_t>(m.step)) +
           " bytes is not a multiple of its element size of " + std::to_string(m.elemSize1()));
  return static_cast<std::ptrdiff_t>(m.step / m.elemSize1());
}

}  // namespace detail

// Views the Mat's pixels in place. Colours are RGB in this library, but usually BGR in OpenCV: see StereoPair::format.
inline AnyImageView view(const cv::Mat& m, int bit_depth = 0) {
  AnyImageView v;
  if (m.empty()) return v;
  if (m.dims != 2)
    detail::refuse("a Mat of " + std::to_string(m.dims) + " dimensions is not an image; pass a Mat with 2 dimensions");
  v.data = m.data;
  v.type = detail::pixel_type(m.depth());
  v.width = m.cols;
  v.height = m.rows;
  v.channels = m.channels();
  v.pitch = detail::pitch_of(m);
  v.bit_depth = bit_depth != 0 ? bit_depth : v.type == PixelType::u16 ? 16 : 8;
  return v;
}

// Returns a writable view of a Mat with elements of one type.
template <class T>
ImageView<T> view_of(cv::Mat& m) {
  if (m.depth() != cv::DataType<T>::depth)
    detail::refuse(std::string("a Mat of depth ") + cv::depthToString(m.depth()) + " cannot be viewed as " +
                   cv::depthToString(cv::DataType<T>::depth));
  return {m.ptr<T>(), m.cols, m.rows, m.channels(), detail::pitch_of(m)};
}

// Returns a Mat over the view's memory, which must stay valid.
template <class T>
cv::Mat mat(ImageView<T> v) {
  using Element = std::remove_const_t<T>;
  if (v.empty()) return {};
  return {v.height, v.width, CV_MAKETYPE(cv::DataType<Element>::depth, v.channels), const_cast<Element*>(v.data),
          static_cast<std::size_t>(v.pitch) * sizeof(T)};
}
// Returns a Mat over the image's memory, which must stay valid.
template <class T>
cv::Mat mat(const Image<T>& image) {
  return mat(image.view());
}

// Views the GpuMat's pixels in place.
inline DeviceImageView view(const cv::cuda::GpuMat& m, int bit_depth = 0) {
  DeviceImageView v;
  if (m.empty()) return v;
  v.memory = reinterpret_cast<std::uintptr_t>(m.data);
  v.type = detail::pixel_type(m.depth());
  v.width = m.cols;
  v.height = m.rows;
  v.channels = m.channels();
  v.pitch = detail::pitch_of(m);
  v.bit_depth = bit_depth != 0 ? bit_depth : v.type == PixelType::u16 ? 16 : 8;
  return v;
}

// Returns a GpuMat over the view's memory, which must stay valid.
inline cv::cuda::GpuMat gpu_mat(const DeviceImageView& v) {
  if (v.empty()) return cv::cuda::GpuMat();
  const std::size_t bytes = v.type == PixelType::u8 ? 1 : v.type == PixelType::u16 ? 2 : 4;
  return {v.height, v.width, CV_MAKETYPE(detail::depth_of(v.type), v.channels),
          reinterpret_cast<void*>(static_cast<std::uintptr_t>(v.memory + static_cast<std::uint64_t>(v.offset) * bytes)),
          static_cast<std::size_t>(v.pitch) * bytes};
}

// ---- Replaces cv::StereoSGBM.

struct Options {
  std::string device = "auto";  // cpu, cuda:N, opencl:N
  int threads = 0;              // CPU threads; 0: as many as the process may use
  // True to invalidate the columns that OpenCV omits, in which some disparities lead outside the right image.
  bool strict_border = false;
  // Type of the output of compute(): CV_16S (sixteenths) or CV_32F (pixels), unless dst fixes the type.
  int depth = CV_16S;
};

// The method `sgm` of this library as a cv::StereoSGBM. Parameters of OpenCV take effect if they have an equivalent.
// Parameters of OpenCV's matching cost (P1, P2, blockSize, preFilterCap) are only stored and returned. set() sets any
// parameter of the library. Invalid pixels have the value minDisparity − 1, in sixteenths or pixels.
class StereoSGBM : public cv::StereoSGBM {
 public:
  // Constructs a matcher from the arguments of cv::StereoSGBM::create().
  explicit StereoSGBM(int minDisparity = 0, int numDisparities = 16, int blockSize = 3, int P1 = 0, int P2 = 0,
                      int disp12MaxDiff = 0, int preFilterCap = 0, int uniquenessRatio = 0, int speckleWindowSize = 0,
                      int speckleRange = 0, int mode = MODE_SGBM, const Options& options = {})
      : options_(options), numbers_{minDisparity, numDisparities,
                                    blockSize,    speckleWindowSize,
                                    speckleRange, disp12MaxDiff,
                                    preFilterCap, uniquenessRatio,
                                    P1,           P2,
                                    mode} {}

  // Hides cv::StereoSGBM's function of the same name.
  static cv::Ptr<StereoSGBM> create(int minDisparity = 0, int numDisparities = 16, int blockSize = 3, int P1 = 0,
                                    int P2 = 0, int disp12MaxDiff = 0, int preFilterCap = 0, int uniquenessRatio = 0,
                                    int speckleWindowSize = 0, int speckleRange = 0, int mode = MODE_SGBM,
                                    const Options& options = {}) {
    return cv::makePtr<StereoSGBM>(minDisparity, numDisparities, blockSize, P1, P2, disp12MaxDiff, preFilterCap,
                                   uniquenessRatio, speckleWindowSize, speckleRange, mode, options);
  }

  // Copies the parameters, but not the memory.
  StereoSGBM(const StereoSGBM& other) : options_(other.options_), numbers_(other.numbers_), own_(other.own_) {}
  StereoSGBM& operator=(const StereoSGBM&) = delete;

  void compute(cv::InputArray left, cv::InputArray right, cv::OutputArray disparity) override;
  // Matches on the device of the images: CV_8U, CV_16U or CV_32F, 1 or 3 channels (BGR). The result is CV_32F, in
  // pixels, NaN where invalid. The work is enqueued on the stream, and the call does not wait.
  void compute(const cv::cuda::GpuMat& left, const cv::cuda::GpuMat& right, cv::cuda::GpuMat& disparity,
               cv::cuda::Stream& stream = cv::cuda::Stream::Null());

  // Sets a parameter of the library ("optimisation.p1" to "12"), as listed by `stereopsis methods sgm`. Such parameters
  // override values derived from OpenCV's parameters. Throws cv::Exception for a name or a value that is not allowed.
  void set(const std::string& name, const std::string& value);
  // Returns the current value of a parameter.
  std::string get(const std::string& name) const;
  const Options& options() const { return options_; }
  void set_options(const Options& options) { options_ = options, matcher_.reset(); }
  // Return the result of the last compute() on the host in the library's form: the disparity in pixels, NaN where
  // invalid, and the validity.
  cv::Mat float_disparity() const { return mat(found_.disparity); }
  cv::Mat validity() const { return mat(found_.validity); }

  int getMinDisparity() const override { return numbers_[min_disparity]; }
  void setMinDisparity(int v) override { put(min_disparity, v); }
  int getNumDisparities() const override { return numbers_[num_disparities]; }
  void setNumDisparities(int v) override { put(num_disparities, v); }
  int getBlockSize() const override { return numbers_[block_size]; }
  void setBlockSize(int v) override { put(block_size, v); }
  int getSpeckleWindowSize() const override { return numbers_[speckle_window_size]; }
  void setSpeckleWindowSize(int v) override { put(speckle_window_size, v); }
  int getSpeckleRange() const override { return numbers_[speckle_range]; }
  void setSpeckleRange(int v) override { put(speckle_range, v); }
  int getDisp12MaxDiff() const override { return numbers_[disp12_max_diff]; }
  void setDisp12MaxDiff(int v) override { put(disp12_max_diff, v); }
  int getPreFilterCap() const override { return numbers_[pre_filter_cap]; }
  void setPreFilterCap(int v) override { put(pre_filter_cap, v); }
  int getUniquenessRatio() const override { return numbers_[uniqueness_ratio]; }
  void setUniquenessRatio(int v) override { put(uniqueness_ratio, v); }
  int getP1() const override { return numbers_[p1]; }
  void setP1(int v) override { put(p1, v); }
  int getP2() const override { return numbers_[p2]; }
  void setP2(int v) override { put(p2, v); }
  int getMode() const override { return numbers_[mode_number]; }
  void setMode(int v) override { put(mode_number, v); }

  // Write and read the files of OpenCV's class, extended by the library's parameters.
  using cv::StereoSGBM::write;
  void write(cv::FileStorage& file) const override;
  void read(const cv::FileNode& file) override;
  cv::String getDefaultName() const override { return "stereopsis_StereoSGBM"; }

 private:
  // Indices of the parameters in the order of OpenCV's files.
  enum Number {
    min_disparity,
    num_disparities,
    block_size,
    speckle_window_size,
    speckle_range,
    disp12_max_diff,
    pre_filter_cap,
    uniqueness_ratio,
    p1,
    p2,
    mode_number,
    numbers
  };
  static constexpr const char* names[numbers] = {"minDisparity", "numDisparities",
                                                 "blockSize",    "speckleWindowSize",
                                                 "speckleRange", "disp12MaxDiff",
                                                 "preFilterCap", "uniquenessRatio",
                                                 "P1",           "P2",
                                                 "mode"};
  using Settings = std::vector<std::pair<std::string, std::string>>;
  static constexpr int most_speckle_size = 1000000;
  static constexpr const char* file_name = "StereoMatcher.SGBM";

  void put(Number n, int value) {
    if (numbers_[n] == value) return;
    numbers_[n] = value;
    matcher_.reset();
  }
  DisparityRange range() const { return {numbers_[min_disparity], numbers_[num_disparities]}; }
  Pipeline pipeline(const Settings& own) const;
  void check_range(int depth) const;
  Matcher& matcher(const Problem&, const std::string& device);
  // Invalidates the columns that OpenCV omits.
  void leave_out_border(ImageView<float> disparity) const;
  void write_disparity(cv::OutputArray, int depth) const;

  Options options_;
  std::array<int, numbers> numbers_;
  Settings own_;                    // parameters set by name, in order
  std::optional<Matcher> matcher_;  // the matcher of the last problem
  std::string device_;
  Matched found_;
  DeviceImage validity_;
};

// Creates a matcher like cv::StereoSGBM::create, with the same arguments and defaults.
inline cv::Ptr<StereoSGBM> create(int minDisparity = 0, int numDisparities = 16, int blockSize = 3, int P1 = 0,
                                  int P2 = 0, int disp12MaxDiff = 0, int preFilterCap = 0, int uniquenessRatio = 0,
                                  int speckleWindowSize = 0, int speckleRange = 0, int mode = cv::StereoSGBM::MODE_SGBM,
                                  const Options& options = {}) {
  return StereoSGBM::create(minDisparity, numDisparities, blockSize, P1, P2, disp12MaxDiff, preFilterCap,
                            uniquenessRatio, speckleWindowSize, speckleRange, mode, options);
}

// ---- Implementation of compute().

namespace detail {

// Converts errors of the library to exceptions of OpenCV, as its callers expect.
template <class F>
auto as_opencv(F&& f) {
  try {
    return f();
  } catch (const Error& error) {
    CV_Error(error.category() == ErrorCategory::memory ? cv::Error::StsNoMem : cv::Error::StsBadArg, error.what());
  }
}

inline const char* text_of(bool value) { return value ? "true" : "false"; }

}  // namespace detail

// Converts OpenCV's parameters to a pipeline. In StereoSGBM, a difference of 0 or less means 1, and a uniqueness below
// 0 means 10.
inline Pipeline StereoSGBM::pipeline(const Settings& own) const {
  Pipeline p("sgm");
  const auto& n = numbers_;
  if (n[mode_number] < MODE_SGBM || n[mode_number] > MODE_HH4)
    detail::refuse("the mode " + std::to_string(n[mode_number]) +
                   " is not allowed; it must be MODE_SGBM (0), MODE_HH (1), MODE_SGBM_3WAY (2) or MODE_HH4 (3)");
  // A limit larger than any difference of disparities disables the check.
  const int difference = n[disp12_max_diff] > 0 ? n[disp12_max_diff] : 1;
  const bool checks = difference < n[num_disparities];
  p.set("optimisation.paths", n[mode_number] == MODE_HH ? "8" : "4");
  p.set("select.uniqueness", std::to_string(n[uniqueness_ratio] >= 0 ? n[uniqueness_ratio] : 10));
  p.set("left_right.enabled", detail::text_of(checks));
  if (checks) p.set("left_right.threshold", std::to_string(difference));
  p.set("speckle.enabled", detail::text_of(n[speckle_window_size] > 0));
  if (n[speckle_window_size] > 0) {
    // The library removes regions smaller than the size; OpenCV also removes regions of that size.
    p.set("speckle.size", std::to_string(std::min(n[speckle_window_size], most_speckle_size - 1) + 1));
    p.set("speckle.difference", std::to_string(n[speckle_range]));
  }
  p.set("fill.enabled", "false");
  for (const auto& [name, value] : own) p.set(name, value);
  return p;
}

inline void StereoSGBM::set(const std::string& name, const std::string& value) {
  // A new stage in a slot replaces the parameters of the previous one.
  const auto slot_of = [](const std::string& parameter) { return parameter.substr(0, parameter.find('.')); };
  Settings own = own_;
  const bool is_stage = name.ends_with(".stage");
  const std::string was = is_stage ? get(name) : "";
  std::erase_if(own, [&](const auto& setting) {
    return setting.first == name ||
           (is_stage && value != was && (slot_of(setting.first) == slot_of(name) || slot_of(setting.first) == was));
  });
  own.insert(is_stage ? own.begin() : own.end(), {name, value});
  detail::as_opencv([&] { pipeline(own); });
  own_ = std::move(own);
  matcher_.reset();
}

inline std::string StereoSGBM::get(const std::string& name) const {
  return detail::as_opencv([&] { return pipeline(own_).get(name); });
}

inline void StereoSGBM::check_range(int depth) const {
  const int first = numbers_[min_disparity], count = numbers_[num_disparities];
  if (depth == CV_16S && count > 0 && (first < -2046 || first > 2046 || count > 2047 - first))
    detail::refuse("the disparities from " + std::to_string(first) + " to " +
                   std::to_string(static_cast<long long>(first) + count - 1) +
                   " exceed 16 bits of sixteenths, which can store -2047 to 2046; compute CV_32F (Options::depth)");
}

inline Matcher& StereoSGBM::matcher(const Problem& problem, const std::string& device) {
  const auto fits = [&] {
    const Problem& p = matcher_->plan().problem();
    return p.size == problem.size && p.pixel_type == problem.pixel_type && p.channels == problem.channels &&
           p.bit_depth == problem.bit_depth && p.format == problem.format && device_ == device;
  };
  if (!matcher_ || !fits()) {
    matcher_.emplace(Plan(pipeline(own_), problem, {device, options_.threads}));
    device_ = device;
  }
  return *matcher_;
}

inline void StereoSGBM::leave_out_border(ImageView<float> disparity) const {
  const int last = numbers_[min_disparity] + numbers_[num_disparities];
  const int from = std::clamp(std::max(last, 0), 0, disparity.width),
            to = std::clamp(disparity.width + std::min(numbers_[min_disparity], 0), from, disparity.width);
  for (int y = 0; y < disparity.height; ++y) {
    std::fill_n(disparity.row(y), from, invalid_disparity);
    std::fill_n(disparity.row(y) + to, disparity.width - to, invalid_disparity);
  }
}

inline void StereoSGBM::write_disparity(cv::OutputArray disparity, int depth) const {
  disparity.create(found_.disparity.height(), found_.disparity.width(), depth);  // reuses the memory if the size fits
  cv::Mat out = disparity.getMat();
  const int scale = depth == CV_16S ? 16 : 1, invalid = (numbers_[min_disparity] - 1) * scale;
  const auto write_rows = [&](const cv::Range& rows) {
    for (int y = rows.start; y < rows.end; ++y) {
      const float* in = found_.disparity.row(y);
      if (depth == CV_16S)
        std::transform(in, in + out.cols, out.ptr<short>(y),
                       [&](float d) { return static_cast<short>(std::isnan(d) ? invalid : cvRound(d * 16)); });
      else
        std::transform(in, in + out.cols, out.ptr<float>(y),
                       [&](float d) { return std::isnan(d) ? static_cast<float>(invalid) : d; });
    }
  };
  cv::parallel_for_(cv::Range(0, out.rows), write_rows);
}

inline void StereoSGBM::compute(cv::InputArray left_array, cv::InputArray right_array, cv::OutputArray disparity) {
  const cv::Mat left = left_array.getMat(), right = right_array.getMat();
  CV_Assert(left.size() == right.size() && left.type() == right.type() && left.depth() == CV_8U);
  CV_Assert(!left.empty() && (left.channels() == 1 || left.channels() == 3));
  const int depth = disparity.fixedType() ? disparity.depth() : options_.depth;
  if (depth != CV_16S && depth != CV_32F)
    detail::refuse(std::string("a disparity of depth ") + cv::depthToString(depth) +
                   " is not supported; use CV_16S or CV_32F");
  check_range(depth);
  detail::as_opencv([&] {
    StereoPair pair{view(left), view(right), {}, {}};
    if (left.channels() == 3) pair.format = PixelFormat::bgr;
    matcher(Problem::of(pair, range()), options_.device).match(pair, found_);
  });
  if (options_.strict_border) leave_out_border(found_.disparity);
  write_disparity(disparity, depth);
}

inline void StereoSGBM::compute(const cv::cuda::GpuMat& left, const cv::cuda::GpuMat& right,
                                cv::cuda::GpuMat& disparity, cv::cuda::Stream& stream) {
  CV_Assert(left.size() == right.size() && left.type() == right.type() && !left.empty());
  if (options_.strict_border)
    detail::refuse(
        "strict_border applies only to compute() on the host; invalidate the columns in the result of the GPU");
  disparity.create(left.rows, left.cols, CV_32F);
  detail::as_opencv([&] {
    DevicePair pair{view(left), view(right), {}, {}};
    if (left.channels() == 3) pair.format = PixelFormat::bgr;
    Problem problem;
    problem.format = pair.format;
    problem.size = pair.left.size();
    problem.pixel_type = pair.left.type;
    problem.channels = pair.left.channels;
    problem.bit_depth = pair.left.bit_depth;
    problem.range = range();
    const std::string device = options_.device == "auto" ? "cuda" : options_.device;
    Matcher& m = matcher(problem, device);
    if (validity_.view().size() != problem.size)
      validity_ = DeviceImage(m.plan().device().name, problem.size, PixelType::u8);
    DeviceMatched result;
    result.disparity = view(disparity);
    result.validity = validity_;
    m.enqueue(pair, result, reinterpret_cast<std::uintptr_t>(stream.cudaPtr()));
  });
}

inline void StereoSGBM::write(cv::FileStorage& file) const {
  writeFormat(file);
  file << "name" << file_name;
  for (int n = 0; n < numbers; ++n) file << names[n] << numbers_[static_cast<std::size_t>(n)];
  if (own_.empty()) return;
  file << "stereopsis"
       << "[";
  for (const auto& [name, value] : own_) file << name + "=" + value;
  file << "]";
}

inline void StereoSGBM::read(const cv::FileNode& file) {
  const cv::FileNode name = file["name"];
  CV_Assert(name.isString() && name.string() == file_name);
  for (int n = 0; n < numbers; ++n) numbers_[static_cast<std::size_t>(n)] = static_cast<int>(file[names[n]]);
  own_.clear();
  matcher_.reset();
  for (const auto& entry : file["stereopsis"]) {
    const std::string text = entry.string();
    set(text.substr(0, text.find('=')), text.substr(std::min(text.size(), text.find('=') + 1)));
  }
}

// Creates a matcher for the disparity of the right view, which filters of cv::ximgproc need. The function corresponds
// to ximgproc::createRightMatcher.
inline cv::Ptr<StereoSGBM> create_right_matcher(const cv::Ptr<StereoSGBM>& left) {
  auto right = cv::makePtr<StereoSGBM>(*left);
  right->setMinDisparity(1 - left->getMinDisparity() - left->getNumDisparities());
  right->setDisp12MaxDiff(1000000);
  right->setUniquenessRatio(0);
  right->setSpeckleWindowSize(0);
  return right;
}

}  // namespace stereopsis::opencv
