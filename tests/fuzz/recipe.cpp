// Arbitrary bytes as a recipe: refused with Error(data) in one line, or read; and what was read can be written and read again.
#include "attn/io/json/recipe.hpp"
#include "attn/io/json/saved_result.hpp"
#include "attn/report/json/json.hpp"
#include "attn/tensor/error.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

template <typename Read>
void must_read_or_refuse(Read read)
{
    try {
        (void)read();
    } catch (const attn::Error& error) {
        const std::string_view message = error.what();
        if (error.kind() != attn::ErrorKind::data || message.empty() || message.find('\n') != message.npos) {
            std::abort();
        }
    }
}

std::string written(const attn::model::Recipe& recipe)
{
    attn::Buffer text;
    attn::report::write_recipe(recipe, text);
    return text.text();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    must_read_or_refuse([&] { return attn::io::kind_of(text); });
    std::string once;
    must_read_or_refuse([&] {
        once = written(attn::io::parse_recipe(text));
        return 0;
    });
    if (!once.empty() && written(attn::io::parse_recipe(once)) != once) {
        std::abort();
    }
    return 0;
}
