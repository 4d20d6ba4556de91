// Builds the values and steps of a program. The builder is used by the lowering functions of src/planning, and by
// stages that change the shape of the pipeline. The builder turns slots into steps.
#pragma once

#include <array>
#include <vector>

#include "graph/pipeline.hpp"
#include "graph/request.hpp"

namespace stereopsis {

// A view that steps read and write: memory of the workspace, or an image of the caller.
struct Value {
  AnyView shape;
  Binding binding = Binding::none;
  int first = -1, last = -1;  // first and last step that uses the value
  std::size_t offset = 0;     // offset in the workspace, if the value has a place there
  bool has_place = false;
};

// The images of both views at one size. For each name, there is the index of the image's value, or −1 if there is no
// such image.
struct Images {
  PairInfo info;
  Size size;  // size of the images that the method reads
  std::map<std::string, std::array<int, 2>, std::less<>> made;
  // Rows that the method reads; an empty range means all rows. Images that stages compute from them have all rows.
  Rows rows{};
  int full_height = 0;  // height of computed images, if the method reads only a part of the rows

  Size full_size() const { return {size.width, rows.count() > 0 ? full_height : size.height}; }
  int find(std::string_view name, int view) const {
    const auto found = made.find(name);
    return found == made.end() ? -1 : found->second[static_cast<std::size_t>(view)];
  }
  void put(std::string_view name, int view, int value) {
    made.try_emplace(std::string(name), std::array{-1, -1}).first->second[static_cast<std::size_t>(view)] = value;
  }
};

// Gives the left view another image of this name as long as the object exists.
class WithImage {
 public:
  WithImage(Images& images, const char* name, int value) : images_(images), name_(name), before_(images.find(name, 0)) {
    images.put(name, 0, value);
  }
  ~WithImage() { images_.put(name_, 0, before_); }
  WithImage(const WithImage&) = delete;
  WithImage& operator=(const WithImage&) = delete;

 private:
  Images& images_;
  const char* const name_;
  const int before_;
};

// The values to which the names of a step's ports refer: images of both views, maps of the reference view, and the cost
// volume. A requested map has a value even before a step writes the map.
struct Scope {
  Images& images;
  Maps& maps;
  StepContext context;
  Rows rows{};                            // rows of the images and the maps; an empty range means all rows
  Rows cost_rows{};                       // rows of the volume that steps read; an empty range means all rows
  WordCost word_cost = {};                // the matching cost of two words, as long as the volume holds such costs
  int most_cost = 255;                    // largest cost of an 8-bit volume
  const StageParameters* cost = nullptr;  // parameters of the matching cost; null means those of the pipeline
};

class Builder {
 public:
  // The (rectified) images show the rectangle `shown`.
  Builder(const PipelineData& pipeline, const Request& request, const Target& target, const Rect& shown,
          int stripe_rows, bool fused)
      : pipeline_(pipeline),
        request_(request),
        target_(target),
        shown_(shown),
        stripe_rows_(stripe_rows),
        fused_(fused) {}

  const PipelineData& pipeline() const { return pipeline_; }
  const Request& request() const { return request_; }
  const Target& target() const { return target_; }
  const Rect& shown() const { return shown_; }
  int stripe_rows() const { return stripe_rows_; }  // number of rows of a stripe; 0 lets the steps decide
  bool is_fused() const { return fused_; }

  int value(const AnyView& shape, Binding binding = Binding::none);
  int image(Size size, Element element, int channels = 1);
  // Adds a volume without padding, and returns its index.
  int volume(Size size, Element element, int disparities);
  void bind(int value, Binding binding) { values_[static_cast<std::size_t>(value)].binding = binding; }
  Binding binding_of(int value) const { return values_[static_cast<std::size_t>(value)].binding; }
  const AnyView& shape_of(int value) const { return values_[static_cast<std::size_t>(value)].shape; }

  StepContext context_of(const DisparityRange& range, const Images& images) const;
  // A value for a port of a step; −1: no value.
  struct PortValue {
    const char* port;
    int value;
    Side view = Side::reference;
  };
  // Adds a step. `read` has values for the ports that the stage reads, changed ones included, and `written` for the
  // other ports. A port that neither names has no value. StageDescriptor::plan completes the parameters of the step.
  void add(const StageDescriptor& stage, StageParameters parameters, const StepContext& context,
           const std::vector<PortValue>& read, const std::vector<PortValue>& written = {}, std::string title = {});
  // Adds a step whose operands are found by the names of the stage's ports. Adds missing images and outputs first.
  void run(const StageDescriptor& stage, const StageParameters& parameters, Scope& scope, std::string title = {});
  void run(const StageChoice& stage, Scope& scope) { run(*stage.entry, stage.parameters, scope); }
  // Returns the image `name` of a view. If the image does not exist, uses an equal image with another name, or adds the
  // stage that computes the image. Throws Error(call) if no stage computes it.
  int need(Images& images, std::string_view name, int view);
  // Sets the function that adds the conversion steps for a view whose format is neither grey nor RGB.
  void make_pictures_by(int (*make)(Builder&, Images&, int view)) { make_picture_ = make; }

  // A state of the builder to which the builder can return.
  struct Mark {
    std::size_t values, steps;
  };
  Mark mark() const { return {values_.size(), steps_.size()}; }
  void rewind(const Mark& mark);
  // Gives all steps after the mark one title, so that they share one time.
  void share_time(const Mark& mark, const std::string& title);
  // Returns whether fusion removes all steps of this stage after the mark.
  bool fuses_all_of(const StageDescriptor& stage, const Mark& mark) const;

  std::vector<Value> take_values() { return std::move(values_); }
  // Returns the steps. If the builder was created with fusion, the steps are fused first.
  std::vector<Step> take_steps();

  Images raw;            // the raw images of a pair that is rectified first
  int given_costs = -1;  // index of the volume that the caller passes with the pair

 private:
  bool makes_volume(const Step& step) const;
  void add_completed(const StageDescriptor& stage, StageParameters parameters, const StepContext& context,
                     std::vector<Operand> operands, std::string title);
  StageParameters completed(const StageDescriptor& stage, StageParameters parameters, const PlanFacts& facts) const;
  Operand resolve(const Port& port, int view, const StageDescriptor& stage, const StageParameters& parameters,
                  const Scope& scope, const AnyView& first);
  int make_output(const Port& port, const StageDescriptor& stage, const StageParameters& parameters, const Scope& scope,
                  const AnyView& first);
  void check_element(const Port& port, const StageDescriptor& stage, Element element) const;

  const PipelineData& pipeline_;
  const Request& request_;
  const Target target_;
  const Rect shown_;
  const int stripe_rows_;
  const bool fused_;
  std::vector<Value> values_;
  std::vector<Step> steps_;
  int (*make_picture_)(Builder&, Images&, int view) = nullptr;
};

}  // namespace stereopsis
