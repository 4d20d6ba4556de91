// A library for LD_PRELOAD that notes which functions of the build's programs a test reaches: affected.py reads the notes. It
// writes a breakpoint at the start of each function, and removes it when the function is reached for the first time. Then the
// program runs at full speed. x86-64 Linux only.
//
// STEREOPSIS_REACHED is the folder of the notes, STEREOPSIS_REACHED_BUILD that of the build, STEREOPSIS_TEST_NAME the test. The
// note of a program is a file with 1 byte for each function, in the order of addresses. The note of a library of the build that
// a program loaded is a link to the library: any of its functions may have been reached.
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr unsigned char breakpoint = 0xCC;

std::vector<std::uintptr_t>& functions() {
  static auto& all = *new std::vector<std::uintptr_t>();  // outlives the program's own destructors
  return all;
}
std::vector<unsigned char>& first_bytes() {
  static auto& all = *new std::vector<unsigned char>();
  return all;
}
unsigned char* note = nullptr;

void on_breakpoint(int, siginfo_t*, void* context) {
  auto& at = static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP];
  const auto address = static_cast<std::uintptr_t>(at) - 1;
  const auto found = std::lower_bound(functions().begin(), functions().end(), address);
  if (found == functions().end() || *found != address) {  // somebody else's
    signal(SIGTRAP, SIG_DFL);
    return;
  }
  const auto index = static_cast<std::size_t>(found - functions().begin());
  note[index] = 1;
  *reinterpret_cast<volatile unsigned char*>(address) = first_bytes()[index];
  at -= 1;
}

using Sigaction = int(int, const struct sigaction*, struct sigaction*);
Sigaction* next_sigaction() { return reinterpret_cast<Sigaction*>(dlsym(RTLD_NEXT, "sigaction")); }

// A file in memory, to the end of the process.
unsigned char* mapped(const std::string& file, int flags, std::size_t size, int protection) {
  const int handle = open(file.c_str(), flags | O_CLOEXEC, 0600);
  if (handle < 0) return nullptr;
  struct stat about {};
  if ((size > 0 && ftruncate(handle, static_cast<off_t>(size)) != 0) || fstat(handle, &about) != 0) return nullptr;
  void* const at = mmap(nullptr, static_cast<std::size_t>(about.st_size), protection, MAP_SHARED, handle, 0);
  close(handle);
  return at == MAP_FAILED ? nullptr : static_cast<unsigned char*>(at);
}

// Sets the addresses of the program's functions, as affected.py reads them: those of .symtab with a size.
void find_functions(const std::string& program, std::uintptr_t base) {
  const unsigned char* const file = mapped(program, O_RDONLY, 0, PROT_READ);
  if (file == nullptr) return;
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(file);
  const auto* sections = reinterpret_cast<const Elf64_Shdr*>(file + header->e_shoff);
  for (int i = 0; i < header->e_shnum; ++i) {
    if (sections[i].sh_type != SHT_SYMTAB) continue;
    const auto* symbols = reinterpret_cast<const Elf64_Sym*>(file + sections[i].sh_offset);
    for (std::size_t k = 0; k < sections[i].sh_size / sizeof(Elf64_Sym); ++k)
      if (ELF64_ST_TYPE(symbols[k].st_info) == STT_FUNC && symbols[k].st_shndx != SHN_UNDEF && symbols[k].st_size > 0)
        functions().push_back(base + symbols[k].st_value);
  }
  std::sort(functions().begin(), functions().end());
  functions().erase(std::unique(functions().begin(), functions().end()), functions().end());
}

const char* build() {
  const char* folder = std::getenv("STEREOPSIS_REACHED_BUILD");
  return folder == nullptr ? "" : folder;
}

bool is_of_build(const char* file) {
  return *build() != '\0' && std::strncmp(file, build(), std::strlen(build())) == 0;
}

// Returns the folder for the notes of this test, or an empty text outside of a test.
std::string notes() {
  const char *all = std::getenv("STEREOPSIS_REACHED"), *test = std::getenv("STEREOPSIS_TEST_NAME");
  return all == nullptr || test == nullptr ? "" : std::string(all) + "/" + test;
}

void note_library(const char* file) {
  if (is_of_build(file) && std::strstr(file, "libstereopsis_reached") == nullptr)
    static_cast<void>(!symlink(file, (notes() + std::strrchr(file, '/')).c_str()));  // it may be there already
}

void write_breakpoints() {
  std::uintptr_t first = ~std::uintptr_t{0}, last = 0;
  for (const std::uintptr_t at : functions()) first = std::min(first, at), last = std::max(last, at);
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  first -= first % page;
  if (mprotect(reinterpret_cast<void*>(first), last + 1 - first, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) _exit(126);
  struct sigaction action {};
  action.sa_sigaction = on_breakpoint;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  next_sigaction()(SIGTRAP, &action, nullptr);
  for (std::size_t i = 0; i < functions().size(); ++i) {
    auto* const at = reinterpret_cast<unsigned char*>(functions()[i]);
    first_bytes().push_back(*at);
    if (note[i] == 0) *at = breakpoint;
  }
}

[[gnu::constructor]] void begin() {
  char program[4096] = {};
  if (notes().empty() || readlink("/proc/self/exe", program, sizeof program - 1) <= 0 || !is_of_build(program)) return;
  mkdir(notes().c_str(), 0700);
  std::uintptr_t base = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* first) {
        if (*info->dlpi_name == '\0' && *static_cast<std::uintptr_t*>(first) == 0)
          *static_cast<std::uintptr_t*>(first) = info->dlpi_addr;
        note_library(info->dlpi_name);
        return 0;
      },
      &base);
  find_functions(program, base);
  if (functions().empty()) return;
  note = mapped(notes() + std::strrchr(program, '/'), O_RDWR | O_CREAT, functions().size(), PROT_READ | PROT_WRITE);
  if (note == nullptr) _exit(126);
  write_breakpoints();
}

}  // namespace

// LLVM, the compiler of OpenCL's CPU driver, would take the breakpoints for its own.
extern "C" int sigaction(int signal, const struct sigaction* action, struct sigaction* old) {
  return note != nullptr && signal == SIGTRAP ? 0 : next_sigaction()(signal, action, old);
}

// Libraries that a program opens itself.
extern "C" void* dlopen(const char* name, int flags) {
  static const auto next = reinterpret_cast<void* (*)(const char*, int)>(dlsym(RTLD_NEXT, "dlopen"));
  void* const opened = next(name, flags);
  link_map* about = nullptr;
  if (opened != nullptr && note != nullptr && dlinfo(opened, RTLD_DI_LINKMAP, &about) == 0) note_library(about->l_name);
  return opened;
}
