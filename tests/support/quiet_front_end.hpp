// A front end for tests: it spells min_disparity as <min_disparity>, and keeps what the run says.
#pragma once

#include <string>
#include <vector>

#include "jobs/front_end.hpp"

namespace stereopsis::test {

struct QuietFrontEnd : jobs::FrontEnd {
  std::string spelled(std::string_view setting) const override { return "<" + std::string(setting) + ">"; }
  void warning(const std::string& sentence) override { warnings.push_back(sentence); }
  void remark(const std::string& sentence) override { remarks.push_back(sentence); }
  void failure(const std::string& sentence) override { failures.push_back(sentence); }
  void progress(std::size_t now) override { done = now; }
  void detail(const std::string&) override {}
  void begin(std::size_t, const std::string&) override {}
  void end() override {}

  std::vector<std::string> warnings, remarks, failures;
  std::size_t done = 0;
};

}  // namespace stereopsis::test
