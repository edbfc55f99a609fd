#include "cli/commands/judged_files.hpp"

#include "attn/report/json/comparison_json.hpp"
#include "attn/report/svg/error_map.hpp"
#include "attn/tensor/error.hpp"
#include "cli/output/output.hpp"
#include "cli/system/exit_code.hpp"

#include <algorithm>

namespace attn::cli {
namespace {

using model::diagnose::Against;
using model::diagnose::Told;
using model::diagnose::Verdict;

void draw(const Against& found, const std::string& name, const std::string& path)
{
    try {
        Output picture(path);
        report::write_error_map(found, name, picture);
        picture.finish();
    } catch (const ReaderGone&) { // of the picture alone
    }
}

/// The array whose tied mistakes --suggest-input is for: the first that has some.
const Against* tied_in(const std::vector<Against>& found)
{
    const auto tied = std::ranges::find_if(
        found, [](const Against& each) { return each.told() == Told::mistake && each.diagnosis->verdict == Verdict::tied; });
    return tied == found.end() ? nullptr : &*tied;
}

/// As text or JSON; of several files a line each.
void tell(const JudgedArrays& judged, const std::string& name, const AgainstOptions& options, const Judge& judge,
          Output& output, Log& log)
{
    const auto write = judge.json                  ? report::write_diagnosis_json
                       : options.files.size() == 1 ? report::write_diagnosis
                                                   : report::write_diagnosis_line;
    const Against* tied = judge.suggest ? tied_in(judged.found) : nullptr;
    if (judge.suggest && tied == nullptr) {
        log.warning("--suggest-input: no mistakes are tied, and no input is written");
    }
    for (const Against& found : judged.found) {
        const auto input =
            &found == tied ? std::optional(judge.suggest(*found.diagnosis)) : std::optional<report::SuggestedFile>();
        write({found, name, input ? &*input : nullptr, judged.together ? &*judged.together : nullptr}, output);
    }
    if (judged.together && !judge.json && !judged.found.front().agrees_in) {
        report::write_together(*judged.together, name, output);
    }
    output.flush();
}

} // namespace

std::shared_ptr<const ComparedFile> open_only(const AgainstOptions& options, std::size_t most_bytes)
{
    if (options.files.size() != 1) {
        return nullptr;
    }
    auto only = std::make_shared<const ComparedFile>(options.files.front(), most_bytes);
    for (const auto& path : {options.picture, options.suggest}) {
        only->require_apart_from(path);
    }
    return only;
}

int judge_files(const AgainstOptions& options, const Judge& judge, Log& log)
{
    Output output;
    int code = success;
    bool read = true;
    for (const std::string& name : options.files) {
        try {
            const auto file = judge.only ? judge.only : std::make_shared<const ComparedFile>(name, judge.most_bytes);
            const JudgedArrays judged = judge.against(*file);
            file->require_unchanged();
            if (options.picture) {
                draw(judged.found.front(), name, *options.picture);
            }
            code = std::max(code, std::ranges::all_of(judged.found, &Against::agrees) ? success : difference_found);
            if (read) {
                tell(judged, name, options, judge, output, log);
            }
        } catch (const ReaderGone&) { // the exit code says what it left unread
            read = false;
        } catch (const Error& error) {
            const bool of_file = error.kind() == ErrorKind::data || error.kind() == ErrorKind::no_input;
            if (options.files.size() == 1 || !of_file) {
                throw;
            }
            log.error(error.what());
            code = std::max(code, exit_code(error.kind()));
        }
    }
    if (read) {
        output.finish();
    }
    return code;
}

} // namespace attn::cli
