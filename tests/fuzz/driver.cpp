// Runs one fuzz target on a fixed number of deterministic mutations of its seeds.
//
//   fuzz_png                        the test: fails on a crash, a hang, an exception or an allocation out of
//   proportion,
//                                   and leaves the input that did it in fuzz_png.failure
//   fuzz_png --inputs N             N of them, by hand
//   fuzz_png FILE…                  runs the files instead: to see a failure again
//   fuzz_png --write-seeds FOLDER   for a fuzzer that needs a corpus
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <random>

#include "fuzz/fuzz.hpp"
#include "support/sanitized.hpp"

// A sanitizer's finding becomes a signal, so that its input is kept too.
extern "C" const char* __asan_default_options() { return "abort_on_error=1"; }
extern "C" const char* __ubsan_default_options() { return "abort_on_error=1:print_stacktrace=1"; }

static std::atomic<std::size_t> largest_allocation = 0;

static void* allocate(std::size_t size, std::align_val_t alignment = std::align_val_t{alignof(std::max_align_t)}) {
  if (size > largest_allocation) largest_allocation = size;
  const auto step = static_cast<std::size_t>(alignment);
  return std::aligned_alloc(step, std::max<std::size_t>(1, (size + step - 1) / step) * step);
}

static void* or_throw(void* p) { return p != nullptr ? p : throw std::bad_alloc(); }

// The forms for arrays call these.
void* operator new(std::size_t size) { return or_throw(allocate(size)); }
void* operator new(std::size_t size, std::align_val_t alignment) { return or_throw(allocate(size, alignment)); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return allocate(size); }
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return allocate(size, alignment);
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

namespace {

int inputs = 20000;
constexpr unsigned seconds_per_input = 10;

std::string current;       // the input being run
std::string failure_file;  // receives the input if it fails

// Called from a signal handler, which allows only system calls.
void keep_input() {
  const int file = open(failure_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0) return;
  if (write(file, current.data(), current.size()) >= 0) close(file);
}

void on_signal(int number) {
  keep_input();
  constexpr char message[] = "the reader crashed, threw something unexpected or hung; its input was kept\n";
  if (write(STDERR_FILENO, message, sizeof message - 1) < 0) _exit(2);
  std::signal(number, SIG_DFL);
  std::raise(number);
}

class Mutator {
 public:
  explicit Mutator(std::vector<std::string> seeds) : seeds_(std::move(seeds)) {}

  std::string input(unsigned index) {
    random_.seed(index);
    std::string input = any_seed();
    for (unsigned n = 1 + below(4); n > 0; --n) mutate(input);
    return input;
  }

 private:
  std::size_t below(std::size_t count) { return count == 0 ? 0 : random_() % count; }
  const std::string& any_seed() { return seeds_[below(seeds_.size())]; }
  // Headers are where sizes are: half of the changes go to the first bytes.
  std::size_t place(const std::string& s) {
    return below(below(2) == 0 ? std::min<std::size_t>(s.size(), 64) : s.size());
  }

  void mutate(std::string& s) {
    if (s.empty()) return;
    const std::size_t at = place(s);
    const std::size_t length = 1 + below(std::min<std::size_t>(s.size() - at, 32));
    switch (below(8)) {
      case 0: s[at] = static_cast<char>(random_()); break;
      case 1: s[at] = static_cast<char>(s[at] ^ (1 << below(8))); break;
      case 2: s.resize(below(s.size() + 1)); break;
      case 3: splice(s, at, any_seed()); break;
      case 4: s.erase(at, length); break;
      case 5: s.insert(at, s.substr(at, length)); break;
      case 6: write_binary_number(s, at); break;
      default: write_text_number(s, at);
    }
  }

  void splice(std::string& s, std::size_t at, const std::string& other) { s.replace(at, s.npos, other, place(other)); }

  void write_binary_number(std::string& s, std::size_t at) {
    static constexpr std::array<std::uint32_t, 12> numbers = {
        0, 1, 2, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x10000, 0x100000, 0x10000000, 0x7FFFFFFF, 0xFFFFFFFF};
    const std::uint32_t number = numbers[below(numbers.size())];
    const std::size_t size = std::size_t{1} << below(3);
    const bool big_endian = below(2) == 0;
    for (std::size_t i = 0; i < size && at + i < s.size(); ++i)
      s[at + i] = static_cast<char>(number >> 8 * (big_endian ? size - 1 - i : i));
  }

  void write_text_number(std::string& s, std::size_t at) {
    static constexpr std::array<const char*, 12> numbers = {
        "0",     "1",   "-1", "65535", "65536", "1048576", "268435457", "2147483648", "99999999999999999999",
        "1e400", "nan", "0.5"};
    const std::size_t first = s.find_first_of("0123456789", at);
    if (first == std::string::npos) return;
    const std::size_t last = std::min(s.find_first_not_of("0123456789", first), s.size());
    s.replace(first, last - first, numbers[below(numbers.size())]);
  }

  std::vector<std::string> seeds_;
  std::mt19937 random_;
};

// The most that a reader may ask for at once: rows are padded to 64 bytes (2^20 rows at the most), and a byte of PNG
// gives up to 1032 bytes of 1-bit palette indices, each eight RGB pixels.
std::size_t allowed_allocation(std::size_t input_size) { return (80u << 20) + 25000 * input_size; }

bool run(const std::string& input) {
  current = input;
  largest_allocation = 0;
  alarm(seconds_per_input);
  // A copy of exactly this size, so that a tool sees a read behind its end.
  const std::vector<std::uint8_t> data(input.begin(), input.end());
  LLVMFuzzerTestOneInput(data.data(), data.size());
  alarm(0);
  if (largest_allocation <= allowed_allocation(input.size())) return true;
  std::fprintf(stderr, "an input of %zu bytes made the reader allocate %zu bytes; it is in %s\n", input.size(),
               largest_allocation.load(), failure_file.c_str());
  keep_input();
  return false;
}

std::string read(const char* file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

int run_files(int count, char** files) {
  for (int i = 0; i < count; ++i)
    if (!run(read(files[i]))) return 1;
  return 0;
}

int run_mutations() {
  const std::vector<std::string> seeds = fuzz_seeds();
  for (const std::string& seed : seeds)
    if (!run(seed)) return 1;
  Mutator mutator(seeds);
  for (int i = 0; i < inputs; ++i)
    if (!run(mutator.input(static_cast<unsigned>(i)))) return 1;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("%zu seeds, %d mutations, %d of their readings gave a result, at most %ld MiB resident\n", seeds.size(),
              inputs, stereopsis::fuzz::results, usage.ru_maxrss / 1024);
  // The resident memory includes the allocations of the C libraries.
  constexpr long most_resident_kib = 512 * 1024;
  return !stereopsis::sanitized && usage.ru_maxrss > most_resident_kib ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  failure_file = std::filesystem::path(argv[0]).filename().string() + ".failure";
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM}) std::signal(number, on_signal);
  if (argc == 3 && std::string(argv[1]) == "--write-seeds") return stereopsis::fuzz::write_seeds(argv[2]);
  if (argc == 3 && std::string(argv[1]) == "--inputs") {
    inputs = std::atoi(argv[2]);
    return run_mutations();
  }
  return argc > 1 ? run_files(argc - 1, argv + 1) : run_mutations();
}
