// Implements the functions that are the same on Linux and macOS.
#include <dlfcn.h>
#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "core/text.hpp"
#include "device/system/system.hpp"

namespace stereopsis::system {

namespace fs = std::filesystem;

bool address_space_is_limited() {
  rlimit limit{};
  return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

void* open_library(const char* name) { return dlopen(name, RTLD_NOW | RTLD_LOCAL); }

std::string why_not_opened() {
  const char* reason = dlerror();
  return reason == nullptr ? "" : reason;
}

void* find_function(void* library, const char* name) { return dlsym(library, name); }

std::FILE* open_file(const fs::path& file, const char* mode) { return std::fopen(file.c_str(), mode); }

int sync_file(std::FILE* stream) {
  if (fsync(fileno(stream)) == 0) return 0;
  const bool impossible = errno == EINVAL || errno == ENOSYS || errno == ENOTSUP || errno == EROFS;
  return impossible ? 0 : errno;
}

void sync_folder(const fs::path& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  fsync(descriptor);
  close(descriptor);
}

std::optional<std::string> identity_of(const fs::path& file) {
  struct stat found = {};
  if (stat(file.c_str(), &found) != 0) return std::nullopt;
  return text("inode ", found.st_ino, " of ", found.st_dev);
}

std::vector<fs::path> matches_of(const fs::path& pattern) {
  glob_t found = {};
  const int code = glob(pattern.c_str(), 0, nullptr, &found);
  std::vector<fs::path> files(found.gl_pathv, found.gl_pathv + (code == 0 ? found.gl_pathc : 0));
  globfree(&found);
  return files;
}

long long process_id() { return getpid(); }

bool is_running(long long process) { return kill(static_cast<pid_t>(process), 0) == 0 || errno == EPERM; }

std::string host_name() {
  char name[65] = {};
  if (gethostname(name, sizeof name - 1) != 0 || name[0] == '\0') return "host";
  std::string shown(name);
  for (char& c : shown)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '.') c = '_';
  return shown;
}

bool is_terminal(std::FILE* stream) { return isatty(fileno(stream)) != 0; }

std::size_t terminal_columns() {
  winsize terminal = {};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &terminal) == 0 ? terminal.ws_col : 0;
}

void set_environment(const char* name, const char* value) { setenv(name, value, 0); }

void turn_signals_of_writing_into_errors() {
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);
}

namespace {

bool is_ignored(int signal) {
  struct sigaction action = {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

const char* name_of(int signal) {
  switch (signal) {
    case SIGINT: return "SIGINT";
    case SIGTERM: return "SIGTERM";
    default: return "SIGHUP";
  }
}

}  // namespace

// A handler may call almost no function, so it writes the signal to a pipe, from which a thread reads it.
void on_interrupt(void (*end)(const char* name, int exit_code)) {
  static int ends[2] = {-1, -1};
  if (ends[0] < 0 && pipe(ends) != 0) return;
  for (const int end_of_pipe : ends) fcntl(end_of_pipe, F_SETFD, FD_CLOEXEC);
  struct sigaction action {};
  action.sa_handler = [](int signal) {
    const int error = errno;
    const auto number = static_cast<unsigned char>(signal);
    [[maybe_unused]] const auto written = write(ends[1], &number, 1);
    errno = error;
  };
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    if (!is_ignored(signal)) sigaction(signal, &action, nullptr);
  std::thread([end] {
    unsigned char signal = 0;
    ssize_t count = 0;
    while ((count = read(ends[0], &signal, 1)) < 0 && errno == EINTR) {
    }
    if (count == 1) end(name_of(signal), 128 + signal);
  }).detach();
}

void become(const std::vector<std::string>& call) {
  std::vector<std::string> words = call;
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execvp(argv.front(), argv.data());
}

}  // namespace stereopsis::system
