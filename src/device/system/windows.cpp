// Implements the functions of system.hpp on Windows.
#define NOMINMAX
#define WIN32_LEAN_AND_MEAN
#include <fcntl.h>
#include <io.h>
#include <process.h>
#include <windows.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "core/large_pages.hpp"
#include "core/text.hpp"
#include "device/system/system.hpp"

namespace stereopsis {

void ask_for_large_pages(void*, std::size_t) {}  // they need a privilege that users do not have

namespace system {

namespace fs = std::filesystem;

const char* const cuda_driver = "nvcuda.dll";
const char* const opencl_loader = "OpenCL.dll";
const char* const how_to_install_opencl = "install a driver of your GPU";

std::string processor_name() {
  char name[256] = {};
  DWORD size = sizeof name;
  const bool found = RegGetValueA(HKEY_LOCAL_MACHINE, "HARDWARE\\DESCRIPTION\\System\\CentralProcessor\\0",
                                  "ProcessorNameString", RRF_RT_REG_SZ, nullptr, name, &size) == ERROR_SUCCESS;
  return found ? name : "processor";
}

bool has_dot_product() {
  constexpr DWORD arm_v82_dot_product = 43;  // PF_ARM_V82_DP_INSTRUCTIONS_AVAILABLE, which older headers lack
  return IsProcessorFeaturePresent(arm_v82_dot_product) != 0;
}

int cores_within_quota(int cores) { return cores; }

std::size_t memory_bytes() {
  MEMORYSTATUSEX status = {};
  status.dwLength = sizeof status;
  return GlobalMemoryStatusEx(&status) ? status.ullTotalPhys : 0;
}

bool address_space_is_limited() { return false; }

void move_near(const std::string&) {}

void* open_library(const char* name) {
  return LoadLibraryExA(name, nullptr, LOAD_LIBRARY_SEARCH_SYSTEM32);  // no library of the current folder
}

std::string why_not_opened() { return "error " + std::to_string(GetLastError()); }

void* find_function(void* library, const char* name) {
  return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(library), name));
}

std::FILE* open_file(const fs::path& file, const char* mode) {
  const std::string narrow = mode;
  return _wfopen(file.c_str(), std::wstring(narrow.begin(), narrow.end()).c_str());
}

int sync_file(std::FILE* stream) {
  if (_commit(_fileno(stream)) == 0) return 0;
  return errno == EINVAL || errno == EBADF ? 0 : errno;  // a device cannot be synchronised
}

void sync_folder(const fs::path&) {}  // the system keeps the names of a folder in its journal

std::optional<std::string> identity_of(const fs::path& file) {
  const HANDLE opened = CreateFileW(file.c_str(), 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                                    OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr);
  if (opened == INVALID_HANDLE_VALUE) return std::nullopt;
  BY_HANDLE_FILE_INFORMATION found = {};
  const bool known = GetFileInformationByHandle(opened, &found) != 0;
  CloseHandle(opened);
  if (!known) return std::nullopt;
  return text("file ", found.nFileIndexHigh, ':', found.nFileIndexLow, " of ", found.dwVolumeSerialNumber);
}

// Windows has wildcards in the last part of a path only.
std::vector<fs::path> matches_of(const fs::path& pattern) {
  std::vector<fs::path> files;
  WIN32_FIND_DATAW found = {};
  const HANDLE search = FindFirstFileW(pattern.c_str(), &found);
  if (search == INVALID_HANDLE_VALUE) return files;
  do files.push_back(pattern.parent_path() / found.cFileName);
  while (FindNextFileW(search, &found));
  FindClose(search);
  std::sort(files.begin(), files.end());
  return files;
}

long long process_id() { return _getpid(); }

bool is_running(long long process) {
  const HANDLE handle = OpenProcess(SYNCHRONIZE, FALSE, static_cast<DWORD>(process));
  if (handle == nullptr) return GetLastError() == ERROR_ACCESS_DENIED;
  const bool is_running = WaitForSingleObject(handle, 0) == WAIT_TIMEOUT;
  CloseHandle(handle);
  return is_running;
}

std::string host_name() {
  char name[MAX_COMPUTERNAME_LENGTH + 1] = {};
  DWORD size = sizeof name;
  return GetComputerNameA(name, &size) ? name : "host";
}

bool is_terminal(std::FILE* stream) {
  const HANDLE console = GetStdHandle(stream == stderr ? STD_ERROR_HANDLE : STD_OUTPUT_HANDLE);
  DWORD mode = 0;
  return GetConsoleMode(console, &mode) && SetConsoleMode(console, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
}

std::size_t terminal_columns() {
  CONSOLE_SCREEN_BUFFER_INFO info = {};
  if (!GetConsoleScreenBufferInfo(GetStdHandle(STD_OUTPUT_HANDLE), &info)) return 0;
  return static_cast<std::size_t>(info.srWindow.Right - info.srWindow.Left + 1);
}

std::filesystem::path program_file() {
  wchar_t name[MAX_PATH] = {};
  const DWORD length = GetModuleFileNameW(nullptr, name, MAX_PATH);
  return length < MAX_PATH ? std::filesystem::path(name) : std::filesystem::path();
}

void set_environment(const char* name, const char* value) {
  if (std::getenv(name) == nullptr) _putenv_s(name, value);
}

void turn_signals_of_writing_into_errors() {}  // Windows has no such signals

namespace {

void (*end_of_process)(const char* name, int exit_code) = nullptr;

// The system calls this function on a thread of its own.
BOOL WINAPI handle_event(DWORD event) {
  if (event == CTRL_C_EVENT || event == CTRL_BREAK_EVENT)
    end_of_process("Ctrl-C", 130);
  else
    end_of_process("the end of the console", 143);
  return TRUE;
}

// Quotes a word of a command line, in which a backslash is special only before a quotation mark.
std::string quoted(const std::string& word) {
  std::string whole = "\"";
  std::size_t backslashes = 0;
  for (const char c : word) {
    if (c == '"') whole.append(backslashes + 1, '\\');
    backslashes = c == '\\' ? backslashes + 1 : 0;
    whole += c;
  }
  return whole.append(backslashes, '\\') + '"';
}

}  // namespace

void on_interrupt(void (*end)(const char* name, int exit_code)) {
  end_of_process = end;
  SetConsoleCtrlHandler(handle_event, TRUE);
}

// A process of Windows cannot be replaced: this one waits for the other.
void become(const std::vector<std::string>& call) {
  std::vector<std::string> words;
  for (const std::string& word : call) words.push_back(quoted(word));
  std::vector<const char*> argv;
  for (const std::string& word : words) argv.push_back(word.c_str());
  argv.push_back(nullptr);
  const std::intptr_t code = _spawnvp(_P_WAIT, call.front().c_str(), argv.data());
  if (code != -1) std::_Exit(static_cast<int>(code));
}

}  // namespace system
}  // namespace stereopsis
