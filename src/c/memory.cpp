// Functions of the C interface for devices, their memory, and points in their queues.
#include <variant>

#include "c/handles.hpp"
#include "c/structs.hpp"
#include "stereopsis/resources.hpp"
#include "stereopsis/stream_mark.hpp"

namespace stereopsis::c {
namespace {

struct BufferObject {
  std::variant<DeviceImage, AnyImage> memory;
  std::mutex mutex;

  DeviceImage& on_device() {
    if (auto* image = std::get_if<DeviceImage>(&memory)) return *image;
    refuse("the buffer is in host memory (SP_HOST); access its memory through sp_buffer_image");
  }
};

struct MarkObject {
  explicit MarkObject(const char* device) : mark(device) {}

  StreamMark mark;
  std::mutex mutex;
};

auto& buffers() { return handles<sp_buffer, BufferObject>(); }
auto& marks() { return handles<sp_mark, MarkObject>(); }

// The shape of the image to allocate; its `data` may be null.
struct Shape {
  Size size;
  int channels;
  PixelType type;
  int bit_depth;
};
Shape shape_of(const sp_image* given) {
  const sp_image i = read(given, "shape");
  const PixelType type = pixel_type(i.type, "shape");
  constexpr std::int64_t most = std::int64_t{1} << 40;
  if (i.width < 1 || i.height < 1 || i.channels < 1 || std::int64_t{i.width} * i.height > most / i.channels)
    refuse(text("the shape has ", i.width, "×", i.height, " pixels with ", i.channels,
                " channels; all three must be at least 1, and their product at most ", most));
  return {{i.width, i.height}, i.channels, type, i.bit_depth != 0 ? i.bit_depth : type == PixelType::u16 ? 16 : 8};
}

AnyImage page_locked(const std::string& device, const Shape& s) {
  AnyImage image;
  switch (s.type) {
    case PixelType::u8: image = page_locked_image<std::uint8_t>(device, s.size, s.channels); break;
    case PixelType::u16: image = page_locked_image<std::uint16_t>(device, s.size, s.channels); break;
    case PixelType::f32: image = page_locked_image<float>(device, s.size, s.channels);
  }
  image.bit_depth = s.bit_depth;
  return image;
}

void make(BufferObject& buffer, const std::string& device, std::int32_t place, const Shape& s) {
  if (place != SP_HOST && place != SP_DEVICE)
    refuse(text("the place ", place, " is not allowed; it must be SP_HOST (0) or SP_DEVICE (1)"));
  if (place == SP_DEVICE)
    buffer.memory = DeviceImage(device, s.size, s.type, s.channels, s.bit_depth);
  else
    buffer.memory = page_locked(device, s);
}

sp_image window_on(const BufferObject& buffer) {
  if (const auto* image = std::get_if<DeviceImage>(&buffer.memory)) return image_of(image->view(), SP_DEVICE);
  const AnyImageView v = std::get<AnyImage>(buffer.memory);
  const auto address = reinterpret_cast<std::uintptr_t>(v.data);
  return image_of({address, 0, v.type, v.width, v.height, v.channels, v.pitch, v.bit_depth}, SP_HOST);
}

void download(const DeviceImage& from, const AnyOutputView& to) {
  switch (to.type) {
    case PixelType::u8: return from.download(typed<std::uint8_t>(to, "image"));
    case PixelType::u16: return from.download(typed<std::uint16_t>(to, "image"));
    case PixelType::f32: return from.download(typed<float>(to, "image"));
  }
}

// Converts an allocator of the C interface. A null pointer becomes an allocator without functions, which stands for the
// driver's memory.
DeviceAllocator allocator_of(const sp_allocator* allocator) {
  if (allocator == nullptr) return {};
  const sp_allocator a = read(allocator, "allocator");
  if (a.allocate == nullptr || a.release == nullptr)
    refuse(
        "allocator.allocate or allocator.release is null; set both functions, or pass a null allocator to use that of "
        "the driver");
  return {[a](std::size_t bytes) { return a.allocate(bytes, a.user); },
          [a](std::uint64_t memory) { a.release(memory, a.user); }};
}

const char* name_of(const char* device) { return device != nullptr ? device : "auto"; }

// Returns all devices. The devices are listed once, so that the strings remain valid.
const std::vector<DeviceDescription>& all_devices() {
  static const auto& all = *new std::vector<DeviceDescription>(devices());
  return all;
}

template <class F>
sp_status with_buffer(const sp_buffer* handle, F&& f) {
  return guarded([&] {
    const auto object = buffers().at(handle, "buffer");
    const std::lock_guard lock(object->mutex);
    f(*object);
  });
}
template <class F>
sp_status with_mark(sp_mark* handle, F&& f) {
  return guarded([&] {
    const auto object = marks().at(handle, "mark");
    const std::lock_guard lock(object->mutex);
    f(object->mark);
  });
}

}  // namespace
}  // namespace stereopsis::c

