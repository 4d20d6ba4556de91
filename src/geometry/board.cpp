#include "core/text.hpp"
#include "geometry/calibrate.hpp"
#include "stereopsis/error.hpp"
#include "stereopsis/length.hpp"

namespace stereopsis {
namespace {

Length length_of(const std::string& s, const std::string& board) {
  Length length;
  try {
    length = parse_length(s).as_of_rig();
  } catch (const Error&) {  // a value of 0 has the same sentence
  }
  if (length.value > 0) return length;
  throw Error(ErrorCategory::call,
              text("the board '", board, "' has the length '", s,
                   "'; it must be a positive number, such as 25mm, 2.5cm, 0.025m, or 1 without a unit"));
}

Size counts_of(const std::string& s, int least, const std::string& board) {
  const auto parts = split(s, 'x');
  const auto count = [&](std::size_t i) { return i < parts.size() ? parse_number<int>(parts[i]).value_or(0) : 0; };
  const Size size{count(0), count(1)};
  if (parts.size() != 2 || size.width < least || size.height < least || size.width > 100 || size.height > 100)
    throw Error(ErrorCategory::call, text("the board '", board, "' has the size '", s,
                                          "'; it must be COLUMNSxROWS, both from ", least, " to 100, such as 9x6"));
  return size;
}

}  // namespace

Board Board::parse(const std::string& description) {
  const auto parts = split(description, ':');
  const bool charuco = parts[0] == "charuco";
  if ((!charuco && parts[0] != "chessboard") || parts.size() != (charuco ? 5U : 3U))
    throw Error(ErrorCategory::call,
                text("the board '", description,
                     "' is not known; it must be chessboard:COLUMNSxROWS:SQUARE with the number of inner corners "
                     "(chessboard:9x6:25mm), or charuco:COLUMNSxROWS:SQUARE:MARKER:DICTIONARY with the number of "
                     "squares (charuco:8x6:30mm:22mm:DICT_4X4_50)"));
  Board board;
  board.kind = charuco ? Kind::charuco : Kind::chessboard;
  board.corners = counts_of(parts[1], 3, description);
  const Length square = length_of(parts[2], description);
  board.square = square.value;
  board.unit = square.unit;
  if (!charuco) return board;
  board.corners = {board.corners.width - 1, board.corners.height - 1};
  const Length marker = length_of(parts[3], description);
  const bool comparable = marker.unit.empty() == square.unit.empty();
  board.marker = comparable ? marker.in(square.unit) : 0;
  if (!comparable || !(board.marker < square.value))
    throw Error(ErrorCategory::call,
                text("the board '", description, "' has markers of ", parts[3], " in squares of ", parts[2],
                     "; a marker must be smaller than its square, and both or neither must have a unit"));
  board.dictionary = parts[4];
  return board;
}

}  // namespace stereopsis
