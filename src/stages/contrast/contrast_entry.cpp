#include "graph/builder.hpp"
#include "stages/contrast/contrast.hpp"

namespace stereopsis::contrast {

void mark_maps(Builder&, Images& full, const Maps&, int factor, int first_row);
Rect with_windows(const PipelineData&, const Request&, const Rect&);

namespace {

constexpr auto mark = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{.slot = Slot::internal,
                            .name = "contrast",
                            .title = "pixels without contrast",
                            .parameters = Parameters{},
                            .ports = {in("image"), change("validity")},
                            .functions = on_every_device([](const auto& c) {
                              c.with_pixels([&]<class T>() {
                                mark(c, c.template as<Parameters>(), c.template image<const T>("image"), c("validity"));
                              });
                            }),

                            .facets = {FlatMarks{.mark_maps = mark_maps, .with_windows = with_windows}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::contrast
