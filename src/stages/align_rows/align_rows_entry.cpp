#include "graph/registry.hpp"
#include "stages/align_rows/align_rows.hpp"

namespace stereopsis::align_rows {

int align_right(Builder&, int given, int first_row, int mask);
int align_map(Builder&, int map);
void restore_right(Builder&, Maps&);

namespace {

constexpr auto align = STEREOPSIS_DISPATCH(oracle, cpu, gpu);
constexpr auto align_positions = STEREOPSIS_DISPATCH(map_oracle, map_cpu, map_gpu);
constexpr auto restore = STEREOPSIS_DISPATCH(restore_oracle, restore_cpu, restore_gpu);

StageParameters of_pair(const Planned& planned, const RowAlignment& alignment) {
  Planned p = planned;
  p.alignment = alignment;
  return p;
}

const StageDescriptor align_entry{
    .slot = Slot::internal,
    .name = "align_rows",
    .title = "alignment of rows",
    .parameters = Planned{},
    .ports = {in("given"), if_there("given_mask"), out("image", Element::same), out("mask", Element::u8)},
    .functions = on_every_device([](const auto& c) {
      c.with_pixels([&]<class T>() {
        align(c, c.template as<Planned>().for_kernels(), c.template of<InputOf, T>(c("given"), c("given_mask")),
              c.template of<OutputOf, T>(c("image"), c("mask")));
      });
    }),
    .facets = {AlignedView{.align = align_right}, PairParameters{.of = of_pair}}};

const StageDescriptor map_entry{
    .slot = Slot::internal,
    .name = "align_map",
    .title = "alignment of rows",
    .parameters = Planned{},
    .ports = {in("map"), out("aligned_map", Element::s32)},
    .functions = on_every_device(
        [](const auto& c) { align_positions(c, c.template as<Planned>().for_kernels(), c("map"), c("aligned_map")); }),
    .facets = {AlignedMap{.align = align_map}, PairParameters{.of = of_pair}, ImageShape{.keeps_channels = true}}};

const StageDescriptor restore_entry{.slot = Slot::internal,
                                    .name = "restore_rows",
                                    .title = "rows of the given right image",
                                    .parameters = Planned{},
                                    .ports = {in("right"), out("restored", Element::f32)},
                                    .functions = on_every_device([](const auto& c) {
                                      restore(c, c.template as<Planned>().for_kernels(), c("right"), c("restored"));
                                    }),
                                    .facets = {RestoredView{.restore = restore_right}, PairParameters{.of = of_pair}}};

}  // namespace

void register_stage(Registry& registry) {
  registry.add(align_entry);
  registry.add(map_entry);
  registry.add(restore_entry);
}

}  // namespace stereopsis::align_rows
