// Cameras, the component and a listener in one process: composed LEFT RIGHT PAIRS IN_FLIGHT [PARAMETER:=VALUE…]
//
// Sends each pair when the disparities of all but IN_FLIGHT - 1 pairs before it have come. Prints the number of pairs sent and of
// disparities received, the number of images and disparity messages that were allocated, the pairs per second and the
// processor seconds per pair. Without copies, an image is allocated once for each one sent, and a disparity message once
// for each one received. The exit code is 1 if pairs were lost or copied.
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <rclcpp/rclcpp.hpp>
#include <string>
#include <thread>
#include <vector>

#include "../src/stereo_node.hpp"
#include "stereopsis/io.hpp"

namespace {

std::atomic<std::size_t> image_bytes = 0, result_bytes = 0;  // sizes of the allocations that are counted
std::atomic<int> images = 0, results = 0;

}  // namespace

void* operator new(std::size_t bytes) {
  if (bytes != 0 && bytes == image_bytes) ++images;
  if (bytes != 0 && bytes == result_bytes) ++results;
  if (void* made = std::malloc(bytes)) return made;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

using sensor_msgs::msg::CameraInfo;
using stereo_msgs::msg::DisparityImage;

double processor_seconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Publishes a pair of 8-bit images again and again.
class Cameras : public rclcpp::Node {
 public:
  Cameras(const char* left, const char* right, const rclcpp::NodeOptions& options)
      : Node("cameras", options), pair_{stereopsis::read_image(left), stereopsis::read_image(right)} {
    const auto [width, height] = pair_[0].size();
    info_.width = width, info_.height = height, info_.distortion_model = "plumb_bob", info_.d.assign(5, 0);
    info_.k = {500, 0, width / 2.0, 0, 500, height / 2.0, 0, 0, 1}, info_.r = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    info_.p = {500, 0, width / 2.0, 0, 0, 500, height / 2.0, 0, 0, 0, 1, 0};
    for (const std::string side : {"left", "right"}) {
      images_.push_back(create_publisher<sensor_msgs::msg::Image>(side + "/image_rect", 5));
      infos_.push_back(create_publisher<CameraInfo>(side + "/camera_info", 5));
    }
  }
  std::size_t pixels() const { return std::size_t{info_.width} * info_.height; }
  int channels() const { return pair_[0].channels(); }
  bool is_heard() const { return images_[1]->get_subscription_count() > 0 && infos_[1]->get_subscription_count() > 0; }
  void send() {
    const auto stamp = now();
    for (const unsigned side : {0U, 1U}) {
      const auto view = pair_[side].view().as<std::uint8_t>();
      auto image = std::make_unique<sensor_msgs::msg::Image>();
      image->header.stamp = info_.header.stamp = stamp;
      image->width = info_.width, image->height = info_.height, image->encoding = channels() == 1 ? "mono8" : "rgb8";
      image->step = image->width * static_cast<unsigned>(channels());
      image->data.resize(std::size_t{image->step} * image->height);
      for (int y = 0; y < view.height; ++y)
        std::copy_n(view.row(y), image->step, &image->data[std::size_t{image->step} * y]);
      info_.p[3] = side == 0 ? 0 : -50;
      infos_[side]->publish(std::make_unique<CameraInfo>(info_));
      images_[side]->publish(std::move(image));
    }
  }

 private:
  std::array<stereopsis::AnyImage, 2> pair_;
  CameraInfo info_;
  std::vector<rclcpp::Publisher<sensor_msgs::msg::Image>::SharedPtr> images_;
  std::vector<rclcpp::Publisher<CameraInfo>::SharedPtr> infos_;
};

rclcpp::NodeOptions with_parameters(int count, char** words) {
  std::vector<std::string> arguments = {"--ros-args"};
  for (int i = 0; i < count; ++i) arguments.insert(arguments.end(), {"-p", words[i]});
  return rclcpp::NodeOptions().use_intra_process_comms(true).arguments(arguments);
}

}  // namespace

int main(int count, char** words) {
  if (count < 5) return std::fprintf(stderr, "usage: composed LEFT RIGHT PAIRS IN_FLIGHT [PARAMETER:=VALUE…]\n"), 2;
  const int pairs = std::stoi(words[3]), in_flight = std::stoi(words[4]), warming = 5;
  rclcpp::init(1, words);
  const auto node = std::make_shared<stereopsis_ros::StereoNode>(with_parameters(count - 5, words + 5));
  const auto cameras = std::make_shared<Cameras>(words[1], words[2], with_parameters(0, nullptr));
  const auto listener = std::make_shared<rclcpp::Node>("listener", with_parameters(0, nullptr));
  std::atomic<int> received = 0;
  std::chrono::steady_clock::time_point last;  // read after the last one
  const auto subscription = listener->create_subscription<DisparityImage>(
      "disparity", 5, [&](DisparityImage::UniquePtr) { last = std::chrono::steady_clock::now(), ++received; });
  rclcpp::executors::MultiThreadedExecutor executor;
  for (const rclcpp::Node::SharedPtr& each :
       {rclcpp::Node::SharedPtr(node), rclcpp::Node::SharedPtr(cameras), listener})
    executor.add_node(each);
  std::thread spinner([&] { executor.spin(); });
  const auto wait_for = [&](auto is_so) {
    for (int i = 0; i < 5'000 && !is_so(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  wait_for([&] { return cameras->is_heard(); });  // within 5 s
  for (int sent = 0; sent < warming; ++sent) {
    cameras->send();
    wait_for([&] { return received > sent; });
  }
  image_bytes = cameras->pixels() * static_cast<std::size_t>(cameras->channels());
  result_bytes = cameras->pixels() * sizeof(float);
  const auto begin = std::chrono::steady_clock::now();
  const double busy = processor_seconds();
  for (int sent = 0; sent < pairs; ++sent) {
    wait_for([&] { return received + in_flight > warming + sent; });
    cameras->send();
  }
  wait_for([&] { return received == warming + pairs; });
  const std::chrono::duration<double> seconds = last - begin;
  const int done = received - warming;
  std::printf(
      "%d sent, %d received, %d images and %d results allocated, %.2f pairs a second, %.4f processor seconds a pair\n",
      pairs, done, images.load(), results.load(), done / seconds.count(), (processor_seconds() - busy) / done);
  executor.cancel();
  spinner.join();
  rclcpp::shutdown();
  return done == pairs && images == 2 * pairs && results == pairs ? 0 : 1;
}
