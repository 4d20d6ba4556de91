// Parsers of the notations of calibration files, for Document::parse().
#pragma once

#include <string_view>

#include "io/calibration_document.hpp"

namespace stereopsis::io {

// Adds the values of a text to the document. Throws Error(format) for an invalid text.
using Parser = void (*)(std::string_view text, Document& document);

void parse_yaml(std::string_view text, Document& document);
void parse_xml(std::string_view text, Document& document);
void parse_json(std::string_view text, Document& document);
void parse_ini(std::string_view text, Document& document);   // parses lines with [section] and name=value
void parse_rows(std::string_view text, Document& document);  // parses rows of numbers and words; # starts a comment

// Returns the parser of the notation in which a text is written.
Parser parser_of(std::string_view text);

std::string_view trimmed(std::string_view s);

}  // namespace stereopsis::io
