#include "object/xml_elements.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

#include "base/try.h"

namespace tamis {
namespace {

constexpr std::size_t kMaxDepth = 16;

void append_utf8(std::string& to, std::uint32_t code) {
  if (code < 0x80) {
    to += static_cast<char>(code);
  } else if (code < 0x800) {
    to += static_cast<char>(0xc0 | code >> 6);
    to += static_cast<char>(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    to += static_cast<char>(0xe0 | code >> 12);
    to += static_cast<char>(0x80 | (code >> 6 & 0x3f));
    to += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    to += static_cast<char>(0xf0 | code >> 18);
    to += static_cast<char>(0x80 | (code >> 12 & 0x3f));
    to += static_cast<char>(0x80 | (code >> 6 & 0x3f));
    to += static_cast<char>(0x80 | (code & 0x3f));
  }
}

/// "lt", "#13", "#xD": false if there is no such character.
bool append_entity(std::string& to, std::string_view name) {
  constexpr std::pair<std::string_view, char> kNamed[] = {
      {"lt", '<'}, {"gt", '>'}, {"amp", '&'}, {"quot", '"'}, {"apos", '\''}};
  for (const auto& [known, character] : kNamed) {
    if (name == known) return to += character, true;
  }
  if (!name.starts_with('#')) return false;
  name.remove_prefix(1);
  const bool is_hex = name.starts_with('x');
  if (is_hex) name.remove_prefix(1);
  std::uint32_t code = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), code, is_hex ? 16 : 10);
  if (error != std::errc() || end != name.data() + name.size() || code == 0 || code > 0x10ffff) return false;
  if (code >= 0xd800 && code < 0xe000) return false;
  append_utf8(to, code);
  return true;
}

/// Reads a document from begin to end.
class XmlReader {
 public:
  explicit XmlReader(std::string_view document) : document_(document) {}

  Result<std::vector<XmlElement>> read() {
    if (document_.starts_with("\xef\xbb\xbf")) at_ = 3;
    while (at_ < document_.size()) {
      TAMIS_TRY_STATUS(document_[at_] == '<' ? read_tag() : read_text());
    }
    if (!open_.empty() || elements_.empty()) return damage("ends too early");
    return std::move(elements_);
  }

 private:
  Status read_text() {
    const std::size_t end = std::min(document_.find('<', at_), document_.size());
    std::string_view text = document_.substr(at_, end - at_);
    if (open_.empty()) {
      if (text.find_first_not_of(" \t\r\n") != std::string_view::npos) return damage("has text outside its root");
      text = {};
    }
    while (!text.empty()) {
      const std::size_t plain = std::min(text.find('&'), text.size());
      open_.back().text += text.substr(0, plain);
      text.remove_prefix(plain);
      if (text.empty()) break;
      const std::size_t semicolon = text.find(';');
      if (semicolon == std::string_view::npos || !append_entity(open_.back().text, text.substr(1, semicolon - 1))) {
        return damage("has an unknown entity");
      }
      text.remove_prefix(semicolon + 1);
    }
    at_ = end;
    return {};
  }

  Status read_tag() {
    const std::string_view rest = document_.substr(at_);
    if (rest.starts_with("<!--")) return skip_past("-->");
    if (rest.starts_with("<?")) return skip_past("?>");
    if (rest.starts_with("<!")) return damage("has a document type or CDATA");
    const std::size_t end = rest.find('>');
    if (end == std::string_view::npos) return damage("ends in a tag");
    std::string_view tag = rest.substr(1, end - 1);
    at_ += end + 1;
    if (tag.starts_with('/')) return close(tag.substr(1));
    const bool is_empty = tag.ends_with('/');
    if (is_empty) tag.remove_suffix(1);
    const std::string_view name = tag.substr(0, tag.find_first_of(" \t\r\n"));
    if (name.empty()) return damage("has a tag without a name");
    if (open_.empty() && !elements_.empty()) return damage("has two roots");
    if (open_.size() == kMaxDepth) return damage("is nested too deeply");
    open_.push_back({open_.empty() ? std::string(name) : fmt::format("{}/{}", open_.back().path, name), {}});
    return is_empty ? close(name) : Status();
  }

  Status close(std::string_view name) {
    name = name.substr(0, name.find_first_of(" \t\r\n"));
    const std::string_view expected = open_.empty() ? std::string_view() : open_.back().path;
    if (expected.empty() || expected.substr(expected.rfind('/') + 1) != name) return damage("closes what is not open");
    elements_.push_back(std::move(open_.back()));
    open_.pop_back();
    return {};
  }

  Status skip_past(std::string_view end) {
    const std::size_t found = document_.find(end, at_);
    if (found == std::string_view::npos) return damage("ends in a comment");
    at_ = found + end.size();
    return {};
  }

  [[nodiscard]] Status damage(std::string_view what) const {
    return Status::corruption(fmt::format("XML of {} bytes {} at {}", document_.size(), what, at_));
  }

  std::string_view document_;
  std::size_t at_ = 0;
  std::vector<XmlElement> open_;
  std::vector<XmlElement> elements_;
};

}  // namespace

Result<std::vector<XmlElement>> read_xml(std::string_view document) { return XmlReader(document).read(); }

std::string xml_text(const std::vector<XmlElement>& elements, std::string_view path) {
  const auto found = std::ranges::find(elements, path, &XmlElement::path);
  return found == elements.end() ? std::string() : found->text;
}

}  // namespace tamis
