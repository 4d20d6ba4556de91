#include "io/sync.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace stereopsis::io {

int sync_file(std::FILE* stream) {
  if (fsync(fileno(stream)) == 0) return 0;
  const bool impossible = errno == EINVAL || errno == ENOSYS || errno == ENOTSUP || errno == EROFS;
  return impossible ? 0 : errno;
}

void sync_folder(const std::filesystem::path& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  fsync(descriptor);
  close(descriptor);
}

}  // namespace stereopsis::io
