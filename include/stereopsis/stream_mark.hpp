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
  // Makes a mark on the GPU of that name. Throws the errors of resolve_device().
  explicit StreamMark(const std::string& device);
  ~StreamMark();
  StreamMark(StreamMark&&) noexcept;
  StreamMark& operator=(StreamMark&&) noexcept;

  void take(std::uint64_t stream);  // sets the mark after all work enqueued so far
  void hold(std::uint64_t stream);  // makes work enqueued from now on wait for the mark
  bool is_passed() const;           // returns true if all work before the mark is done
  void wait();                      // waits until all work before the mark is done

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Returns whether an address of memory, which PyTorch for example allocated, belongs to the named device. Only CUDA can determine this; for other
// devices, the function returns true.
bool is_memory_of(const std::string& device, std::uint64_t memory);

}  // namespace stereopsis
