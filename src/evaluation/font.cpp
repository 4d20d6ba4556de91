#include "evaluation/font.hpp"

namespace stereopsis {
namespace {

constexpr int advance = 6;  // distance, in columns, from one character to the next; the last column is empty
constexpr std::string_view characters = "0123456789.- pxabcdefghiklmnorstuvw";
constexpr std::array<std::string_view, 9> rows = {
    " ###    #    ###   ###     #  #####   ##  #####  ###   ###                                "
    "      #               #         ##        #       #   #      ##                                  #                "
    "      ",
    "#   #  ##   #   # #   #   ##  #      #        # #   # #   #                               "
    "      #               #        #          #           #       #                                  #                "
    "      ",
    "#   #   #       #     #  # #  #     #        #  #   # #   #                   #### #   #  "
    " ###  ####   ###   ####  ###  ####   #### ####   ##   #  #    #   ## #  ####   ###  # ##   #### ####  #   # #   # "
    "#   # ",
    "#   #   #      #    ##  #  #  ####  ####    #    ###   ####       ####        #   # # #   "
    "    # #   # #     #   # #   #  #    #   # #   #   #   # #     #   # # # #   # #   # ##    #      #    #   # #   # "
    "#   # ",
    "#   #   #     #       # #####     # #   #   #   #   #     #                   #   #  #    "
    " #### #   # #     #   # #####  #    #   # #   #   #   ##      #   # # # #   # #   # #      ###   #    #   # #   # "
    "# # # ",
    "#   #   #    #    #   #    #  #   # #   #  #    #   #    #   ##               #   # # #   "
    "#   # #   # #   # #   # #      #     #### #   #   #   # #     #   # # # #   # #   # #         #  #  # #   #  # #  "
    "# # # ",
    " ###   ###  #####  ###     #   ###   ###   #     ###   ##    ##               #### #   #  "
    " #### ####   ###   ####  ###   #        # #   #  ###  #  #   ###  # # # #   #  ###  #     ####    ##   ####   #   "
    " # #  ",
    "                                                                              #           "
    "                                        #                                                                         "
    "      ",
    "                                                                              #           "
    "                                     ###                                                                          "
    "      "};

}  // namespace

Size text_size(std::string_view text, int scale) {
  return {scale * (advance * static_cast<int>(text.size()) - 1), scale * static_cast<int>(rows.size())};
}

void fill_rect(ImageView<std::uint8_t> picture, const Rect& rect, Rgb ink) {
  const Rect inside = intersect(rect, {0, 0, picture.width, picture.height});
  for (int y = inside.y; y < inside.y + inside.height; ++y)
    for (int x = inside.x; x < inside.x + inside.width; ++x)
      for (int c = 0; c < 3; ++c) picture(x, y, c) = ink[static_cast<std::size_t>(c)];
}

void draw_text(ImageView<std::uint8_t> picture, int x, int y, std::string_view text, int scale, Rgb ink) {
  for (const char character : text) {
    const std::size_t place = characters.find(character);
    for (int r = 0; r < static_cast<int>(rows.size()) && place != std::string_view::npos; ++r)
      for (int c = 0; c < advance; ++c)
        if (rows[static_cast<std::size_t>(r)][place * advance + static_cast<std::size_t>(c)] == '#')
          fill_rect(picture, {x + c * scale, y + r * scale, scale, scale}, ink);
    x += advance * scale;
  }
}

}  // namespace stereopsis
