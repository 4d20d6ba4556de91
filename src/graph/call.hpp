// The argument of an operation's functions: the parameters, the operands by the names of the ports, and the device.
#pragma once

#include <array>

#include "graph/step.hpp"

namespace stereopsis {

class Threads;

// The memory traffic and the computation of a stage. Computation is the number of instructions × lanes on path costs,
// of population counts of 32-bit words, and of 32-bit additions and minima. Terms that are small in comparison are
// omitted.
struct Work {
  double bytes = 0, path_ops = 0, popcounts = 0, int_ops = 0;
};

// Calls f<T>() with the type, of the given types, that matches the element. Calls f with the last type if none matches.
template <class T, class... Rest, class F>
decltype(auto) with_element(Element element, F&& f) {
  if constexpr (sizeof...(Rest) > 0)
    if (element != element_of<T>()) return with_element<Rest...>(element, f);
  return f.template operator()<T>();
}

// An operation and its operands. Absent operands are empty. Costs are the volume named "costs", unless another name is
// given.
struct Shape {
  Shape(const Step& step, std::span<const AnyView> views_of_operands, const Target& device)
      : parameters(step.parameters),
        context(step.context),
        operands(step.operands),
        views(views_of_operands),
        target(device) {}

  const StageParameters& parameters;
  const StepContext& context;
  std::span<const Operand> operands;
  std::span<const AnyView> views;  // the view of each operand
  const Target& target;

  template <class P>
  const P& as() const {
    return parameters.as<P>();
  }
  // Return the operand of a port. If several operands have this name, returns the first one, the first input, or the
  // first output.
  AnyView operand(const char* name, Side view = Side::reference) const { return find(name, view, Access::either); }
  AnyView input(const char* name, Side view = Side::reference) const { return find(name, view, Access::input); }
  AnyView output(const char* name, Side view = Side::reference) const { return find(name, view, Access::output); }

  AnyView first() const { return views.empty() ? AnyView() : views[0]; }
  Size size() const { return first().size(); }
  double pixels() const { return static_cast<double>(first().width) * first().height; }
  int disparities(const char* costs = "costs") const { return operand(costs).disparities; }
  double cells(const char* costs = "costs") const {
    const AnyView volume = operand(costs);
    return static_cast<double>(volume.width) * volume.height * volume.disparities;
  }

  // Calls f<T>(), where T is the pixel type of the first operand.
  template <class F>
  void with_pixels(F&& f) const {
    with_element<std::uint8_t, std::uint16_t, float>(first().element, f);
  }

 private:
  AnyView find(const char* name, Side view, Access access) const {
    const int i = find_operand(operands, name, view, access);
    return i < 0 ? AnyView() : views[static_cast<std::size_t>(i)];
  }
};

// A shape whose operands have memory, which is the argument of a stage's functions.
template <On on>
class Call : public Shape {
 public:
  static constexpr On device = on;
  using Worker = std::conditional_t<on == On::gpu, gpu::Queue, Threads>;
  using Scratch = std::conditional_t<on == On::gpu, gpu::Span, std::span<std::byte>>;

  Call(const Shape& shape, Worker* worker, Scratch scratch) : Shape(shape), worker_(worker), scratch_(scratch) {}

  // An operand by its name, which converts to the image or the volume that a function takes: for a view of const pixels,
  // to the input of that name, and otherwise to the output.
  class Named {
   public:
    Named(const Call& call, const char* name, Side view) : call_(&call), name_(name), view_(view) {}

    template <class T>
    operator ImageView<T>() const requires(on != On::gpu) {
      return call_->template image<T>(name_, view_);
    }
    template <class T>
    operator VolumeView<T>() const requires(on != On::gpu) {
      return call_->template volume<T>(name_);
    }
    template <class T>
    operator gpu::View<T>() const requires(on == On::gpu) {
      return call_->template image<T>(name_, view_);
    }
    template <class T>
    operator gpu::Volume<T>() const requires(on == On::gpu) {
      return call_->template volume<T>(name_);
    }

   private:
    const Call* call_;
    const char* name_;
    Side view_;
  };
  Named operator()(const char* name, Side view = Side::reference) const { return {*this, name, view}; }
  // Returns the operands of both views.
  std::array<Named, 2> both(const char* name) const { return {(*this)(name), (*this)(name, Side::other)}; }

  // Returns an operand as an image. If T is const, this is the input of that name, otherwise the output.
  template <class T>
  auto image(const char* name, Side view = Side::reference) const {
    return as_image<T>(std::is_const_v<T> ? input(name, view) : output(name, view));
  }
  // Returns the images of both views.
  template <class T>
  auto images(const char* name) const {
    return std::array{image<T>(name, Side::reference), image<T>(name, Side::other)};
  }
  // Returns an operand as a volume; input or output is selected as in image().
  template <class T>
  auto volume(const char* name) const {
    const AnyView view = std::is_const_v<T> ? input(name) : output(name);
    if constexpr (on == On::gpu)
      return view.template volume_on_gpu<T>();
    else
      return view.template volume_on_host<T>();
  }
  template <class T>
  static auto as_image(const AnyView& view) {
    if constexpr (on == On::gpu)
      return view.template on_gpu<T>();
    else
      return view.template on_host<T>();
  }
  // Builds a struct of images from its members. The struct is a template of the class of views.
  template <template <template <class> class> class Images, class... Members>
  static auto of(const Members&... members) {
    if constexpr (on == On::gpu)
      return Images<gpu::View>{members...};
    else
      return Images<ImageView>{members...};
  }
  // Builds a struct that is also a template of a pixel type, or of a matching cost.
  template <template <class, template <class> class> class Images, class T, class... Members>
  static auto of(const Members&... members) {
    if constexpr (on == On::gpu)
      return Images<T, gpu::View>{members...};
    else
      return Images<T, ImageView>{members...};
  }

  Scratch scratch() const { return scratch_; }
  // Returns the memory of the entry's constants on a GPU.
  gpu::Span constants() const { return constants_; }
  Call with_constants(const gpu::Span& there) const {
    Call call = *this;
    call.constants_ = there;
    return call;
  }
  Worker& worker() const { return *worker_; }

 private:
  Worker* worker_;
  Scratch scratch_;
  gpu::Span constants_;
};

template <class C>
inline constexpr On device_of = std::decay_t<C>::device;

// The functions that run an operation; a function is null if its device is not supported.
struct Functions {
  void (*oracle)(const Call<On::oracle>&) = nullptr;
  void (*cpu)(const Call<On::cpu>&) = nullptr;
  void (*gpu)(const Call<On::gpu>&) = nullptr;
};

}  // namespace stereopsis
