// Reads the points of PLY, of PCD and of KITTI's files: stereopsis/seed_files.hpp.
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/text.hpp"
#include "io/codecs.hpp"
#include "io/file.hpp"
#include "io/points.hpp"
#include "io/tokens.hpp"
#include "stereopsis/seed_files.hpp"

namespace stereopsis {
namespace io {
namespace {

[[noreturn]] void refuse(const std::string& sentence) { throw Error(ErrorCategory::format, sentence); }

// A type of numbers in files of points.
struct Number {
  std::size_t bytes = 0;
  double (*read)(const std::byte* at, std::endian order) = nullptr;
};

template <class T>
Number number() {
  return {sizeof(T), [](const std::byte* at, std::endian order) {
            std::array<std::byte, sizeof(T)> bytes;
            std::copy_n(at, sizeof(T), bytes.begin());
            if (order != std::endian::native) std::ranges::reverse(bytes);
            return static_cast<double>(std::bit_cast<T>(bytes));
          }};
}

// Returns the number of type 'F', 'I' or 'U', as PCD calls floats, signed and unsigned integers, with this many bytes.
Number number_of(const std::string& type, const std::string& bytes) {
  static const std::map<std::string, Number> numbers = {{"I1", number<std::int8_t>()},  {"U1", number<std::uint8_t>()},
                                                        {"I2", number<std::int16_t>()}, {"U2", number<std::uint16_t>()},
                                                        {"I4", number<std::int32_t>()}, {"U4", number<std::uint32_t>()},
                                                        {"I8", number<std::int64_t>()}, {"U8", number<std::uint64_t>()},
                                                        {"F4", number<float>()},        {"F8", number<double>()}};
  const auto found = numbers.find(type + bytes);
  if (found == numbers.end())
    refuse(text("the PCD header has a field of TYPE '", Tokens::printable(type), "' and SIZE '",
                Tokens::printable(bytes), "'; it must be I or U with 1, 2, 4 or 8 bytes, or F with 4 or 8"));
  return found->second;
}

// The bytes of a file from the front.
class Reader {
 public:
  Reader(std::string_view bytes, std::endian order) : rest_(bytes), order_(order) {}

  double next(const Number& number) {
    const auto* const at = reinterpret_cast<const std::byte*>(take(number.bytes).data());
    return number.read(at, order_);
  }
  std::string_view take(std::size_t bytes) {
    if (bytes > rest_.size()) refuse("the file ends within its points; it is cut off");
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }
  // Returns the next line without its end.
  std::string_view line() {
    const std::string_view line = take(std::min(rest_.find('\n'), rest_.size()));
    if (!rest_.empty()) rest_.remove_prefix(1);
    return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
  }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
  const std::endian order_;
};

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words = split(line, ' ');
  std::erase(words, "");
  return words;
}

std::size_t count_of(const std::string& word, const char* what, std::size_t most = std::size_t{1} << 30) {
  const auto count = parse_number<std::size_t>(word);
  if (!count || *count > most)
    refuse(text("the ", what, " is '", Tokens::printable(word), "'; it must be 0 to ", most));
  return *count;
}

double decimal(std::string_view token) {
  if (const auto value = parse_number<double>(token)) return *value;
  refuse(text("'", Tokens::printable(token), "' is no coordinate"));
}

// Collects the finite points of rows of numbers.
class Collector {
 public:
  explicit Collector(const std::array<std::size_t, 3>& columns) : columns_(columns) {}

  void add(const std::vector<double>& row) {
    std::array<float, 3> point{};
    for (std::size_t i = 0; i < 3; ++i) point[i] = static_cast<float>(row[columns_[i]]);
    if (std::isfinite(point[0]) && std::isfinite(point[1]) && std::isfinite(point[2])) points.push_back(point);
  }

  Points points;

 private:
  const std::array<std::size_t, 3> columns_;
};

// Returns the columns of x, y and z among the names of columns.
std::array<std::size_t, 3> coordinates(const std::vector<std::string>& names) {
  std::array<std::size_t, 3> columns{};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string name(1, "xyz"[i]);
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) refuse(text("the points have no ", name, "; they must have x, y and z"));
    columns[i] = static_cast<std::size_t>(found - names.begin());
  }
  return columns;
}

// PLY

struct PlyProperty {
  std::string name;
  Number number;
  std::optional<Number> count = {};  // the type of the number of values of a list
};

struct PlyElement {
  std::string name;
  std::size_t count = 0;
  std::vector<PlyProperty> properties = {};
};

struct PlyHeader {
  std::string format;
  std::vector<PlyElement> elements;
};

