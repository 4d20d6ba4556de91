#include "command/comparison.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "io/codecs.hpp"

namespace stereopsis::command {
namespace {

constexpr std::size_t worst_scenes = 4;

constexpr const char* style = R"(
:root { color-scheme: light dark; --line: #8884; --muted: #777; --accent: #0f766e; }
body { font: 14px/1.5 system-ui, sans-serif; max-width: 1200px; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 22px; } h2 { font-size: 16px; margin: 2em 0 .5em; } p, figcaption { color: var(--muted); }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; display: block; overflow-x: auto; }
th, td { padding: 3px 12px 3px 0; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
th:first-child, td:first-child { text-align: left; } td.text { text-align: left; } b { color: var(--accent); }
.medal { display: inline-block; width: 1.3em; border-radius: 50%; text-align: center; font-size: 11px; }
.medal { margin-left: 5px; color: #222; }
.gold { background: #f3c544; } .silver { background: #c9ced3; } .bronze { background: #d99a62; }
.none { visibility: hidden; }
.scenes { display: flex; flex-wrap: wrap; gap: 10px; } img { width: 100%; }
figure { margin: 0; flex: 1 1 220px; max-width: 400px; }
svg { width: 100%; max-width: 760px; } svg text { font-size: 12px; fill: currentColor; })";

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  return out;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8 | (i + k < bytes.size() ? static_cast<std::uint8_t>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k) out += i + k > bytes.size() ? '=' : digits[group >> (18 - 6 * k) & 63U];
  }
  return out;
}

std::string embedded(const Image<std::uint8_t>& picture) {
  return "data:image/png;base64," + base64(io::encode_png(picture.view()));
}

std::string number(double value, int decimals, const char* unit = "") {
  return std::isfinite(value) ? fmt::format("{:.{}f}{}", value, decimals, unit) : "–";
}

// Returns the share of wrong pixels that ranks methods: over nonocc, or over all pixels if the occluded ones are
// unknown.
double bad(const SceneResult& result) {
  return result.value(result.region("nonocc") ? "nonocc" : "all", &Measures::bad10);
}

double mean_of(const Entry& entry, double (*value)(const SceneResult&)) {
  double sum = 0;
  for (const SceneResult& result : entry.results) sum += value(result);
  return sum / static_cast<double>(entry.results.size());
}

// Returns the rank of each entry on a scene, from 0; equal values have equal ranks.
std::vector<std::size_t> ranks(const std::vector<Entry>& entries, std::size_t scene) {
  std::vector<std::size_t> places;
  for (const Entry& entry : entries)
    places.push_back(static_cast<std::size_t>(std::ranges::count_if(
        entries, [&](const Entry& other) { return bad(other.results[scene]) < bad(entry.results[scene]); })));
  return places;
}

std::string medal(std::size_t rank) {
  constexpr std::array names = {"gold", "silver", "bronze"};
  if (rank >= names.size()) return "<span class=\"medal none\">·</span>";
  return fmt::format("<span class=\"medal {}\" title=\"{}\">{}</span>", names[rank], names[rank], rank + 1);
}

struct Figure {
  const char* name;
  int decimals;
  double (*value)(const SceneResult&);
};

constexpr std::array<Figure, 5> figures = {
    {{"ms", 1, [](const SceneResult& r) { return r.ms; }},
     {"bad1.0, %", 2, bad},
     {"bad1.0 all, %", 2, [](const SceneResult& r) { return r.value("all", &Measures::bad10); }},
     {"D1, %", 2, [](const SceneResult& r) { return r.value(r.widest(), &Measures::d1); }},
     {"average error, px", 3,
      [](const SceneResult& r) { return r.value(r.region("nonocc") ? "nonocc" : "all", &Measures::avgerr); }}}};

// The means of each method over all scenes, with the best in bold, and the numbers of medals.
std::string summary(const std::vector<Entry>& entries) {
  std::vector<std::array<int, 3>> medals(entries.size());
  for (std::size_t scene = 0; scene < entries.front().results.size(); ++scene) {
    const auto places = ranks(entries, scene);
    for (std::size_t i = 0; i < entries.size(); ++i)
      if (places[i] < 3) ++medals[i][places[i]];
  }
  std::string out = "<table><tr><th>method</th><th>device</th>";
  for (const Figure& figure : figures) out += fmt::format("<th>{}</th>", figure.name);
  out += "<th>medals</th></tr>\n";
  for (std::size_t i = 0; i < entries.size(); ++i) {
    out += fmt::format("<tr><td>{}</td><td class=\"text\">{}</td>", escaped(entries[i].name), entries[i].device);
    for (const Figure& figure : figures) {
      const double value = mean_of(entries[i], figure.value);
      const bool best =
          std::ranges::all_of(entries, [&](const Entry& e) { return !(mean_of(e, figure.value) < value); });
      const std::string shown = number(value, figure.decimals);
      out += fmt::format("<td>{}</td>", best && std::isfinite(value) ? "<b>" + shown + "</b>" : shown);
    }
    out += "<td>";
    for (std::size_t k = 0; k < 3; ++k) out += fmt::format("{}&times;{} ", medals[i][k], medal(k));
    out += "</td></tr>\n";
  }
  return out + "</table>\n";
}

std::string scenes_table(const std::vector<Entry>& entries) {
  std::string out = "<table><tr><th>scene</th>";
  for (const Entry& entry : entries) out += fmt::format("<th>{}</th>", escaped(entry.name));
  out += "</tr>\n";
  for (std::size_t scene = 0; scene < entries.front().results.size(); ++scene) {
    const SceneResult& first = entries.front().results[scene];
    out += fmt::format("<tr><td>{}/{}</td>", escaped(first.scene.dataset), escaped(first.scene.name));
    const auto places = ranks(entries, scene);
    for (std::size_t i = 0; i < entries.size(); ++i)
      out += fmt::format("<td>{}{}</td>", number(bad(entries[i].results[scene]), 2), medal(places[i]));
    out += "</tr>\n";
  }
  return out + "</table>\n";
}

// Plots the mean share of wrong pixels over the mean time, whose axis is logarithmic.
std::string accuracy_over_time(const std::vector<Entry>& entries) {
  constexpr double width = 760, height = 320, left = 50, right = 150, top = 12, bottom = 40;
  double fastest = std::numeric_limits<double>::max(), slowest = 0, worst = 0;
  for (const Entry& entry : entries) {
    const double ms = std::max(mean_of(entry, figures[0].value), 1e-3);
    fastest = std::min(fastest, ms);
    slowest = std::max(slowest, ms);
    worst = std::max(worst, mean_of(entry, bad));
  }
  const double from = std::floor(std::log10(fastest)), to = std::max(std::ceil(std::log10(slowest)), from + 1),
               most = std::max(worst * 1.15, 1.0);
  const auto x_of = [&](double ms) {
    return left + (std::log10(std::max(ms, 1e-3)) - from) / (to - from) * (width - left - right);
  };
  const auto y_of = [&](double share) { return height - bottom - share / most * (height - top - bottom); };
  std::string out =
      fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"Accuracy over time\">", width, height);
  for (double decade = from; decade <= to; ++decade) {
    const double x = x_of(std::pow(10, decade));
    out += fmt::format(
        "<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\" stroke=\"currentColor\" opacity=\".2\"/>"
        "<text x=\"{0:.1f}\" y=\"{3}\" text-anchor=\"middle\">{4:g} ms</text>",
        x, top, height - bottom, height - bottom + 18, std::pow(10, decade));
  }
  for (int i = 0; i <= 4; ++i) {
    const double share = most * i / 4;
    out += fmt::format(
        "<line x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" stroke=\"currentColor\" opacity=\".2\"/>"
        "<text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5:.1f} %</text>",
        left, width - right, y_of(share), left - 6, y_of(share) + 4, share);
  }
  for (const Entry& entry : entries) {
    const double x = x_of(mean_of(entry, figures[0].value)), y = y_of(mean_of(entry, bad));
    out += fmt::format(
        "<circle cx=\"{0:.1f}\" cy=\"{1:.1f}\" r=\"5\" fill=\"{2}\"/>"
        "<text x=\"{3:.1f}\" y=\"{4:.1f}\">{5}</text>",
        x, y, entry.peer ? "var(--muted)" : "var(--accent)", x + 9, y + 4, escaped(entry.name));
  }
  return out +
         "</svg>\n<p>Mean time per scene (logarithmic), and mean share of pixels that are off by more than 1 px. Lower "
         "and "
         "further left is better.</p>\n";
}

// The scenes with the largest share of wrong pixels of any method, with the error pictures of all methods side by side.
std::string worst_of(const std::vector<Entry>& entries, const std::vector<Image<std::uint8_t>>& lefts) {
  std::vector<std::size_t> scenes(lefts.size());
  std::iota(scenes.begin(), scenes.end(), std::size_t{0});
  const auto largest = [&](std::size_t scene) {
    double share = 0;
    for (const Entry& entry : entries) share = std::max(share, bad(entry.results[scene]));
    return share;
  };
  std::ranges::stable_sort(scenes, std::greater<>{}, largest);
  scenes.resize(std::min(scenes.size(), worst_scenes));
  std::string out;
  const auto figure = [&](const Image<std::uint8_t>& picture, const std::string& caption) {
    out += fmt::format("<figure><img src=\"{}\" alt=\"{}\"><figcaption>{}</figcaption></figure>\n", embedded(picture),
                       caption, caption);
  };
  for (const std::size_t scene : scenes) {
    const SceneResult& first = entries.front().results[scene];
    out +=
        fmt::format("<h3>{}/{}</h3>\n<div class=\"scenes\">", escaped(first.scene.dataset), escaped(first.scene.name));
    figure(lefts[scene], "left image");
    for (const Entry& entry : entries)
      figure(entry.errors[scene],
             fmt::format("{}: {} % wrong", escaped(entry.name), number(bad(entry.results[scene]), 2)));
    out += "</div>\n";
  }
  return out +
         "<p>White: no error. Grey: up to 1 px. Orange to dark red: more than 1 px, 8 px and more. Blue: no disparity. "
         "Black: no ground truth. Dark: not counted.</p>\n";
}

std::string differing_settings(const std::vector<Entry>& entries) {
  std::set<std::string> names;
  for (const Entry& entry : entries)
    for (const auto& [name, value] : entry.parameters.items()) names.insert(name);
  const auto value_of = [](const Entry& entry, const std::string& name) {
    if (!entry.parameters.contains(name)) return std::string("–");
    const Json& value = entry.parameters[name];
    return value.is_string() ? value.get<std::string>() : value.dump();
  };
  std::string rows;
  for (const std::string& name : names) {
    const std::string first = value_of(entries.front(), name);
    if (std::ranges::all_of(entries, [&](const Entry& e) { return value_of(e, name) == first; })) continue;
    rows += fmt::format("<tr><td>{}</td>", escaped(name));
    for (const Entry& entry : entries) rows += fmt::format("<td>{}</td>", escaped(value_of(entry, name)));
    rows += "</tr>\n";
  }
  if (rows.empty()) return "<p>The methods have the same settings.</p>\n";
  std::string heading = "<table><tr><th>parameter</th>";
  for (const Entry& entry : entries) heading += fmt::format("<th>{}</th>", escaped(entry.name));
  return heading + "</tr>\n" + rows + "</table>\n";
}

}  // namespace

