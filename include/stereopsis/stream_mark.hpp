// Order between queues of the caller's, for those that lend images on a device from one framework to another.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace stereopsis {

// A point in a queue of the caller's (CUstream, cl_command_queue). Made once, taken as often as one likes. Nothing but wait() waits.
class StreamMark {
 public:
  // On a GPU, by its name. Throws as resolve_device().
  explicit StreamMark(const std::string& device);
  ~StreamMark();
  StreamMark(StreamMark&&) noexcept;
  StreamMark& operator=(StreamMark&&) noexcept;

  void take(std::uint64_t stream);  // behind all that the queue was given so far
  void hold(std::uint64_t stream);  // what this queue is given from now on starts when the mark is passed
  bool is_passed() const;           // whether all before it is done
  void wait();                      // until it is passed

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Whether memory, such as a framework's own, is that device's. CUDA alone can tell; else true.
bool is_memory_of(const std::string& device, std::uint64_t memory);

}  // namespace stereopsis
