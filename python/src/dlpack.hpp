// DLPack's binary interface: how arrays go from one framework to another in the memory that they are in.
#pragma once

#include <nanobind/ndarray.h>

#include <cstdint>

namespace stereopsis::python::dlpack {

using Tensor = nanobind::dlpack::dltensor;

// The contents of a capsule "dltensor", which a consumer renames to "used_dltensor".
struct Managed {
  Tensor tensor;
  void* context;
  void (*deleter)(Managed*);
};

// The contents of a capsule "dltensor_versioned", from version 1 on.
struct VersionedManaged {
  std::uint32_t major, minor;
  void* context;
  void (*deleter)(VersionedManaged*);
  std::uint64_t flags;
  Tensor tensor;
};
inline constexpr std::uint64_t read_only = 1;

// The functions of an array type that DLPack 1.3 lets extension modules call without Python, in a capsule
// "dlpack_exchange_api" that is the type's attribute __dlpack_c_exchange_api__. Functions return 0, or −1 with a Python
// error. They do not order streams.
struct ExchangeApi {
  std::uint32_t major, minor;
  const ExchangeApi* older;
  void (*allocate)();
  int (*tensor_of)(void* object, VersionedManaged** tensor);
  void (*object_of)();
  void (*view_of)();
  int (*current_stream)(std::int32_t device_type, std::int32_t device, void** stream);
};

enum DeviceType : std::int32_t { cpu = 1, cuda = 2, cuda_host = 3, cuda_managed = 13 };

// Streams of CUDA as DLPack and __cuda_array_interface__ number them, and the driver too; others are their handles.
inline constexpr std::uint64_t default_stream = 1;

}  // namespace stereopsis::python::dlpack