using namespace stereopsis;
using namespace stereopsis::c;

sp_status sp_device_count(size_t* count) {
  return guarded([&] { given(count, "count") = all_devices().size(); });
}

sp_status sp_device_get(size_t index, sp_device* device) {
  return guarded([&] {
    const auto& all = all_devices();
    if (index >= all.size())
      refuse(text("there is no device ", index, "; there are ", all.size(), " devices, counted from 0"));
    const DeviceDescription& d = all[index];
    write({0, d.name.c_str(), d.description.c_str(), d.reason.c_str(), d.usable, 0}, device, "device");
  });
}

sp_status sp_buffer_create(const char* device, int32_t place, const sp_image* shape, sp_buffer** buffer) {
  return guarded([&] {
    given(buffer, "buffer") = nullptr;
    auto made = std::make_unique<BufferObject>();
    make(*made, resolve_device(name_of(device)), place, shape_of(shape));
    *buffer = buffers().add(std::move(made));
  });
}

sp_status sp_buffer_destroy(sp_buffer* buffer) {
  return guarded([&] { buffers().remove(buffer, "buffer"); });
}

sp_status sp_buffer_image(const sp_buffer* buffer, sp_image* image) {
  return with_buffer(buffer, [&](BufferObject& b) { write(window_on(b), image, "image"); });
}

sp_status sp_buffer_upload(sp_buffer* buffer, const sp_image* image) {
  return with_buffer(buffer, [&](BufferObject& b) {
    read(image, "image");
    b.on_device().upload(host_image(image, "image"));
  });
}

sp_status sp_buffer_download(const sp_buffer* buffer, const sp_image* image) {
  return with_buffer(buffer, [&](BufferObject& b) {
    read(image, "image");
    download(b.on_device(), host_output(image, "image"));
  });
}

sp_status sp_use_allocator(const char* device, const sp_allocator* allocator) {
  return guarded([&] { use_allocator(name_of(device), allocator_of(allocator)); });
}

sp_status sp_use_cuda_context(const char* device, void* context) {
  return guarded([&] { use_cuda_context(name_of(device), context); });
}

sp_status sp_mark_create(const char* device, sp_mark** mark) {
  return guarded([&] {
    given(mark, "mark") = nullptr;
    const std::string name = resolve_device(name_of(device));
    *mark = marks().add(std::make_unique<MarkObject>(name.c_str()));
  });
}

sp_status sp_mark_destroy(sp_mark* mark) {
  return guarded([&] { marks().remove(mark, "mark"); });
}

sp_status sp_mark_take(sp_mark* mark, void* stream) {
  return with_mark(mark, [&](StreamMark& m) { m.take(reinterpret_cast<std::uintptr_t>(stream)); });
}
sp_status sp_mark_hold(sp_mark* mark, void* stream) {
  return with_mark(mark, [&](StreamMark& m) { m.hold(reinterpret_cast<std::uintptr_t>(stream)); });
}
sp_status sp_mark_is_passed(sp_mark* mark, int32_t* passed) {
  return with_mark(mark, [&](StreamMark& m) { given(passed, "passed") = m.is_passed(); });
}
sp_status sp_mark_wait(sp_mark* mark) {
  return with_mark(mark, [](StreamMark& m) { m.wait(); });
}
