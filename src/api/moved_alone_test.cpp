// Tests each parameter of each stage at the ends of its range, with default values for the others. Either the plan is
// made, or the error names another parameter that must be changed. Users of a slider therefore always know what to do.
#include <gtest/gtest.h>

#include <iostream>
#include <set>

#include "core/text.hpp"
#include "graph/registry.hpp"
#include "stereopsis/matcher.hpp"
#include "stereopsis/stages.hpp"

namespace stereopsis::moved_alone_test {
namespace {

void plan(const Pipeline& pipeline) {
  // The image is larger than the longest arm of stages/cross.
  Plan(pipeline, {.size = {200, 150}, .channels = 3, .range = {0, 32}, .region = {}}, {.name = "cpu"});
}

bool can_run(const Pipeline& pipeline) {
  try {
    plan(pipeline);
  } catch (const Error&) {
    return false;
  }
  return true;
}

std::vector<std::string> ends_of(const ParameterInfo& info) {
  if (info.type == "flag") return {"true", "false"};
  if (!info.choices.empty()) return info.choices;
  if (!info.minimum) return {};
  const std::size_t count = info.type == "numbers" ? split(info.value, ',').size() : 1;
  std::vector<std::string> ends;
  for (const double end : {*info.minimum, *info.maximum})
    ends.push_back(join(std::vector<std::string>(count, number_text(end)), ","));
  return ends;
}

// Returns the names in both notations, by slot and by stage, because errors use either.
std::set<std::string> names_of_others(const Pipeline& pipeline, const ParameterInfo& moved) {
  std::set<std::string> names{"200×150 pixels"};  // an error about the size of the image names no parameter
  for (const PipelineSlot& slot : pipeline.slots()) {
    names.insert(slot.slot + ".stage");
    for (const ParameterInfo& info : slot.parameters) {
      if (info.name == moved.name) continue;
      names.insert(info.name);
      names.insert(slot.kind + info.name.substr(info.name.find('.')));
    }
  }
  return names;
}

bool names_one(const std::string& sentence, const std::set<std::string>& names) {
  return std::ranges::any_of(names, [&](const std::string& name) {
    for (std::size_t at = sentence.find(name); at != std::string::npos; at = sentence.find(name, at + 1)) {
      const std::size_t end = at + name.size();
      if (end == sentence.size() || std::string_view(" ,;)=").find(sentence[end]) != std::string_view::npos)
        return true;
    }
    return false;
  });
}

struct Moved {
  int accepted = 0, rejected = 0;
  std::set<std::string> stages = {};
};

void move_each(const Pipeline& pipeline, Moved& moved) {
  for (const PipelineSlot& slot : pipeline.slots()) {
    moved.stages.insert(slot.kind);
    for (const ParameterInfo& info : slot.parameters)
      for (const std::string& end : ends_of(info)) {
        Pipeline changed = pipeline;
        changed.set(info.name, end);
        try {
          plan(changed);
          ++moved.accepted;
        } catch (const Error& error) {
          ++moved.rejected;
          const bool is_list = end.find(',') != std::string::npos;  // numbers in a list may contradict one another
          EXPECT_TRUE(is_list || names_one(error.what(), names_of_others(pipeline, info)))
              << pipeline.method() << " " << info.name << "=" << end << ": " << error.what();
        }
      }
  }
}

// All methods, and pipelines with the stages that no method uses.
std::vector<Pipeline> pipelines() {
  std::vector<Pipeline> list;
  for (const MethodInfo& method : methods()) list.emplace_back(method.name);
  const auto add = [&](const std::string& name, const std::string& value) {
    Pipeline pipeline("banz-sgm");
    pipeline.set(name, value);
    if (can_run(pipeline)) list.push_back(std::move(pipeline));
  };
  for (const SlotChoices& slot : slot_choices())
    for (const std::string& stage : slot.stages)
      add(slot.slot == "refinements" ? slot.slot : slot.slot + ".stage", stage);
  return list;
}

TEST(MovedAlone, AParameterAtAnEndIsAcceptedOrTheErrorNamesAnother) {
  Moved moved;
  for (const Pipeline& pipeline : pipelines()) {
    ASSERT_TRUE(can_run(pipeline)) << pipeline.method();
    move_each(pipeline, moved);
  }
  for (const StageDescriptor* entry : registry().entries) {
    const bool in_pipelines = entry->slot != Slot::image && entry->slot != Slot::internal && entry->name != "volume";
    EXPECT_TRUE(!in_pipelines || moved.stages.contains(entry->name)) << entry->name << " was tried in no pipeline";
  }
  std::cout << moved.accepted << " values accepted, " << moved.rejected << " rejected with the name of another\n";
}

// Moves the penalties of `sgm` from every end of their range to every other, one parameter at a time.
TEST(MovedAlone, ThePenaltiesReachEveryEnd) {
  Pipeline pipeline("sgm");
  for (const auto& [name, value] : {std::pair{"sgm.p2_min", "0"},
                                    {"sgm.gradient", "0"},
                                    {"sgm.p1", "0"},
                                    {"sgm.p2", "0"},
                                    {"sgm.gradient", "255"},
                                    {"sgm.p2", "4095"},
                                    {"sgm.p1", "4095"},
                                    {"sgm.p2_min", "4095"},
                                    {"sgm.p1", "0"},
                                    {"sgm.p2_min", "0"}}) {
    pipeline.set(name, value);
    EXPECT_NO_THROW(plan(pipeline)) << name << "=" << value;
  }
}

}  // namespace
}  // namespace stereopsis::moved_alone_test
