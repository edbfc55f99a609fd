// Pieces as text::PieceTokenizer makes them, for tests/oracle/live_tokenizers.py and live_sentencepiece.py: reads the
// tokenizer.json or .model that it is told, then one JSON string, or an array of two, a line,
//
//   "a sentence"
//   ["a sentence", "another"]
//
// and prints a line for each: [ids, pieces, [[begin, end], …] in bytes, types, sentences].
//
//   piece_ids FILE.model vocab.json   with the ids of a vocabulary, as Marian has them
//   piece_ids FILE --times [TEXT]   seconds to read the file, to make the tokenizer, and megabytes of TEXT per second
#include "attn/io/json/json_reader.hpp"
#include "attn/io/json/tokenizer_file.hpp"
#include "attn/io/models/sentencepiece.hpp"
#include "attn/tensor/error.hpp"
#include "attn/text/pieces/pieces.hpp"

#include <chrono>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace {

using attn::text::Piece;
using attn::text::PieceTokenizer;

std::string file_text(const std::string& path)
{
    std::ifstream stream(path, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return std::move(text).str();
}

/// JSON of well-formed UTF-8.
std::string json_string(const std::string& text)
{
    std::string json = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            json += '\\';
            json += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            json += "\\u00";
            json += "0123456789abcdef"[c >> 4];
            json += "0123456789abcdef"[c & 15];
        } else {
            json += c;
        }
    }
    return json + '"';
}

template <typename Item>
std::string json_list(const std::vector<Piece>& pieces, Item item)
{
    std::string json = "[";
    for (const Piece& piece : pieces) {
        json += (json.size() > 1 ? "," : "") + item(piece);
    }
    return json + "]";
}

std::string json_of(const std::vector<Piece>& pieces)
{
    const auto number = [](auto value) { return std::to_string(value); };
    return "[" + json_list(pieces, [&](const Piece& piece) { return number(piece.id); }) + "," +
           json_list(pieces, [](const Piece& piece) { return json_string(piece.text); }) + "," +
           json_list(pieces, [&](const Piece& p) { return "[" + number(p.begin) + "," + number(p.end) + "]"; }) + "," +
           json_list(pieces, [&](const Piece& piece) { return number(piece.type); }) + "," +
           json_list(pieces, [&](const Piece& piece) { return number(piece.sentence); }) + "]";
}

std::string answer(const PieceTokenizer& tokenizer, const std::string& line)
{
    const attn::io::JsonDocument document(line);
    const attn::io::JsonValue root = document.root();
    if (root.kind() == attn::io::JsonKind::string) {
        return json_of(tokenizer.encode(root.string()));
    }
    const std::vector<std::string> pair = root.strings();
    return json_of(tokenizer.encode(pair.at(0), pair.at(1)));
}

attn::text::TokenizerSpec spec_of(const std::vector<std::string>& arguments, const std::string& file)
{
    if (!arguments[0].ends_with(".model")) {
        return attn::io::read_tokenizer(file);
    }
    const attn::io::Bytes model = attn::io::as_bytes(file);
    return arguments.size() == 1 ? attn::io::sentencepiece_tokenizer(model)
                                 : attn::io::marian_tokenizer(model, attn::io::read_vocabulary(file_text(arguments[1])));
}

double seconds_since(std::chrono::steady_clock::time_point begin)
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void print_times(const std::string& json, const std::string& sentence)
{
    auto begin = std::chrono::steady_clock::now();
    attn::text::TokenizerSpec spec = attn::io::read_tokenizer(json);
    const double reading = seconds_since(begin);
    begin = std::chrono::steady_clock::now();
    const PieceTokenizer tokenizer(std::move(spec));
    const double making = seconds_since(begin);
    begin = std::chrono::steady_clock::now();
    const std::size_t pieces = tokenizer.encode(sentence).size();
    const double encoding = seconds_since(begin);
    std::cout << "read " << reading << " s, make " << making << " s, encode " << pieces << " pieces "
              << static_cast<double>(sentence.size()) / 1e6 / encoding << " MB/s\n";
}

} // namespace

int main(int count, char** values)
try {
    const std::vector<std::string> arguments(values + 1, values + count);
    const std::string file = file_text(arguments.at(0));
    if (arguments.size() > 1 && arguments[1] == "--times") {
        print_times(file, arguments.size() > 2 ? file_text(arguments[2]) : "one sentence");
        return 0;
    }
    const PieceTokenizer tokenizer(spec_of(arguments, file));
    for (std::string line; std::getline(std::cin, line);) {
        std::cout << answer(tokenizer, line) << '\n';
    }
    return 0;
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
}
