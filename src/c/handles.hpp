// Handles of the C interface: numbers that are never reused, so that a destroyed or invalid handle is detected.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "c/guard.hpp"

namespace stereopsis::c {

inline std::uintptr_t next_handle() {
  static std::atomic<std::uintptr_t> last = 0;
  return ++last;
}

// The handles of one kind. Handle is the struct of the header, and Object is the object behind the handle, which has a
// `mutex`.
template <class Handle, class Object>
class Handles {
 public:
  Handle* add(std::unique_ptr<Object> object) {
    const std::uintptr_t number = next_handle();
    const std::unique_lock lock(mutex_);
    objects_.emplace(number, std::move(object));
    return reinterpret_cast<Handle*>(number);
  }

  // Returns the object of a handle, which lives as long as the returned pointer.
  std::shared_ptr<Object> at(const Handle* handle, const char* kind) {
    const std::shared_lock lock(mutex_);
    const auto found = objects_.find(reinterpret_cast<std::uintptr_t>(handle));
    if (found == objects_.end())
      refuse(text("the handle does not belong to an existing ", kind, "; pass a handle that sp_", kind,
                  "_create returned and that was not destroyed"));
    return found->second;
  }

  void remove(Handle* handle, const char* kind) {
    if (handle == nullptr) return;
    const std::shared_ptr<Object> object = at(handle, kind);
    const std::unique_lock lock(mutex_);
    objects_.erase(reinterpret_cast<std::uintptr_t>(handle));
  }

 private:
  std::shared_mutex mutex_;
  std::unordered_map<std::uintptr_t, std::shared_ptr<Object>> objects_;
};

// The table is never destroyed, because programs may exit without destroying their handles.
template <class Handle, class Object>
Handles<Handle, Object>& handles() {
  static auto& all = *new Handles<Handle, Object>;
  return all;
}

}  // namespace stereopsis::c
