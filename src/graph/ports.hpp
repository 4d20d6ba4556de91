// The ports of an operation, which name the images, volumes and maps that it reads and writes.
//
// Images of a view are: image and mask (as given; for other formats channels, mosaic, luma and chroma), grey, grey8,
// image8, colours, rgb, lab, samples, words (the features of a matching cost), and the outputs of other stages of the
// slot `image` (census9x7, cross). Volumes: costs. Maps of the reference view are: disparity, validity, right,
// confidence, kinds.
#pragma once

#include <array>
#include <initializer_list>
#include <vector>

#include "graph/any_view.hpp"
#include "graph/stage_parameters.hpp"

namespace stereopsis {

// The view to which a port refers: the reference view, the other view, or both, with the reference view first.
enum class Side { reference, other, both };
inline constexpr Side both = Side::both;
inline constexpr std::array each_view{Side::reference, Side::other};
constexpr Side opposite(Side view) { return view == Side::reference ? Side::other : Side::reference; }

// An image, volume or map that an operation reads or writes.
struct Port {
  enum class Use {
    in,        // read; an earlier step computes it, or a step is added to compute it
    if_there,  // read, if an earlier step computed it or the caller passes it
    out,       // written
    wanted,    // written if it is requested
    change,    // read and written
    scratch,   // scratch memory
  };
  const char* name;
  Use use;
  Element element = Element::same;  // element type of an output; `same` means the type of the first operand
  Side side = Side::reference;
  bool volume = false;
  std::vector<Element> accepts = {};  // element types that are accepted for an input volume
};
constexpr bool reads(Port::Use use) {
  return use == Port::Use::in || use == Port::Use::if_there || use == Port::Use::change;
}
constexpr bool writes(Port::Use use) { return use != Port::Use::in && use != Port::Use::if_there; }

inline Port in(const char* name, Side side = Side::reference) { return {name, Port::Use::in, Element::same, side}; }
inline Port in_volume(const char* name, std::vector<Element> accepts) {
  return {name, Port::Use::in, Element::same, Side::reference, true, std::move(accepts)};
}
inline Port if_there(const char* name, Side side = Side::reference) {
  return {name, Port::Use::if_there, Element::same, side};
}
inline Port out(const char* name, Element e, Side side = Side::reference) { return {name, Port::Use::out, e, side}; }
inline Port out_volume(const char* name, Element e) { return {name, Port::Use::out, e, Side::reference, true}; }
inline Port wanted(const char* name, Element e) { return {name, Port::Use::wanted, e}; }
inline Port change(const char* name) { return {name, Port::Use::change}; }
inline Port change_volume(const char* name, std::vector<Element> accepts) {
  return {name, Port::Use::change, Element::same, Side::reference, true, std::move(accepts)};
}
inline Port scratch(const char* name, Element e) { return {name, Port::Use::scratch, e}; }
using Ports = std::vector<Port>;

// Calls f(port, view) for each operand, in the order of a step's operands.
template <class F>
void for_each_operand(const Ports& ports, F&& f) {
  for (const Port& port : ports)
    for (const Side view : each_view)
      if (port.side == view || port.side == Side::both) f(port, view);
}

// Properties of the pair at one image size.
struct PairInfo {
  Element element = Element::u8;
  int channels = 1;

  bool is_float() const { return element == Element::f32; }
};

// The ports of a stage: a list, or a function of the parameters, of the pair, or of both.
class PortList : public OfParameters<Ports(const PairInfo&)> {
 public:
  PortList() : PortList(Ports{}) {}
  PortList(Ports ports) : FunctionOf(std::move(ports)) {}
  PortList(std::initializer_list<Port> ports) : PortList(Ports(ports)) {}
  template <class P>
  PortList(Ports (*f)(const P&, const PairInfo&)) : FunctionOf(f) {}
  template <class P>
  PortList(Ports (*f)(const P&)) {
    call_ = [f](const StageParameters& parameters, const PairInfo& pair) {
      if constexpr (std::is_same_v<P, PairInfo>)
        return f(pair);
      else
        return f(parameters.as<P>());
    };
  }
  template <class F>
    requires(std::is_class_v<F>&& requires(F f) { PortList(+f); })
  PortList(F f) : PortList(+f) {}
};

}  // namespace stereopsis
