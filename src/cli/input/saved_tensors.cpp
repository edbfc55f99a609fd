#include "cli/input/saved_tensors.hpp"

#include "attn/io/json/saved_result.hpp"
#include "attn/report/json/json.hpp"
#include "attn/tensor/error.hpp"
#include "cli/input/documents.hpp"
#include "cli/input/named.hpp"

#include <utility>

namespace attn::cli {
namespace {

io::TensorFile read(std::string_view text)
{
    const std::vector<JsonText> documents = split_documents(text);
    const bool alone = documents.size() == 1;
    if (!alone || io::kind_of(documents.front().text) != io::Document::result) {
        throw Error(ErrorKind::data, "JSON", alone ? "no result" : "several texts",
                    "one result, as run --show parameters --json writes it");
    }
    const model::SavedResult saved = io::parse_saved_result(documents.front().text);
    io::TensorFile file;
    for (StoredTensor& tensor : model::tensors_of(saved).tensors) {
        file.entries.push_back(owned(std::move(tensor)));
    }
    file.metadata = report::metadata_of(std::get<model::Recipe>(saved.config));
    return file;
}

} // namespace

io::TensorFile tensors_of_result(const MappedFile& file)
{
    return named(file.name(), [&] { return read({reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()}); });
}

} // namespace attn::cli
