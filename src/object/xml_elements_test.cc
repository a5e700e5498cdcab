#include "object/xml_elements.h"

#include <gtest/gtest.h>

namespace tamis {
namespace {

std::string paths(std::string_view document) {
  const Result<std::vector<XmlElement>> elements = read_xml(document);
  if (!elements.ok()) return elements.status().to_text();
  std::string text;
  for (const XmlElement& element : *elements) text += element.path + "=" + element.text + ";";
  return text;
}

TEST(XmlElements, AreListedAsTheyEnd) {
  EXPECT_EQ(paths("<a><b>1</b><c x='y'><d/>2</c></a>"), "a/b=1;a/c/d=;a/c=2;a=;");
  EXPECT_EQ(paths("<?xml version=\"1.0\"?>\n<!-- <b> -->\n<a xmlns=\"u\"> x </a >\n"), "a= x ;");
  EXPECT_EQ(xml_text(*read_xml("<a><b>1</b><b>2</b></a>"), "a/b"), "1");
  EXPECT_EQ(xml_text(*read_xml("<a/>"), "a/b"), "");
}

TEST(XmlElements, HaveTheirCharactersBack) {
  EXPECT_EQ(paths("<a>&lt;&amp;lt;&quot;&apos;&gt;&#13;&#xe4;&#x20AC;&#128512;</a>"), "a=<&lt;\"'>\rä€😀;");
}

TEST(XmlElements, OfBrokenDocumentsAreRefused) {
  for (const std::string_view document :
       {"", "text", "<a>", "<a></b>", "</a>", "<a></a><b/>", "<a/>text", "<a", "<a>&none;</a>", "<a>&#0;</a>",
        "<a>&#xd800;</a>", "<a>&lt</a>", "<!DOCTYPE a><a/>", "<a><![CDATA[x]]></a>", "<!-- <a/>", "< />"}) {
    EXPECT_EQ(read_xml(document).status().code(), StatusCode::kCorruption) << document;
  }
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "<a>";
  EXPECT_EQ(read_xml(deep).status().code(), StatusCode::kCorruption);
}

}  // namespace
}  // namespace tamis
