// The XML that S3 servers answer with, as a list.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tamis/status.h"

namespace tamis {

/// An element of a document.
struct XmlElement {
  std::string path;  ///< The names from the root: "ListBucketResult/Contents/Key".
  std::string text;  ///< Its text without that of elements inside it.
};

/// The elements in the order in which they end, so those inside another precede it. Attributes and comments are
/// skipped. kCorruption for what is not well-formed, and for document types and CDATA, which S3 does not send.
Result<std::vector<XmlElement>> read_xml(std::string_view document);

/// The text of the first element of that path; empty if there is none.
std::string xml_text(const std::vector<XmlElement>& elements, std::string_view path);

}  // namespace tamis
