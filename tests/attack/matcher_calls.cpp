// Random calls of Matcher, MatcherGroup and AsyncMatcher, right and wrong: matcher_calls COUNT SEED. Each must give the bits of a
// plain call, or throw Error with a sentence.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <thread>
#include "stereopsis/async.hpp"
#include "stereopsis/expected.hpp"
#include "stereopsis/matcher.hpp"
#include "stereopsis/matcher_group.hpp"
#include "stereopsis/stages.hpp"
#include "stereopsis/synth.hpp"
using namespace stereopsis;
std::mt19937_64 rng;
int pick(int n) { return static_cast<int>(rng() % static_cast<unsigned>(n)); }
template <class T>
T one(std::initializer_list<T> list) {
  return *(list.begin() + pick(static_cast<int>(list.size())));
}
int wild() { return one({0, 1, -1, 2, 7, 63, 64, 65, 1000, INT32_MAX, INT32_MIN, INT32_MAX - 1, 1 << 20, -64}); }
int failures = 0, ok = 0, refused = 0, calls = 0;
void fail(const char* what, const std::string& more = {}) {
  ++failures;
  std::printf("FAIL call %d: %s %s\n", calls, what, more.c_str());
}
bool same(const Image<float>& a, const Image<float>& b) {
  if (a.size() != b.size()) return false;
  for (int y = 0; y < a.height(); ++y)
    if (std::memcmp(a.row(y), b.row(y), sizeof(float) * a.width() * a.channels())) return false;
  return true;
}
template <class F>
void attempt(const char* what, F&& f) {
  ++calls;
  try {
    f();
    ++ok;
  } catch (const Error& e) {
    ++refused;
    const std::string s = e.what();
    if (s.size() < 12 || s.size() > 900 || s.find("std::") != s.npos || s.find("vector::") != s.npos)
      fail(what, "message: " + s);
  } catch (const std::exception& e) {
    fail(what, std::string("std::exception ") + e.what());
  } catch (...) {
    fail(what, "unknown exception");
  }
}
#include <unistd.h>
int main(int argc, char** argv) {
  const int count = std::atoi(argv[1]);
  setvbuf(stdout, nullptr, _IOLBF, 0);
  rng.seed(std::strtoull(argv[2], nullptr, 10));
  (void)argc;
  std::vector<std::string> methods;
  for (const MethodInfo& m : stereopsis::methods()) methods.push_back(m.name);
  for (int i = 0; i < count; ++i) {
    const int w = one({1, 2, 3, 5, 17, 31, 64, 65}), h = one({1, 2, 3, 9, 16, 33}), d = one({1, 2, 5, 16, 31});
    std::vector<std::uint8_t> store(static_cast<std::size_t>(w + 8) * h * 2 + 64);
    for (auto& b : store) b = static_cast<std::uint8_t>(rng());
    const std::ptrdiff_t pitch = w + pick(8);
    ImageView<const std::uint8_t> left(store.data() + pick(8), w, h, 1, pitch),
        right(store.data() + store.size() / 2, w, h, 1, pitch);
    const StereoPair pair{left, right, {}, {}};
    Problem p = Problem::of(pair, {one({0, -3, 2}), d});
    const std::string method =
        one({"sgm", "sgm", "banz-sgm", "census-guided", "ad-census", "sgm-learned", "balanced", "asw"});
    std::optional<Pipeline> made;
    try {
      made.emplace(method);
    } catch (const Error&) {
      made.emplace(methods[static_cast<std::size_t>(pick(static_cast<int>(methods.size())))]);
    }
    const Pipeline& pipeline = *made;
    const Device device{"cpu", one({0, 1, 2, 3}), one({Implementation::fused, Implementation::plain})};
    std::optional<Matched> expected;
    attempt("plain", [&] { expected = Matcher(Plan(pipeline, p, device)).match(pair); });
    if (!expected) continue;
    switch (pick(10)) {
      case 0:
        attempt("wild problem", [&] {
          Problem q = p;
          for (int k = 0; k < 1 + pick(3); ++k) switch (pick(12)) {
              case 0: q.size.width = wild(); break;
              case 1: q.size.height = wild(); break;
              case 2: q.range.min = wild(); break;
              case 3: q.range.count = wild(); break;
              case 4: q.channels = wild(); break;
              case 5: q.bit_depth = wild(); break;
              case 6: q.batch = wild(); break;
              case 7: q.region = Rect{wild(), wild(), wild(), wild()}; break;
              case 8: q.volumes.probes = {{wild(), wild()}}; break;
              case 9: q.memory_limit = static_cast<std::size_t>(wild()); break;
              case 10:
                q.stripe = BoundaryStripe{wild(), wild(), pick(2) != 0, pick(2) != 0,
                                  one({BoundaryStripe::Follow::none, BoundaryStripe::Follow::down, BoundaryStripe::Follow::up})};
                break;
              case 11:
                q.pixel_type = one({PixelType::u8, PixelType::u16, PixelType::f32, static_cast<PixelType>(wild())});
                break;
            }
          const Plan plan(pipeline, q, device);
          if (plan.workspace_bytes() > (std::size_t{1} << 30)) return;
          Matcher m(plan);
          (void)m.match(pair);
        });
        break;
      case 1:
        attempt("wild pair", [&] {
          Matcher m(Plan(pipeline, p, device));
          StereoPair q = pair;
          for (int k = 0; k < 1 + pick(2); ++k) switch (pick(8)) {
              case 0: q.left.width = wild(); break;
              case 1: q.right.height = wild(); break;
              case 2: q.left.pitch = one({0, -1, 1, w - 1, -w, INT32_MIN}); break;
              case 3: q.left.data = nullptr; break;
              case 4: q.right.channels = wild(); break;
              case 5:
                q.mask_left = ImageView<const std::uint8_t>(left.data, one({w, w + 1, 0, -1, INT32_MAX}),
                                                            one({h, h - 1, 0, INT32_MIN}), 1, one({w, 0, -1}));
                break;
              case 6: q.left.bit_depth = wild(); break;
              case 7: q.costs = q.left; break;
            }
          (void)m.match(q);
        });
        break;
      case 2:
        attempt("overlap", [&] {
          Matcher m(Plan(pipeline, p, device));
          std::vector<float> out(static_cast<std::size_t>(w) * h * 2 + 1);
          std::vector<std::uint8_t> val(static_cast<std::size_t>(w) * h);
          MatchedViews v;
          const int shift = pick(w * h + 1);
          Problem q = p;
          q.want_right = true;
          Matcher n(Plan(pipeline, q, device));
          v.disparity = {out.data(), w, h, 1, w};
          v.validity = {val.data(), w, h, 1, w};
          v.right = {out.data() + shift, w, h, 1, w};
          bool threw = false;
          try {
            n.match(pair, v);
          } catch (const Error&) {
            threw = true;
          }
          if (threw != (shift < w * h))
            fail("overlap", threw ? "rejected separate images" : "accepted overlapping ones");
          v.right = {};
          v.disparity = {out.data(), w, h, 1, w};
          v.validity = {const_cast<std::uint8_t*>(right.data), w, h, 1, pitch};
          threw = false;
          try {
            m.match(pair, v);
          } catch (const Error&) {
            threw = true;
          }
          if (!threw) fail("overlap", "validity over the right image accepted");
        });
        break;
      case 3:
        attempt("queue", [&] {
          Problem q = p;
          q.batch = 1 + pick(4);
          Matcher m(Plan(pipeline, q, device));
          const int n = 1 + pick(6), badat = pick(n + 2);
          std::vector<Matched> r(static_cast<std::size_t>(n));
          std::vector<Ticket> t;
          std::vector<float> f(static_cast<std::size_t>(w) * h, 3.0f);
          for (int k = 0; k < n; ++k) {
            StereoPair b = pair;
            if (k == badat) b.left.width = w + 1;
            try {
              t.push_back(m.enqueue(b, r[static_cast<std::size_t>(k)]));
            } catch (const Error&) {
              if (k != badat) fail("queue", "enqueue threw another's error");
              t.push_back({});
            }
          }
          for (int k = n - 1; k >= 0; --k) {
            bool threw = false;
            try {
              m.wait(t[static_cast<std::size_t>(k)]);
            } catch (const Error&) {
              threw = true;
            }
            if (k != badat && (threw || !same(r[static_cast<std::size_t>(k)].disparity, expected->disparity)))
              fail("queue", "wrong result");
          }
        });
        break;
      case 4:
        attempt("group", [&] {
          const Device two[] = {device, device};
          MatcherGroup g(pipeline, p, std::span(two, static_cast<std::size_t>(1 + pick(2))));
          MatcherGroup other(pipeline, p, std::span(two, 1));
          Matched r;
          const Ticket t = g.enqueue(pair, r);
          bool threw = false;
          try {
            other.wait(t);
          } catch (const Error&) {
            threw = true;
          }
          if (!threw) fail("group", "another's ticket accepted");
          g.wait({});
          if (!g.is_done({})) fail("group", "default ticket");
          g.wait(t);
          if (!same(r.disparity, expected->disparity)) fail("group", "bits");
        });
        break;
      case 5:
        attempt("async", [&] {
          auto m = std::make_unique<AsyncMatcher>(Plan(pipeline, p, device));
          auto f = m->submit(pair);
          StereoPair b = pair;
          b.right.height = 0;
          auto g = m->submit(b);
          if (!same(f.get().disparity, expected->disparity)) fail("async", "bits");
          bool threw = false;
          try {
            (void)g.get();
          } catch (const Error&) {
            threw = true;
          }
          if (!threw) fail("async", "bad pair accepted");
          std::atomic<int> state = 0;
          m->submit(pair, [&](Matched, std::exception_ptr) {
            try {
              m->wait();
              state = 1;
            } catch (const Error&) {
              state = 2;
            }
          });
          m->wait();
          if (state != 2) fail("async", "wait in a callback");
        });
        break;
      case 6:
        attempt("region", [&] {
          Problem q = p;
          const Rect r{pick(w), pick(h), 1 + pick(w), 1 + pick(h)};
          q.region = r;
          const bool fits = r.x + r.width <= w && r.y + r.height <= h;
          bool threw = false;
          try {
            (void)Matcher(Plan(pipeline, q, device)).match(pair);
          } catch (const Error&) {
            threw = true;
          }
          if (threw == fits) fail("region", fits ? "rejected" : "accepted");
        });
        break;
      case 7:
        attempt("moved", [&] {
          Matcher a(Plan(pipeline, p, device));
          Matcher b(std::move(a));
          a = std::move(b);
          if (!same(a.match(pair).disparity, expected->disparity)) fail("moved", "bits");
        });
        break;
      case 8:
        attempt("parameters", [&] {
          Pipeline q = pipeline;
          const auto list = q.parameters();
          if (list.empty()) return;
          for (int k = 0; k < 3; ++k) {
            const auto& info = list[static_cast<std::size_t>(pick(static_cast<int>(list.size())))];
            q.set(info.name, one<std::string>({"0", "1", "-1", "2.5", "1e9", "nan", "", "true", "false", "63", "256",
                                               "99999999999999999999", "parabola", "x"}));
          }
          (void)Matcher(Plan(q, p, device)).match(pair);
        });
        break;
      default:
        attempt("limits", [&] {
          Problem q = p;
          q.memory_limit = static_cast<std::size_t>(1) << pick(30);
          q.want_confidence = pick(2) != 0;
          q.want_right = pick(2) != 0;
          const Plan plan(pipeline, q, device);
          if (plan.workspace_bytes() > q.memory_limit) fail("limits", "workspace above the limit");
          if (!same(Matcher(plan).match(pair).disparity, expected->disparity)) fail("limits", "bits");
        });
    }
  }
  std::printf("seed %s: %d calls, %d done, %d refused, %d failures\n", argv[2], calls, ok, refused, failures);
  return failures != 0;
}
