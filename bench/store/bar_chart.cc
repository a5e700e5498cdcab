#include "store/bar_chart.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "store/short_number.h"

namespace tamis::bench {
namespace {

constexpr double kWidth = 920;
constexpr double kLeft = 170;
constexpr double kRight = 760;
constexpr double kHead = 84;
constexpr double kBarHeight = 18;
constexpr double kBarGap = 6;
constexpr double kTitleHeight = 34;
constexpr double kGroupGap = 16;

struct Colour {
  const char* light;
  const char* dark;
};
constexpr std::array<Colour, 6> kColours = {{{"#2563eb", "#79a8ff"},
                                             {"#c2570c", "#ffa657"},
                                             {"#15803d", "#56d364"},
                                             {"#7c3aed", "#c6a0ff"},
                                             {"#be185d", "#ff8fc7"},
                                             {"#0e7490", "#4fd1e0"}}};

std::string style() {
  std::string light;
  std::string dark;
  for (std::size_t i = 0; i < kColours.size(); ++i) {
    light += fmt::format(".s{}{{fill:{}}}", i, kColours[i].light);
    dark += fmt::format(".s{}{{fill:{}}}", i, kColours[i].dark);
  }
  return fmt::format(
      "<style>\n"
      "text{{font:13px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;fill:#3d444d}}\n"
      ".title{{font-size:18px;font-weight:600;fill:#1f2328}}.row{{font-weight:600}}\n"
      ".paper{{fill:#ffffff}}.axis{{stroke:#8c959f;stroke-width:1}}.spread{{stroke:#1f2328;stroke-width:1.5}}\n{}\n"
      "@media (prefers-color-scheme:dark){{\n"
      "text{{fill:#b7bfc8}}.title{{fill:#f0f3f6}}.paper{{fill:#0d1117}}.axis{{stroke:#6e7781}}"
      ".spread{{stroke:#f0f3f6}}\n{}\n}}\n</style>\n",
      light, dark);
}

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '<') {
      safe += "&lt;";
    } else if (c == '&') {
      safe += "&amp;";
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string text_at(double x, double y, std::string_view attributes, const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, attributes, escaped(text));
}

std::string line(double x1, double y1, double x2, double y2, std::string_view css_class) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n", x1, y1, x2, y2,
                     css_class);
}

double height_of(const BarGroup& group) {
  return kTitleHeight + static_cast<double>(group.bars.size()) * (kBarHeight + kBarGap) + kGroupGap;
}

std::string draw(const Bar& bar, double y, double longest) {
  const auto x_of = [&](double value) { return kLeft + value / longest * (kRight - kLeft); };
  const double middle = y + kBarHeight / 2;
  std::string svg = text_at(kLeft - 10, middle + 4.5, "text-anchor=\"end\"", bar.label);
  svg += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"2\" class=\"s{}\"/>\n",
                     kLeft, y, std::max(1.0, x_of(bar.value) - kLeft), kBarHeight, bar.colour % kColours.size());
  if (bar.high > bar.low) svg += line(x_of(bar.low), middle, x_of(bar.high), middle, "spread");
  return svg + text_at(x_of(std::max(bar.value, bar.high)) + 8, middle + 4.5, "", short_number(bar.value));
}

std::string draw(const BarGroup& group, double y) {
  double longest = 0;
  for (const Bar& bar : group.bars) longest = std::max({longest, bar.value, bar.high});
  std::string svg = text_at(kLeft, y + 20, "class=\"row\"", fmt::format("{} ({})", group.title, group.unit));
  double at = y + kTitleHeight;
  const double top = at - kBarGap / 2;
  for (const Bar& bar : group.bars) {
    svg += draw(bar, at, longest > 0 ? longest : 1);
    at += kBarHeight + kBarGap;
  }
  return svg + line(kLeft, top, kLeft, at - kBarGap / 2, "axis");
}

}  // namespace

std::string bar_chart_svg(const std::string& title, const std::string& subtitle, const std::vector<BarGroup>& groups) {
  double height = kHead;
  for (const BarGroup& group : groups) height += height_of(group);
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\">\n"
      "<title>{2}</title>\n{3}<rect width=\"{0}\" height=\"{1}\" class=\"paper\"/>\n",
      kWidth, height, escaped(title), style());
  svg += text_at(24, 36, "class=\"title\"", title);
  svg += text_at(24, 60, "", subtitle);
  double y = kHead;
  for (const BarGroup& group : groups) {
    svg += draw(group, y);
    y += height_of(group);
  }
  return svg + "</svg>\n";
}

}  // namespace tamis::bench