Number ply_number(const std::string& type) {
  static const std::map<std::string, Number> numbers = {
      {"char", number<std::int8_t>()},     {"int8", number<std::int8_t>()},     {"uchar", number<std::uint8_t>()},
      {"uint8", number<std::uint8_t>()},   {"short", number<std::int16_t>()},   {"int16", number<std::int16_t>()},
      {"ushort", number<std::uint16_t>()}, {"uint16", number<std::uint16_t>()}, {"int", number<std::int32_t>()},
      {"int32", number<std::int32_t>()},   {"uint", number<std::uint32_t>()},   {"uint32", number<std::uint32_t>()},
      {"float", number<float>()},          {"float32", number<float>()},        {"double", number<double>()},
      {"float64", number<double>()}};
  const auto found = numbers.find(type);
  if (found == numbers.end()) refuse(text("'", Tokens::printable(type), "' is no type of PLY"));
  return found->second;
}

PlyHeader ply_header(Reader& file) {
  PlyHeader header;
  if (file.line() != "ply") refuse("the file does not begin with 'ply'");
  for (;;) {
    if (file.rest().empty()) refuse("the PLY header has no end_header; the file is cut off");
    const std::vector<std::string> words = words_of(file.line());
    if (words.empty() || words[0] == "comment" || words[0] == "obj_info") continue;
    if (words[0] == "end_header") return header;
    if (words[0] == "format" && words.size() >= 2) {
      header.format = words[1];
    } else if (words[0] == "element" && words.size() == 3) {
      header.elements.push_back({words[1], count_of(words[2], "number of elements")});
    } else if (words[0] == "property" && words.size() == 3 && !header.elements.empty()) {
      header.elements.back().properties.push_back({words[2], ply_number(words[1])});
    } else if (words[0] == "property" && words.size() == 5 && words[1] == "list" && !header.elements.empty()) {
      header.elements.back().properties.push_back({words[4], ply_number(words[3]), ply_number(words[2])});
    } else {
      refuse(text("the PLY header has the line '", Tokens::printable(words[0]), " …', which is unknown"));
    }
  }
}

// Reads the points of the elements up to the vertices. `next` reads one number.
Points ply_points(const PlyHeader& header, const std::function<double(const Number&)>& next) {
  for (const PlyElement& element : header.elements) {
    if (element.properties.empty()) continue;
    std::vector<std::string> names;
    for (const PlyProperty& property : element.properties) names.push_back(property.count ? "" : property.name);
    const bool are_points = element.name == "vertex";
    Collector collector(are_points ? coordinates(names) : std::array<std::size_t, 3>{});
    std::vector<double> row(names.size());
    for (std::size_t i = 0; i < element.count; ++i) {
      for (std::size_t k = 0; k < row.size(); ++k) {
        const PlyProperty& property = element.properties[k];
        if (!property.count) row[k] = next(property.number);
        for (double n = property.count ? next(*property.count) : 0; n > 0; --n) next(property.number);
      }
      if (are_points) collector.add(row);
    }
    if (are_points) return std::move(collector.points);
  }
  refuse("the PLY file has no element 'vertex' with properties");
}

// PCD

constexpr std::size_t most_values_of_point = 4096;

struct PcdHeader {
  std::vector<std::string> names;
  std::vector<Number> numbers;
  std::size_t points = 0;
  std::string data;

  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const Number& number : numbers) sum += number.bytes;
    return sum;
  }
};

PcdHeader pcd_header(Reader& file) {
  std::map<std::string, std::vector<std::string>> lines;
  while (!lines.contains("DATA")) {
    if (file.rest().empty()) refuse("the PCD header has no line DATA; the file is cut off");
    std::vector<std::string> words = words_of(file.line());
    if (words.empty() || words[0].starts_with('#')) continue;
    const std::string name = words[0];
    words.erase(words.begin());
    lines[name] = std::move(words);
  }
  const std::vector<std::string>&names = lines["FIELDS"], &sizes = lines["SIZE"], &types = lines["TYPE"];
  std::vector<std::string>& counts = lines["COUNT"];
  if (counts.empty()) counts.assign(names.size(), "1");
  if (sizes.size() != names.size() || types.size() != names.size() || counts.size() != names.size())
    refuse("FIELDS, SIZE, TYPE and COUNT of the PCD header must name as many fields");
  if (lines["POINTS"].size() != 1 || lines["DATA"].size() != 1)
    refuse("POINTS and DATA of the PCD header need one word");
  PcdHeader header;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::size_t count = count_of(counts[i], "COUNT", most_values_of_point);
    if (header.names.size() + count > most_values_of_point)
      refuse(text("the COUNT of all fields is more than ", most_values_of_point, ", which is allowed"));
    header.names.insert(header.names.end(), count, names[i]);
    header.numbers.insert(header.numbers.end(), count, number_of(types[i], sizes[i]));
  }
  header.points = count_of(lines["POINTS"][0], "number of points");
  header.data = lines["DATA"][0];
  return header;
}

