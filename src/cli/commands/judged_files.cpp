#include "cli/commands/judged_files.hpp"

#include "attn/report/json/diagnosis_json.hpp"
#include "attn/report/text/diagnosis.hpp"
#include "attn/tensor/error.hpp"
#include "cli/output/output.hpp"
#include "cli/system/exit_code.hpp"

#include <algorithm>

namespace attn::cli {

int judge_files(const std::vector<std::string>& files, bool json, Log& log,
                const std::function<model::diagnose::Against(const ComparedFile&)>& against)
{
    Output output{std::nullopt};
    int code = success;
    bool read = true;
    const auto write = json                ? report::write_diagnosis_json
                       : files.size() == 1 ? report::write_diagnosis
                                           : report::write_diagnosis_line;
    for (const std::string& name : files) {
        try {
            const ComparedFile file(name);
            const model::diagnose::Against found = against(file);
            file.require_unchanged();
            code = std::max(code, found.comparison.agrees() ? success : difference_found);
            if (read) {
                write(found, name, output.sink());
                output.flush();
            }
        } catch (const ReaderGone&) { // the exit code says what it left unread
            read = false;
        } catch (const Error& error) {
            const bool of_file = error.kind() == ErrorKind::data || error.kind() == ErrorKind::no_input;
            if (files.size() == 1 || !of_file) {
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
