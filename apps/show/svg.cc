#include "show/svg.h"

#include <fmt/core.h>

#include <array>

namespace tamis::show {
namespace {

struct Colour {
  const char* light;
  const char* dark;
};
constexpr std::array<Colour, 8> kColours = {{{"#2563eb", "#79a8ff"},
                                             {"#c2570c", "#ffa657"},
                                             {"#15803d", "#56d364"},
                                             {"#7c3aed", "#c6a0ff"},
                                             {"#be185d", "#ff8fc7"},
                                             {"#0e7490", "#4fd1e0"},
                                             {"#92640a", "#e3c04b"},
                                             {"#b91c1c", "#ff8e86"}}};

/// A series uses currentColor, so that one rule per series and theme is enough.
std::string style() {
  std::string light;
  std::string dark;
  for (std::size_t i = 0; i < kColours.size(); ++i) {
    light += fmt::format(".{}{{color:{}}}", series_class(i), kColours[i].light);
    dark += fmt::format(".{}{{color:{}}}", series_class(i), kColours[i].dark);
  }
  return fmt::format(
      "<style>\n"
      "text{{font:13px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;fill:#3d444d}}\n"
      ".title{{font-size:18px;font-weight:600;fill:#1f2328}}.row{{font-weight:600}}\n"
      ".paper{{fill:#ffffff}}.grid{{stroke:#d8dee4;stroke-width:1}}.axis{{stroke:#8c959f;stroke-width:1}}\n"
      ".bar{{fill:currentColor}}.spread{{stroke:#1f2328;stroke-width:1.5}}\n"
      ".bound{{color:#57606a}}.line{{fill:none;stroke:currentColor;stroke-width:1.8;stroke-linejoin:round}}\n"
      ".dash{{stroke-dasharray:6 4}}.dots{{stroke-dasharray:1 6;stroke-linecap:round}}\n"
      ".mark{{fill:currentColor;stroke:#ffffff;stroke-width:1}}\n"
      ".ring{{fill:none;stroke:currentColor;stroke-width:1.6}}\n"
      ".leader{{fill:none;stroke:currentColor;stroke-width:1;opacity:.45}}.name{{fill:currentColor;font-weight:600}}\n"
      "{}\n"
      "@media (prefers-color-scheme:dark){{\n"
      "text{{fill:#b7bfc8}}.title{{fill:#f0f3f6}}.paper{{fill:#0d1117}}.grid{{stroke:#262c34}}.axis{{stroke:#6e7781}}\n"
      ".spread{{stroke:#f0f3f6}}.bound{{color:#aab2bb}}.mark{{stroke:#0d1117}}.ring{{stroke:currentColor}}"
      ".name{{fill:currentColor}}\n"
      "{}\n}}\n</style>\n",
      light, dark);
}

std::string escaped(std::string_view text) {
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

}  // namespace

std::string svg_document(double width, double height, std::string_view title, std::string_view elements) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\">\n"
      "<title>{2}</title>\n{3}<rect width=\"{0}\" height=\"{1}\" class=\"paper\"/>\n{4}</svg>\n",
      width, height, escaped(title), style(), elements);
}

std::string series_class(std::size_t series) { return fmt::format("s{}", series % kColours.size()); }

std::string text_at(double x, double y, std::string_view attributes, std::string_view text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\"{}{}>{}</text>\n", x, y, attributes.empty() ? "" : " ", attributes,
                     escaped(text));
}

std::string line_from(double x1, double y1, double x2, double y2, std::string_view css_class) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n", x1, y1, x2, y2,
                     css_class);
}

}  // namespace tamis::show
