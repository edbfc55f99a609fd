#include "cli/recipe_files.hpp"

#include "attn/io/sha256.hpp"
#include "attn/tensor/error.hpp"
#include "cli/embeddings.hpp"

namespace attn::cli {

void load_files(model::Recipe& recipe, TensorInputs& inputs, model::RunSettings& settings)
{
    load_embeddings(recipe, inputs, settings);
    settings.mask.reset();
    if (!recipe.attention.mask) {
        return;
    }
    model::FileTensor& mask = *recipe.attention.mask;
    if (mask.file == "-") {
        throw Error(ErrorKind::usage, "mask", "standard input", "a file, which the config of the result can name");
    }
    settings.mask = inputs.open({mask.file, mask.name});
    const MappedFile& file = inputs.file(mask.file);
    const std::string digest = io::sha256(file.bytes());
    if (!mask.sha256.empty() && mask.sha256 != digest) {
        throw Error(ErrorKind::data, "sha256 of " + file.name(), digest, mask.sha256 + ", that of the file which was used");
    }
    mask.sha256 = digest;
}

} // namespace attn::cli
