// The loop over pairs, whose steps are functions of Python.
#include <memory>
#include <utility>

#include "bindings.hpp"
#include "jobs/pair_loop.hpp"

namespace stereopsis::python {
namespace {

struct PythonPair : jobs::LoopPair {
  explicit PythonPair(nb::object object_) : object(std::move(object_)) {}
  nb::object object;
};

// The steps of jobs::LoopSteps as methods of a Python object. All of it runs under the GIL.
class PythonSteps : public jobs::LoopSteps {
 public:
  explicit PythonSteps(nb::object steps) : steps_(std::move(steps)) {}

  std::size_t most_in_flight() const override { return nb::cast<std::size_t>(steps_.attr("most_in_flight")()); }
  bool is_ready() override { return nb::cast<bool>(steps_.attr("is_ready")()); }
  std::unique_ptr<jobs::LoopPair> take() override {
    nb::object pair = steps_.attr("take")();
    return pair.is_none() ? nullptr : std::make_unique<PythonPair>(std::move(pair));
  }
  bool suits(const jobs::LoopPair& pair) override { return nb::cast<bool>(steps_.attr("suits")(object_of(pair))); }
  void plan(jobs::LoopPair& pair) override { steps_.attr("plan")(object_of(pair)); }
  void begin(jobs::LoopPair& pair) override { steps_.attr("begin")(object_of(pair)); }
  void finish(jobs::LoopPair& pair) override { steps_.attr("finish")(object_of(pair)); }

  static const nb::object& object_of(const jobs::LoopPair& pair) { return static_cast<const PythonPair&>(pair).object; }

 private:
  nb::object steps_;
};

class PythonLoop {
 public:
  explicit PythonLoop(nb::object steps) : steps_(std::move(steps)) {}

  // Returns the next pair and the exception with which it failed, or None; None after the last pair.
  nb::object next() {
    const std::unique_ptr<jobs::LoopPair> pair = loop_.next();
    if (!pair) return nb::none();
    nb::object error = nb::none();
    if (pair->failure) try {
        std::rethrow_exception(pair->failure);
      } catch (const nb::python_error& raised) {
        error = nb::borrow(raised.value());
      }
    return nb::make_tuple(PythonSteps::object_of(*pair), error);
  }
  void stop() { loop_.stop(); }

 private:
  PythonSteps steps_;
  jobs::PairLoop loop_{steps_};
};

}  // namespace

void bind_run(nb::module_& m) {
  nb::class_<PythonLoop>(m, "PairLoop", "The loop over the pairs of a run.")
      .def(nb::init<nb::object>(), "steps"_a)
      .def("next", &PythonLoop::next, nb::sig("def next(self) -> tuple[Any, BaseException | None] | None"),
           "Returns the next pair and the exception with which it failed, or None. Returns None after the last pair.")
      .def("stop", &PythonLoop::stop, "Ends the loop after the pairs in flight.");
}

}  // namespace stereopsis::python
