// Results on a GPU, in memory that comes again when nobody uses it any more. All of it is used under the GIL.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "stereopsis/stream_mark.hpp"

namespace stereopsis::python {

// Memory of one result, and what is ordered by it. It goes from pair to pair of one stream, so that what the caller gave that stream
// to do with the last result comes first.
struct OutputBuffer {
  std::uint64_t stream = 0;
  std::vector<DeviceImage> images;
  std::shared_ptr<StreamMark> done;                   // behind the pair
  std::vector<std::shared_ptr<StreamMark>> released;  // behind what other streams did with it
  bool ended = false;                                 // the call of a stage, whose arrays these were, is over
};

// The output buffers of results on one device, with their marks.
class OutputBuffers {
 public:
  OutputBuffers(std::string device, std::vector<DeviceImageView> shapes);

  const std::string& device() const { return device_; }
  // Returns a buffer for a pair of this stream, which waits for other streams' work on the buffer.
  std::shared_ptr<OutputBuffer> take(std::uint64_t stream);
  // Returns image i of the buffer, which is allocated at the first request.
  DeviceImageView image(OutputBuffer& buffer, std::size_t i) const;
  std::shared_ptr<StreamMark> take_mark();

 private:
  const std::string device_;
  const std::vector<DeviceImageView> shapes_;
  std::vector<std::shared_ptr<OutputBuffer>> buffers_;
  std::vector<std::shared_ptr<StreamMark>> marks_;
};

// An array of a result: an exporter of DLPack and __cuda_array_interface__.
class DeviceArray {
 public:
  DeviceArray(std::shared_ptr<OutputBuffers> buffers, std::shared_ptr<OutputBuffer> buffer, const DeviceImageView& view)
      : buffers_(std::move(buffers)), buffer_(std::move(buffer)), view_(view) {}

  nb::capsule to_dlpack(nb::handle stream, nb::handle max_version, nb::handle device, nb::handle copy) const;
  nb::tuple dlpack_device() const;
  nb::dict interface();
  nb::object to_numpy() const;  // waits, and copies
  nb::tuple shape() const;
  const char* dtype() const { return dtype_of(view_.type); }
  const std::string& device() const { return buffers_->device(); }
  std::uint64_t stream() const { return buffer_->stream; }

 private:
  void check_open() const;
  template <class Managed>
  nb::capsule export_as(const char* name, std::uint64_t reader) const;
  int ndim() const { return view_.channels == 1 ? 2 : 3; }

  std::shared_ptr<OutputBuffers> buffers_;
  std::shared_ptr<OutputBuffer> buffer_;
  DeviceImageView view_;
  std::shared_ptr<void> lent_;  // set after an export by __cuda_array_interface__
};

}  // namespace stereopsis::python
