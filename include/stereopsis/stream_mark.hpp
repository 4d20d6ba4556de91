// Synchronises queues of the caller, for programs that share device images between frameworks.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace stereopsis {

// A point in a queue of the caller (CUstream, cl_command_queue). A mark may be taken many times. Only wait() blocks the
// caller.
class StreamMark {
 public:
  // Makes a mark on the GPU of that name. Throws as resolve_device().
  explicit StreamMark(const std::string& device);
  ~StreamMark();
  StreamMark(StreamMark&&) noexcept;
  StreamMark& operator=(StreamMark&&) noexcept;

  void take(std::uint64_t stream);  // marks the point after all work enqueued so far
  void hold(std::uint64_t stream);  // makes work enqueued from now on wait for the mark
  bool is_passed() const;           // true if all work before the mark is done
  void wait();                      // waits until the mark is passed

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Returns whether memory, such as a framework's, belongs to that device. Only CUDA can tell; otherwise returns true.
bool is_memory_of(const std::string& device, std::uint64_t memory);

}  // namespace stereopsis