Image<std::uint8_t> thumbnail(ImageView<const std::uint8_t> picture, int width) {
  const int step = (picture.width + width - 1) / width;
  Image<std::uint8_t> small({(picture.width + step - 1) / step, (picture.height + step - 1) / step}, picture.channels);
  for (int y = 0; y < small.height(); ++y)
    for (int x = 0; x < small.width(); ++x)
      for (int c = 0; c < picture.channels; ++c) small(x, y, c) = picture(x * step, y * step, c);
  return small;
}

std::string comparison_page(const std::string& dataset, const std::vector<Entry>& entries,
                            const std::vector<Image<std::uint8_t>>& lefts) {
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\"><title>Comparison on "
      "{0}</title><style>{1}</style></head><body>\n"
      "<h1>Comparison on {0}</h1>\n<p>Methods: {2}. Scenes: {3}. stereopsis {4}. bad1.0 is the share of pixels "
      "that are "
      "off by more than 1 px or have no disparity, over non-occluded pixels where these are known.</p>\n",
      escaped(dataset), style, entries.size(), lefts.size(), STEREOPSIS_VERSION);
  if (lefts.empty() || entries.empty()) return out + "<p>No scene could be matched.</p></body></html>\n";
  out += "<h2>Means over all scenes</h2>\n" + summary(entries);
  out += "<h2>Accuracy over time</h2>\n" + accuracy_over_time(entries);
  out += "<h2>bad1.0 of each scene, in percent</h2>\n" + scenes_table(entries);
  out += "<h2>Worst scenes</h2>\n" + worst_of(entries, lefts);
  out += "<h2>Settings that differ</h2>\n" + differing_settings(entries);
  return out + "</body></html>\n";
}

}  // namespace stereopsis::command
