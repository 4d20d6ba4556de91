#include <algorithm>
#include <map>
#include <mutex>

#include "core/suggestion.hpp"
#include "core/text.hpp"
#include "device/gpu/device.hpp"

namespace stereopsis::gpu {

#ifndef STEREOPSIS_CUDA
const Found& cuda_devices() {
  static const Found none{
      "this build has no CUDA kernels; build it on a machine with nvcc of CUDA 12 or later and zstd, with its headers",
      {}};
  return none;
}
#endif
#ifndef STEREOPSIS_OPENCL
const Found& opencl_devices() {
  static const Found none{"this build has no OpenCL; build it with the OpenCL headers installed (opencl-headers)", {}};
  return none;
}
#endif

namespace {

[[noreturn]] void cannot_use(const std::string& name, const std::string& reason) {
  throw Error(ErrorCategory::unsupported, text("the device '", name, "' cannot be used: ", reason));
}

}  // namespace

Device& device(const std::string& name) {
  const std::size_t colon = name.find(':');
  const std::string api = name.substr(0, colon);
  const auto number = colon == std::string::npos ? 0 : parse_number<unsigned>(name.substr(colon + 1));
  if ((api != "cuda" && api != "opencl") || !number)
    throw Error(ErrorCategory::call, text("there is no device '", name, "'",
                                          api == "gpu" ? " (did you mean 'cuda' or 'opencl'?)"
                                                       : did_you_mean(api, {"auto", "cpu", "cuda", "opencl"}),
                                          "; it must be auto, cpu, cuda[:N] or opencl[:N]"));
  const Found& found = api == "cuda" ? cuda_devices() : opencl_devices();
  if (!found.reason.empty()) cannot_use(name, found.reason);
  if (*number >= found.candidates.size())
    cannot_use(
        name, text("the last of the ", found.candidates.size(), " devices is ", api, ":", found.candidates.size() - 1));
  const Found::Candidate& candidate = found.candidates[*number];
  if (!candidate.device) cannot_use(name, candidate.unusable.reason);
  return *candidate.device;
}

std::vector<Device*> usable_devices() {
  std::vector<Device*> usable;
  for (const Found* found : {&cuda_devices(), &opencl_devices()})
    for (const Found::Candidate& candidate : found->candidates)
      if (candidate.device) usable.push_back(candidate.device.get());
  return usable;
}

void Found::add(std::unique_ptr<Device> device) {
  DeviceDescription unusable = device->describe();
  unusable.reason = device->why_unusable();
  unusable.usable = false;
  if (unusable.reason.empty())
    candidates.push_back({std::move(device), {}});
  else
    candidates.push_back({nullptr, std::move(unusable)});
}

namespace {

// The devices that allocated blocks of page-locked memory. The table is never destroyed, because images may outlive all
// other objects.
struct PageLocked {
  std::mutex mutex;
  std::map<const void*, std::pair<Device*, std::size_t>> pieces;
};
PageLocked& page_locked() {
  static PageLocked& all = *new PageLocked;
  return all;
}

}  // namespace

void* allocate_page_locked(Device& device, std::size_t bytes) {
  bytes += 64;  // images have padding after their end
  void* piece = device.allocate_host(bytes);
  const std::lock_guard lock(page_locked().mutex);
  page_locked().pieces[piece] = {&device, bytes};
  return piece;
}

void release_page_locked(void* piece) {
  Device* device = nullptr;
  {
    const std::lock_guard lock(page_locked().mutex);
    const auto found = page_locked().pieces.find(piece);
    device = found->second.first;
    page_locked().pieces.erase(found);
  }
  device->release_host(piece);
}

bool is_page_locked(Device& device, const void* memory) {
  {
    const std::lock_guard lock(page_locked().mutex);
    const auto& pieces = page_locked().pieces;
    auto piece = pieces.upper_bound(memory);
    if (piece != pieces.begin()) {
      --piece;
      const auto& [owner, bytes] = piece->second;
      const auto* const end = static_cast<const std::byte*>(piece->first) + bytes;
      // Another device may copy the memory directly, too: CUDA's page-locked memory serves all CUDA devices.
      if (owner == &device && static_cast<const std::byte*>(memory) < end) return true;
    }
  }
  return device.is_pinned(memory);
}

double measure_copy_bandwidth(Device& device) {
  constexpr std::size_t bytes = 64 << 20;
  const Buffer from(device, bytes), to(device, bytes);
  const auto queue = device.make_queue();
  queue->fill({from.handle(), 0}, bytes, 1);
  const auto start = device.make_event(true), end = device.make_event(true);
  double best = 0;
  for (int run = 0; run < 4; ++run) {  // the first run is a warm-up
    queue->record(*start);
    queue->copy({from.handle(), 0}, {to.handle(), 0}, bytes);
    queue->record(*end);
    end->wait();
    if (run > 0) best = std::max(best, 2.0 * bytes / (1e-3 * std::max(1e-6, end->ms_since(*start))));
  }
  return best;
}

}  // namespace stereopsis::gpu