// Decompresses LZF, the format of binary_compressed: runs of bytes, and copies of earlier bytes.
std::string lzf_decompressed(std::string_view packed, std::size_t bytes) {
  std::string out;
  Reader in(packed, std::endian::little);
  const auto byte = [&] { return static_cast<unsigned>(static_cast<unsigned char>(in.take(1)[0])); };
  while (!in.rest().empty()) {
    const unsigned control = byte();
    if (control < 32) {
      out += in.take(control + 1);
    } else {
      std::size_t length = control >> 5;
      if (length == 7) length += byte();
      const std::size_t distance = ((control & 31) << 8 | byte()) + 1;
      if (distance > out.size()) refuse("the compressed points are damaged");
      for (length += 2; length > 0; --length) out += out[out.size() - distance];
    }
    if (out.size() > bytes) refuse("the compressed points are damaged");
  }
  if (out.size() != bytes) refuse("the compressed points are damaged");
  return out;
}

// Compressed fields follow each other, each with the values of all points.
Points columns_of_pcd(const PcdHeader& header, std::string_view fields, Collector collector) {
  std::vector<Reader> columns;
  Reader all(fields, std::endian::little);
  for (const Number& number : header.numbers)
    columns.emplace_back(all.take(number.bytes * header.points), std::endian::little);
  std::vector<double> row(header.names.size());
  for (std::size_t i = 0; i < header.points; ++i) {
    for (std::size_t k = 0; k < row.size(); ++k) row[k] = columns[k].next(header.numbers[k]);
    collector.add(row);
  }
  return std::move(collector.points);
}

Points rows_of_pcd(const PcdHeader& header, const std::function<double(const Number&)>& next, Collector collector) {
  std::vector<double> row(header.names.size());
  for (std::size_t i = 0; i < header.points; ++i) {
    for (std::size_t k = 0; k < row.size(); ++k) row[k] = next(header.numbers[k]);
    collector.add(row);
  }
  return std::move(collector.points);
}

}  // namespace

Points decode_ply(Bytes bytes) {
  Reader file(text_of(bytes), std::endian::native);
  const PlyHeader header = ply_header(file);
  if (header.format == "ascii") {
    Tokens tokens("PLY", file.rest());
    return ply_points(header, [&](const Number&) { return decimal(tokens.next("points")); });
  }
  const bool big = header.format == "binary_big_endian";
  if (!big && header.format != "binary_little_endian")
    refuse(text("the PLY file has the format '", Tokens::printable(header.format),
                "'; it must be ascii, binary_little_endian or binary_big_endian"));
  Reader numbers(file.rest(), big ? std::endian::big : std::endian::little);
  return ply_points(header, [&](const Number& number) { return numbers.next(number); });
}

Points decode_pcd(Bytes bytes) {
  Reader file(text_of(bytes), std::endian::little);
  const PcdHeader header = pcd_header(file);
  Collector collector(coordinates(header.names));
  if (header.data == "binary")
    return rows_of_pcd(
        header, [&](const Number& number) { return file.next(number); }, std::move(collector));
  if (header.data == "ascii") {
    Tokens tokens("PCD", file.rest());
    return rows_of_pcd(
        header, [&](const Number&) { return decimal(tokens.next("points")); }, std::move(collector));
  }
  if (header.data != "binary_compressed")
    refuse(text("DATA of the PCD file is '", Tokens::printable(header.data),
                "'; it must be ascii, binary or binary_compressed"));
  const auto packed = static_cast<std::size_t>(file.next(number<std::uint32_t>()));
  const auto unpacked = static_cast<std::size_t>(file.next(number<std::uint32_t>()));
  if (unpacked != header.bytes() * header.points)
    refuse("the compressed points have another size than the header says");
  return columns_of_pcd(header, lzf_decompressed(file.take(packed), unpacked), std::move(collector));
}

Points decode_kitti_points(Bytes bytes) {
  constexpr std::size_t of_point = 4;
  if (bytes.size() % (of_point * sizeof(float)) != 0)
    refuse(text("the file has ", bytes.size(), " bytes; KITTI's points are four floats each, a multiple of 16 bytes"));
  Reader file(text_of(bytes), std::endian::little);
  Collector collector({0, 1, 2});
  std::vector<double> row(of_point);
  while (!file.rest().empty()) {
    for (double& value : row) value = file.next(number<float>());
    collector.add(row);
  }
  return std::move(collector.points);
}

}  // namespace io

std::vector<std::array<float, 3>> read_points(const std::filesystem::path& file) {
  const std::string extension = io::lower_extension(file);
  const auto decode = extension == ".ply"   ? io::decode_ply
                      : extension == ".pcd" ? io::decode_pcd
                      : extension == ".bin" ? io::decode_kitti_points
                                            : nullptr;
  if (decode == nullptr)
    throw Error(ErrorCategory::unsupported,
                text(file.string(), ": points are read from .ply, .pcd and .bin (KITTI), so convert the file"));
  const std::string contents = io::read_file(file);
  return io::naming(file, [&] { return decode(io::bytes_of(contents)); });
}

}  // namespace stereopsis
