// Turns the slots of a pipeline into steps. The files beside it: composer.cpp the way from the pair to the maps, and how a stage
// finds what its ports name, costs.cpp volumes of costs on one level,
// row_tiles.cpp filtered volumes, a strip of rows at a time and across scales, pyramid.cpp coarse to fine, surroundings.cpp what
// comes before and after the matching.
#pragma once

#include <map>

#include "program/program.hpp"
#include "stages/reduce/reduce.hpp"

namespace stereopsis {

// The images of both views at one size: values by name, −1 where there is none.
struct Images {
  PairInfo info;
  Size size;  // that the method sees
  std::map<std::string, std::array<int, 2>, std::less<>> made;
  Rows rows{};  // of them that the method sees; none: all. Images that are made of images have all

  int find(std::string_view name, int view) const {
    const auto found = made.find(name);
    return found == made.end() ? -1 : found->second[view];
  }
  void put(std::string_view name, int view, int value) {
    made.try_emplace(std::string(name), std::array{-1, -1}).first->second[view] = value;
  }
};

// Maps of the reference view, and the volume of costs as far as they were made; those that are wanted have their values before.
using Maps = std::map<std::string, int, std::less<>>;

// Where a step finds and leaves what its ports name.
reduce::Parameters reduction_of(const PipelineData&);

struct Scope {
  Images& images;
  Maps& maps;
  StepContext context;
  Rows rows{};  // of the images and the maps; none: all
};

class Composer {
 public:
  Composer(Program& program, const ProgramRequest& request);
  void compose();

 private:
  void finish();
  // Values and steps.
  int value(const AnyView& shape, Binding binding = Binding::none);
  int image(Size size, Element element, int channels = 1);
  const AnyView& shape_of(int value) const { return program_.values_[value].shape; }
  bool makes_volume(const Step&) const;
  void add(const StageDescriptor&, const StageParameters&, const StepContext&, std::vector<Operand>,
           std::string title = {});
  void run(const StageDescriptor&, const StageParameters&, Scope&, std::string title = {});
  void run(const StageChoice& stage, Scope& scope) { run(*stage.entry, stage.parameters, scope); }
  Operand resolve(const Port&, int view, const StageDescriptor&, const StageParameters&, const Scope&,
                  const AnyView& first);
  void check_element(const Port&, const StageDescriptor&, Element) const;
  void register_output(const Port&, int view, int value, const StageDescriptor&, Scope&);
  Size size_made(const Port&, const StageDescriptor&, const StageParameters&, const Scope&, const AnyView& first) const;
  int channels_made(const Port&, const StageDescriptor&, const Scope&, const AnyView& first) const;
  int need(Images&, std::string_view name, int view);
  StepContext context_of(const DisparityRange&, const Images&) const;

  // Surroundings.
  Images given_images();
  Rect given_part() const;
  void give(Images&, int view);
  int make_picture(Images&, int view);
  Images rectified_images();
  int rectified(std::string_view name, int view, int usable);
  Images reduced_images(Images& full);
  void restore(Images& full, Images& reduced, Maps&);
  void triangulate(const Images& full, Maps&);
  void deliver(const Images& full, const Maps&);
  bool reads(const char* map) const;
  bool selects_confidence() const;
  Maps wanted_maps(Size size);
  Maps given_maps(Size size);

  // Matching.
  void check_combination() const;
  void match(Images&, const DisparityRange&, Maps&);
  void match_view(Images&, const DisparityRange&, Maps&, bool from_right);
  CostUnits make_costs(Scope&);
  CostUnits add_costs(Scope&);
  CostUnits costs_of(const StageChoice& cost, Scope&);
  CostUnits units_of(const StageChoice&, const CostUnits& before) const;
  void fit_costs(const StageChoice& next, CostUnits&, Scope&);
  void give(int costs, CostState);
  void probe(const Scope&, CostState);
  void select(Scope&, const StageParameters& select);
  // Stripes of larger images.
  Operand of_stripe(const Scope&, int image, const StageDescriptor&) const;
  void cut_stripe(Images&, Maps& edges);
  void follow_paths(Images&, Maps&);
  // Strips of filtered volumes.
  struct Scales;
  void match_in_row_tiles(Images&, const DisparityRange&, Maps&);
  Scales make_scales(Images& finest, const DisparityRange&);
  void match_row_tiles(Scales&, bool from_right, const StageParameters& select, Maps&);
  void compose_row_tiles(Scales&, bool from_right, const StageParameters& select, Maps&, int rows);
  int filtered_costs(Scales&, int level, bool from_right, Rows rows, bool many);
  bool fuses_from(std::size_t first_step) const;
  // Pyramids.
  struct Level;
  void match_pyramid(Images&, const DisparityRange&, Maps&);
  std::vector<Level> scale_down(int count, Images&, const DisparityRange&, const Maps&);
  void search_coarsest(Level&);
  void refine_level(const std::vector<Level>&, int level, const Maps&, bool from_right);

  Program& program_;
  const ProgramRequest& request_;
  const PipelineData& pipeline_;
  const Problem& problem_;
  const Rect& shown_;  // of the rectified images
  Images raw_;         // of a pair that is rectified first, as it is given
  int given_costs_ = -1;
  std::vector<Step> steps_;
};

}  // namespace stereopsis
