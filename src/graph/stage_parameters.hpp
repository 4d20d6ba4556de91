// The type-erased parameters of a stage, and functions that take such parameters.
#pragma once

#include <any>
#include <concepts>
#include <functional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/parameters.hpp"

namespace stereopsis {

// The parameters of any stage, type-erased.
class StageParameters {
 public:
  StageParameters() = default;
  template <class P>
    requires(!std::is_same_v<P, StageParameters>)
  StageParameters(P p) : value_(std::move(p)), type_(&type_of<P>()) {}

  template <class P>
  const P& as() const {
    return *std::any_cast<P>(&value_);
  }
  template <class P>
  P& as() {
    return *std::any_cast<P>(&value_);
  }
  template <class P>
  const P* get_if() const {
    return std::any_cast<P>(&value_);
  }
  // Sets one parameter, as described in core/parameters.hpp. A stage without parameters has no parameter of any name.
  bool set(std::string_view prefix, std::string_view name, std::string_view value) {
    return type_ != nullptr && type_->set(value_, prefix, name, value);
  }
  std::vector<ParameterInfo> list(std::string_view prefix) const {
    return type_ == nullptr ? std::vector<ParameterInfo>() : type_->list(value_, prefix);
  }

 private:
  struct Type {
    bool (*set)(std::any&, std::string_view, std::string_view, std::string_view);
    std::vector<ParameterInfo> (*list)(const std::any&, std::string_view);
  };
  template <class P>
  static const Type& type_of() {
    static constexpr auto visitor = [](auto&&...) {};
    static const Type type{[](std::any& p, std::string_view prefix, std::string_view name, std::string_view value) {
                             if constexpr (requires(P & q) { P::describe(q, visitor); })
                               return set_parameter(prefix, *std::any_cast<P>(&p), name, value);
                             return false;
                           },
                           [](const std::any& p, std::string_view prefix) {
                             std::vector<ParameterInfo> list;
                             if constexpr (requires(const P& q) { P::describe(q, visitor); })
                               list_parameters(prefix, *std::any_cast<P>(&p), list);
                             return list;
                           }};
    return type;
  }

  std::any value_;
  const Type* type_ = nullptr;
};

// A function of an object that holds parameters of any type: StageParameters, or another class with the same member
// function `as`. The object can be constructed from a constant, or from a function or a lambda without captures. The
// function takes the object itself, or the parameters of one type. If the function is overloaded, the overload with the
// given further arguments is used.
template <class Erased, class Signature>
class FunctionOf;
template <class Erased, class R, class... Args>
class FunctionOf<Erased, R(Args...)> {
 public:
  FunctionOf() = default;
  FunctionOf(std::nullptr_t) {}
  template <class Q, class P>
  FunctionOf(Q (*f)(P&, Args...))
      : call_([f](Erased& erased, Args... args) -> R { return f(unwrapped<P>(erased), args...); }) {}
  template <class F>
    requires(std::is_class_v<F>&& requires(F f) { FunctionOf(+f); })
  FunctionOf(F f) : FunctionOf(+f) {}
  template <std::same_as<R> Constant>
  FunctionOf(Constant constant) : call_([constant](Erased&, Args...) { return constant; }) {}

  R operator()(Erased& erased, Args... args) const { return call_(erased, args...); }
  friend bool operator==(const FunctionOf& f, std::nullptr_t) { return f.call_ == nullptr; }

 protected:
  std::function<R(Erased&, Args...)> call_;

 private:
  template <class P>
  static P& unwrapped(Erased& erased) {
    if constexpr (std::is_same_v<std::remove_const_t<P>, std::remove_const_t<Erased>>)
      return erased;
    else
      return erased.template as<std::remove_const_t<P>>();
  }
};
template <class Signature>
using OfParameters = FunctionOf<const StageParameters, Signature>;

}  // namespace stereopsis
