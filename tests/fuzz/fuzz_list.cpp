#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "fuzz/fuzz.hpp"
#include "sources/lists.hpp"

using namespace stereopsis;

namespace {

// A folder with two images, which lists may name.
struct Folder {
  Folder() {
    std::filesystem::create_directories(path / "b");
    for (const char* name : {"a.png", "b/a.png"}) std::ofstream(path / name) << "image";
  }
  ~Folder() { std::filesystem::remove_all(path); }
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("stereopsis_fuzz_" + std::to_string(getpid()));
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Folder folder;
  const std::filesystem::path list = folder.path / "list.csv";
  std::ofstream(list, std::ios::binary).write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  for (const std::size_t views : {1, 2})
    fuzz::expect_result_or_refusal([&] {
      for (const sources::Frames& frames : sources::frames_of_list(list, views))
        for (std::size_t i = 0; i < frames.size(); ++i) static_cast<void>(frames.stem(i) + frames.name(i));
    });
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  return {"a.png,b/a.png\n",  "left,right\na.png,b/a.png\nb/a.png,a.png\n", "# time left right\n1\ta.png\tb/a.png\n",
          "a.png\nb/a.png\n", "time;left;right\n1;\"a.png\" ; b/a.png\r\n", "a.png[1],a.png\n"};
}
