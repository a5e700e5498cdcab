// SVG charts: the document with its style, and common elements.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tamis::show {

/// A self-contained document that follows the reader's light or dark theme. Elements are styled by class: title and row
/// for text; grid, axis and spread for lines; line, dash and dots for curves; mark and ring for points; name and leader
/// for labels beside a curve. Elements of a series are in a group of its class and have its colour.
std::string svg_document(double width, double height, std::string_view title, std::string_view elements);

/// The class of a series, by its number; colours repeat after eight.
std::string series_class(std::size_t series);

std::string text_at(double x, double y, std::string_view attributes, std::string_view text);
std::string line_from(double x1, double y1, double x2, double y2, std::string_view css_class);

}  // namespace tamis::show
