#include "stereopsis/pair_source.hpp"

#include <algorithm>

#include "core/text.hpp"
#include "sources/pairs.hpp"

namespace stereopsis {

namespace fs = std::filesystem;

struct PairSource::Content {
  fs::path given_left;
  sources::Pairs pairs;
};

PairSource::PairSource(const fs::path& left, const fs::path& right, const PairSourceOptions& options)
    : content_(std::make_shared<const Content>(
          Content{left, sources::find_pairs(left, right, options, "; keep_going skips images without a partner")})) {}

std::size_t PairSource::size() const { return content_->pairs.left.size(); }

bool PairSource::is_sequence() const { return content_->pairs.left.sequence; }

double PairSource::rate() const {
  const auto& video = content_->pairs.left.video;
  return video ? video->rate() : 0;
}

const std::vector<std::string>& PairSource::dropped() const { return content_->pairs.dropped; }

const fs::path& PairSource::left_file(std::size_t i) const { return content_->pairs.left.file(i); }

const fs::path& PairSource::right_file(std::size_t i) const { return content_->pairs.right.file(i); }

std::string PairSource::name(std::size_t i) const { return content_->pairs.left.name(i); }

std::string PairSource::result_name(std::size_t i) const { return content_->pairs.left.stem(i); }

std::optional<double> PairSource::seconds_apart(std::size_t i) const {
  const auto& apart = content_->pairs.apart;
  return apart.empty() ? std::nullopt : std::optional(static_cast<double>(apart[i]) * 1e-9);
}

PairOfImages PairSource::read(std::size_t i) const {
  return sources::read_pair(content_->pairs.left, content_->pairs.right, i);
}

std::vector<fs::path> PairSource::files_beside(const fs::path& given) const {
  std::vector<fs::path> files = sources::partners_of(content_->pairs.left, sources::find_frames(given, "the file"));
  if (std::ranges::all_of(files, &fs::path::empty))
    sources::refuse(text("no file of ", given.string(), " belongs to an image of ", content_->given_left.string(),
                         "; the files must have the numbers or the names of the left images"));
  return files;
}

std::vector<fs::path> find_images(const fs::path& given) { return sources::find_frames(given, "the image").files; }

}  // namespace stereopsis
