// Declares the functions of the operating system that the library, its file formats and the command call. linux.cpp,
// macos.cpp and windows.cpp implement these functions, and one of these files is compiled. posix.cpp contains what Linux
// and macOS share.
#pragma once

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace stereopsis::system {

// ---- Processors and memory ----

// Returns the processor's name, or "processor" if the system does not tell it.
std::string processor_name();

// Returns whether an AArch64 processor adds the products of four bytes by one instruction (SDOT, Armv8.2). Returns false
// on other processors.
bool has_dot_product();

// Returns the number of cores that the quota of the process's control group allows, at least 1. Returns `cores` if there
// is no quota.
int cores_within_quota(int cores);

// Returns the bytes of memory that the process may use, according to the machine and its control group.
std::size_t memory_bytes();

// Returns whether the process may use only a part of its address space (ulimit -v).
bool address_space_is_limited();

// Restricts the calling thread to the processors next to the device at this PCI address ("0000:3b:00.0"). Does nothing
// if the address is empty or the system does not tell these processors.
void move_near(const std::string& pci_address);

// ---- Libraries of drivers, opened at run time ----

extern const char* const cuda_driver;
extern const char* const opencl_loader;
extern const char* const how_to_install_opencl;

// Returns a handle of the library, or nullptr if it is not installed. The library stays open.
void* open_library(const char* name);

// Returns the system's reason for which the last library could not be opened.
std::string why_not_opened();

// Returns the address of a function of the library, or nullptr if the library lacks it.
void* find_function(void* library, const char* name);

// ---- Files ----

// Opens a file as std::fopen does, whatever the characters of its name.
std::FILE* open_file(const std::filesystem::path& file, const char* mode);

// Returns when the disk holds everything that was written to `stream`, which must be flushed. Returns 0 or an error
// number. A file system that cannot synchronise is not an error.
int sync_file(std::FILE* stream);

// Synchronises the names in a folder. Errors are ignored, because the contents of the file are already safe.
void sync_folder(const std::filesystem::path& folder);

// Returns a text that all hard links of a file share, or nothing if there is no such file.
std::optional<std::string> identity_of(const std::filesystem::path& file);

// Returns the files and folders that match a pattern with wildcards, sorted by name.
std::vector<std::filesystem::path> matches_of(const std::filesystem::path& pattern);

// ---- The process ----

long long process_id();

// Returns whether a process of this machine has this number.
bool is_running(long long process);

// Returns the name of this machine, in characters that every file name may have.
std::string host_name();

// Returns the file of the running program, or an empty path if the system does not tell it.
std::filesystem::path program_file();

// Returns whether a stream is a terminal that obeys escape sequences.
bool is_terminal(std::FILE* stream);

// Returns the number of columns of the terminal that standard output is; 0 if it is none.
std::size_t terminal_columns();

// Sets an environment variable that is not set.
void set_environment(const char* name, const char* value);

// Makes a write fail where a signal would end the process: no reader (SIGPIPE) or too large a file (SIGXFSZ).
void turn_signals_of_writing_into_errors();

// Calls `end` on a thread of its own when the user or the system interrupts the process; signals that the caller ignores
// (as nohup does) remain ignored. `name` is that of the signal, and `exit_code` the one that the shell expects.
void on_interrupt(void (*end)(const char* name, int exit_code));

// Runs another program in place of this process. Returns only if the program cannot be run.
void become(const std::vector<std::string>& call);

}  // namespace stereopsis::system
