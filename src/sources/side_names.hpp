// Names of files and folders that name a side: NAME_left and NAME_right, leftImg8bit, L_NAME, NAME-r.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stereopsis::sources {

// Returns whether a name has this lower-case word in any case. Words end where the case changes or no letter follows.
bool has_word(const std::string& name, std::string_view word);
// Returns whether a name has the word left or right.
bool has_side(const std::string& name);

// A word of a name that means the left side, and the name that has the right one in its place.
struct SideWord {
  std::size_t begin = 0, size = 0;  // the word; 0 characters where several words were exchanged
  std::string other;                // the name of the right side
};

// Returns every way to exchange the sides in a name: each word left, and all of them together; without such a word, each
// single letter l. Upper case stays upper case.
std::vector<SideWord> left_words(const std::string& name);

// Returns the name without a word and the separator beside it: harbour for harbour_left and left_harbour.
std::string without(const SideWord& word, const std::string& name);

// Returns for each left name the index of the right name that differs only in the side, or `right.size()`. Throws
// Error(call) if there are several.
std::vector<std::size_t> partners_by_side(std::span<const std::string> left, std::span<const std::string> right);

}  // namespace stereopsis::sources
