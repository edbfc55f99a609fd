#include "cli/input/found_file.hpp"

#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <filesystem>

#include <sys/stat.h>
#include <unistd.h>

namespace attn::cli {
namespace {

bool exists(const std::string& path)
{
    return ::access(path.c_str(), F_OK) == 0;
}

/// A recipe may come from anybody: what it names must have an end, which a FIFO or a device need not. Throws Error(data).
void require_end(const std::string& path, const FileSearch& search, const model::FieldInfo& field)
{
    struct stat status = {};
    if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) {
        throw Error(ErrorKind::data, search.origin.name_of(field), quoted_path(path) + ", a FIFO or a device",
                    "a regular file");
    }
}

/// Calls `visit(field, file, digest)` for each file that a recipe names.
template <typename Visit>
void for_each_file(model::Recipe& recipe, Visit visit)
{
    if (recipe.parameters) {
        visit(model::field::parameters_file, recipe.parameters->file, recipe.parameters->sha256);
    }
    if (recipe.embeddings) {
        visit(model::field::embeddings_file, recipe.embeddings->file, recipe.embeddings->digest);
        if (recipe.embeddings->words) {
            visit(model::field::words_file, recipe.embeddings->words->file, recipe.embeddings->words->digest);
        }
    }
    if (recipe.attention.mask) {
        visit(model::field::mask_file, recipe.attention.mask->file, recipe.attention.mask->sha256);
    }
}

using Path = std::filesystem::path;

Path place_of(const Path& path)
{
    return std::filesystem::absolute(path).lexically_normal();
}

/// What a recipe in `folder` calls the file at `path`; nothing where it is not below that folder.
std::optional<std::string> name_below(const Path& folder, const Path& path)
{
    const Path relative = place_of(path).lexically_relative(place_of(folder));
    return relative.empty() || *relative.begin() == ".." ? std::nullopt : std::optional(relative.string());
}

} // namespace

template <typename Digest>
std::string found_file(const FileSearch& search, const model::FieldInfo& field, const std::string& file, const Digest& stated)
{
    if (search.origin.from_option(field)) {
        return file;
    }
    require_end(file, search, field);
    const std::string beside = search.folder + file;
    if (search.folder.empty() || file.starts_with('/') || file == "-" || !exists(beside)) {
        return file;
    }
    require_end(beside, search, field);
    const bool other_is_stated =
        exists(file) && !has_digest(MappedFile(beside), stated) && has_digest(MappedFile(file), stated);
    return other_is_stated ? file : beside;
}

template std::string found_file(const FileSearch&, const model::FieldInfo&, const std::string&, const std::string&);
template std::string found_file(const FileSearch&, const model::FieldInfo&, const std::string&, const model::FileDigest&);

model::Recipe named_beside(const std::optional<std::string>& path, model::Recipe recipe, const FileSearch& search, Log& log)
{
    const bool file = path && *path != "-";
    const Path folder = Path(".") / (file ? Path(*path).parent_path() : Path());
    for_each_file(recipe, [&](const model::FieldInfo& field, std::string& name, const auto& digest) {
        const Path found = found_file(search, field, name, digest);
        if (const auto below = name_below(folder, found)) {
            name = *below;
        } else if (found.is_absolute() || place_of(folder / found) != place_of(found)) {
            name = found.filename().string();
            log.warning(fmt::format("{} is written as {}; keep a copy beside the recipe", quoted_path(found.string()),
                                    quoted_path(name)));
        }
    });
    return recipe;
}

} // namespace attn::cli
