// Runs a fuzz target over stored inputs, for builds without libFuzzer: every file below the directories named as arguments.
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <span>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void replay(const std::filesystem::path& file)
{
    std::ifstream stream(file, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(stream), {}};
    std::cerr << file << '\n'; // the last one named is the one that crashed
    // libFuzzer hands over exactly `size` bytes too, so that a sanitizer sees a read past the end.
    const std::vector<std::uint8_t> input(bytes.begin(), bytes.end());
    (void)LLVMFuzzerTestOneInput(input.data(), input.size());
}

} // namespace

int main(int count, char** arguments)
try {
    std::size_t files = 0;
    for (const char* directory : std::span(arguments, static_cast<std::size_t>(count)).subspan(1)) {
        for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
            if (entry.is_regular_file()) {
                replay(entry.path());
                ++files;
            }
        }
    }
    std::cerr << files << " inputs\n";
    return files == 0 ? 1 : 0;
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
}
