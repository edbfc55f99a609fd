#include "attn/io/tensors/inflate.hpp"
#include "attn/io/tensors/zip.hpp"

#include <algorithm>

namespace attn::io {
namespace {

constexpr std::uint16_t utf8_name = 0x0800, plain_version = 20, zip64_version = 45;
constexpr std::uint16_t date = 1U << 5U | 1U; // 1980-01-01, ZIP's first day, at midnight

struct Written {
    std::uint64_t size = 0, offset = 0;
    std::uint32_t crc = 0;
};

/// The record that starts a zip64 extra field, then its numbers.
std::string zip64_field(const std::vector<std::uint64_t>& numbers)
{
    std::string field;
    append_little<std::uint16_t>(field, 1);
    append_little(field, static_cast<std::uint16_t>(8 * numbers.size()));
    for (const std::uint64_t number : numbers) {
        append_little(field, number);
    }
    return field;
}

/// What a local header and a directory entry share: from "version needed" to the length of the extra fields.
std::string shared(const ZipSource& source, const Written& written, bool zip64, std::size_t extra_length)
{
    const bool ascii = std::all_of(source.name.begin(), source.name.end(), [](char c) { return (c & 0x80) == 0; });
    const auto size = static_cast<std::uint32_t>(zip64 ? 0xffffffffU : written.size);
    std::string out;
    append_little(out, zip64 ? zip64_version : plain_version);
    append_little(out, ascii ? std::uint16_t{0} : utf8_name);
    append_little<std::uint16_t>(out, 0); // stored
    append_little<std::uint16_t>(out, 0); // midnight
    append_little(out, date);
    append_little(out, written.crc);
    append_little(out, size);
    append_little(out, size);
    append_little(out, static_cast<std::uint16_t>(source.name.size()));
    append_little(out, static_cast<std::uint16_t>(extra_length));
    return out;
}

std::string local_header(const ZipSource& source, const Written& written, bool zip64)
{
    const std::string extra = zip64 ? zip64_field({written.size, written.size}) : "";
    return "PK\x03\x04" + shared(source, written, zip64, extra.size()) + source.name + extra;
}

std::string directory_entry(const ZipSource& source, const Written& written, bool zip64)
{
    const std::string extra = zip64 ? zip64_field({written.size, written.size, written.offset}) : "";
    std::string out = "PK\x01\x02";
    append_little(out, zip64_version); // made by
    out += shared(source, written, zip64, extra.size());
    out.append(10, '\0'); // no comment, first disk, no attributes
    append_little(out, static_cast<std::uint32_t>(zip64 ? 0xffffffffU : written.offset));
    return out + source.name + extra;
}

std::string end_records(std::uint64_t members, std::uint64_t size, std::uint64_t offset, bool zip64, std::string_view comment)
{
    std::string out;
    if (zip64) {
        out += "PK\x06\x06";
        append_little<std::uint64_t>(out, 44); // what follows
        append_little(out, zip64_version);
        append_little(out, zip64_version);
        append_little<std::uint64_t>(out, 0); // disks
        append_little(out, members);
        append_little(out, members);
        append_little(out, size);
        append_little(out, offset);
        out += "PK\x06\x07";
        append_little<std::uint32_t>(out, 0);
        append_little(out, offset + size);
        append_little<std::uint32_t>(out, 1);
    }
    out += "PK\x05\x06";
    append_little<std::uint32_t>(out, 0);
    append_little(out, static_cast<std::uint16_t>(zip64 ? 0xffffU : members));
    append_little(out, static_cast<std::uint16_t>(zip64 ? 0xffffU : members));
    append_little(out, static_cast<std::uint32_t>(zip64 ? 0xffffffffU : size));
    append_little(out, static_cast<std::uint32_t>(zip64 ? 0xffffffffU : offset));
    append_little(out, static_cast<std::uint16_t>(comment.size()));
    return out.append(comment);
}

} // namespace

void write_zip(const std::vector<ZipSource>& sources, Buffer& buffer, std::uint64_t zip64_from, std::string_view comment)
{
    std::string directory;
    std::uint64_t offset = 0;
    for (const ZipSource& source : sources) {
        Written written;
        written.offset = offset;
        for (const Bytes part : source.parts) {
            written.size += part.size();
            written.crc = crc32_of(part, written.crc);
        }
        const bool zip64 = std::max(written.size, written.offset) >= zip64_from;
        const std::string header = local_header(source, written, zip64);
        buffer.append(header);
        for (const Bytes part : source.parts) {
            buffer.append(as_text(part));
        }
        directory += directory_entry(source, written, zip64);
        offset += header.size() + written.size;
    }
    buffer.append(directory);
    const bool zip64 = std::max<std::uint64_t>(offset, directory.size()) >= zip64_from || sources.size() >= 0xffff;
    buffer.append(end_records(sources.size(), directory.size(), offset, zip64, comment));
}

} // namespace attn::io
