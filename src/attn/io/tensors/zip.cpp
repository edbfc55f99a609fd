#include "attn/io/tensors/zip.hpp"

#include "attn/io/tensors/tensor_file.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <new>

namespace attn::io {
namespace {

constexpr std::size_t most_at_once = 1U << 30U;

} // namespace

void Inflater::End::operator()(z_stream_s* stream) const
{
    inflateEnd(stream);
    delete stream;
}

Inflater::Inflater(Bytes deflated, std::string_view what) : stream_(new z_stream{}), rest_(deflated), what_(what)
{
    if (inflateInit2(stream_.get(), -MAX_WBITS) != Z_OK) { // raw data: zip has its own header and checksum
        throw std::bad_alloc();
    }
}

std::size_t Inflater::read(std::span<std::byte> out)
{
    std::size_t written = 0;
    while (written < out.size() && !ended_) {
        if (stream_->avail_in == 0) {
            const std::size_t count = std::min(rest_.size(), most_at_once);
            stream_->next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(rest_.data())); // zlib only reads there
            stream_->avail_in = static_cast<uInt>(count);
            rest_ = rest_.subspan(count);
        }
        const std::size_t room = std::min(out.size() - written, most_at_once);
        stream_->next_out = reinterpret_cast<Bytef*>(out.data() + written);
        stream_->avail_out = static_cast<uInt>(room);
        const int answer = inflate(stream_.get(), Z_NO_FLUSH);
        written += room - stream_->avail_out;
        ended_ = answer == Z_STREAM_END;
        if (answer == Z_MEM_ERROR) {
            throw std::bad_alloc();
        }
        if (answer == Z_BUF_ERROR) { // the data ends before the stream does
            break;
        }
        if (answer != Z_OK && !ended_) {
            throw Error(ErrorKind::data, std::string(what_) + ": damaged deflate data");
        }
    }
    return written;
}

void Inflater::finish()
{
    std::byte beyond{};
    const std::size_t more = read({&beyond, 1}); // also takes in the end of the stream, if only that is left
    if (more != 0 || !ended_ || stream_->avail_in != 0 || !rest_.empty()) {
        throw Error(ErrorKind::data, std::string(what_) + ": deflate data that ends elsewhere than the archive says");
    }
}

std::uint32_t crc32_of(Bytes bytes, std::uint32_t before)
{
    if (bytes.empty()) { // may be a null pointer, which zlib takes as a wish to begin anew
        return before;
    }
    return static_cast<std::uint32_t>(crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

namespace {

constexpr std::uint32_t local_mark = 0x04034b50, entry_mark = 0x02014b50, end_mark = 0x06054b50;
constexpr std::uint32_t end64_mark = 0x06064b50, locator_mark = 0x07064b50;
constexpr std::size_t entry_size = 46, end_size = 22, end64_size = 56, locator_size = 20;
constexpr std::uint32_t in_zip64 = 0xffffffff;
/// Two bits of deflate stand for 258 bytes at most.
constexpr std::uint64_t most_inflation = 1032;

/// Flags: sizes stand behind the data; encrypted, a patch, strongly encrypted, with masked headers.
constexpr std::uint32_t sizes_follow = 0x0008, unreadable = 0x0001 | 0x0020 | 0x0040 | 0x2000;

/// Reads numbers one after the other, and throws where the bytes end.
class Reader {
public:
    Reader(Bytes bytes, std::size_t at, std::string_view what) : bytes_(bytes), at_(at), what_(what) {}

    template <typename Unsigned>
    Unsigned take()
    {
        return little<Unsigned>(take(sizeof(Unsigned)), 0);
    }
    Bytes take(std::size_t count)
    {
        if (at_ > bytes_.size() || count > bytes_.size() - at_) {
            refuse("cut short");
        }
        at_ += count;
        return bytes_.subspan(at_ - count, count);
    }
    void expect(std::uint32_t mark, const char* thing)
    {
        if (take<std::uint32_t>() != mark) {
            refuse(fmt::format("no {} where one should be", thing));
        }
    }
    [[nodiscard]] std::size_t at() const { return at_; }
    [[nodiscard]] bool ended() const { return at_ == bytes_.size(); }
    [[noreturn]] void refuse(const std::string& problem) const
    {
        throw Error(ErrorKind::data, fmt::format("{}: damaged zip archive: {}", what_, problem));
    }

private:
    Bytes bytes_;
    std::size_t at_;
    std::string_view what_;
};

struct Directory {
    std::uint64_t members = 0, size = 0, offset = 0;
};

/// The last place where an end record with its comment reaches exactly to the end of the file.
std::size_t find_end(Bytes file, std::string_view what)
{
    const std::size_t farthest = file.size() < end_size + 0xffff ? 0 : file.size() - end_size - 0xffff;
    for (std::size_t at = file.size() < end_size ? 0 : file.size() - end_size + 1; at-- > farthest;) {
        if (little<std::uint32_t>(file, at) == end_mark &&
            at + end_size + little<std::uint16_t>(file, at + 20) == file.size()) {
            return at;
        }
    }
    Reader(file, 0, what).refuse("no end record, as when the file was cut short or something was added");
}

/// What the end record of 64 bits says, which ends where its locator begins; `end` is set to where it begins.
Directory read_end64(Bytes file, std::size_t& end, std::string_view what)
{
    Reader locator(file, end - locator_size, what);
    locator.expect(locator_mark, "locator");
    const auto disk = locator.take<std::uint32_t>();
    const auto at = locator.take<std::uint64_t>();
    const auto disks = locator.take<std::uint32_t>();
    if (disk != 0 || disks > 1 || at > end - locator_size) {
        locator.refuse("a wrong zip64 locator");
    }
    Reader record(file, at, what);
    record.expect(end64_mark, "zip64 end record");
    const auto size = record.take<std::uint64_t>();
    if (size < end64_size - 12 || size != end - locator_size - at - 12) {
        record.refuse("a zip64 end record of a wrong size");
    }
    (void)record.take(4); // versions
    const auto this_disk = record.take<std::uint32_t>(), directory_disk = record.take<std::uint32_t>();
    const auto here = record.take<std::uint64_t>();
    Directory directory;
    directory.members = record.take<std::uint64_t>();
    directory.size = record.take<std::uint64_t>();
    directory.offset = record.take<std::uint64_t>();
    if (this_disk != 0 || directory_disk != 0 || here != directory.members) {
        record.refuse("in several parts");
    }
    end = at;
    return directory;
}

/// The directory lies directly before its end records.
Directory find_directory(Bytes file, std::string_view what)
{
    std::size_t end = find_end(file, what);
    Reader record(file, end + 4, what);
    const auto disk = record.take<std::uint16_t>(), directory_disk = record.take<std::uint16_t>();
    const auto here = record.take<std::uint16_t>();
    Directory directory;
    directory.members = record.take<std::uint16_t>();
    directory.size = record.take<std::uint32_t>();
    directory.offset = record.take<std::uint32_t>();
    if (end >= locator_size && little<std::uint32_t>(file, end - locator_size) == locator_mark) {
        const Directory wide = read_end64(file, end, what);
        const auto differs = [](std::uint64_t small, std::uint64_t saturated, std::uint64_t large) {
            return small != saturated && small != large;
        };
        if (differs(directory.members, 0xffff, wide.members) || differs(directory.size, in_zip64, wide.size) ||
            differs(directory.offset, in_zip64, wide.offset)) {
            record.refuse("two end records that contradict each other");
        }
        directory = wide;
    } else if (disk != 0 || directory_disk != 0 || here != directory.members) {
        record.refuse("in several parts");
    }
    if (directory.offset > end || directory.size != end - directory.offset) {
        record.refuse(fmt::format("a directory of {} bytes at {}, which does not end where the end record begins",
                                  directory.size, directory.offset));
    }
    return directory;
}

/// What a directory entry and a local header both say.
struct Common {
    std::uint16_t flags = 0, method = 0;
    std::uint32_t crc = 0;
    std::uint64_t deflated = 0, size = 0;
    std::uint64_t offset = 0; ///< of the local header; the directory alone says it
    std::size_t name_length = 0, extra_length = 0;
};

Common read_common(Reader& reader)
{
    Common common;
    common.flags = reader.take<std::uint16_t>();
    common.method = reader.take<std::uint16_t>();
    (void)reader.take(4); // time and date
    common.crc = reader.take<std::uint32_t>();
    common.deflated = reader.take<std::uint32_t>();
    common.size = reader.take<std::uint32_t>();
    common.name_length = reader.take<std::uint16_t>();
    common.extra_length = reader.take<std::uint16_t>();
    return common;
}

/// Fills in the numbers that stand in the zip64 field, in this order, because their own place holds 32 one-bits.
void read_extra(Bytes extra, Common& common, std::string_view what)
{
    Reader reader(extra, 0, what);
    while (!reader.ended()) {
        const auto id = reader.take<std::uint16_t>();
        const Bytes field = reader.take(reader.take<std::uint16_t>());
        if (id != 1) {
            continue;
        }
        Reader wide(field, 0, what);
        for (std::uint64_t* number : {&common.size, &common.deflated, &common.offset}) {
            if (*number == in_zip64) {
                *number = wide.take<std::uint64_t>();
            }
        }
    }
}

/// Takes the local header of a member; returns where its data begins.
std::size_t check_local(Bytes file, const ZipMember& member, const Common& entry, std::string_view what)
{
    Reader reader(file, member.header, what);
    reader.expect(local_mark, "local header");
    (void)reader.take(2); // version
    Common local = read_common(reader);
    const Bytes name = reader.take(local.name_length);
    read_extra(reader.take(local.extra_length), local, what);
    bool agrees = as_text(name) == member.name && local.method == entry.method &&
                  ((local.flags ^ entry.flags) & (unreadable | sizes_follow)) == 0;
    if ((entry.flags & sizes_follow) == 0) {
        agrees = agrees && local.crc == entry.crc && local.deflated == entry.deflated && local.size == entry.size;
    }
    if (!agrees) {
        reader.refuse(fmt::format("the local header of {} contradicts the directory", in_quotes(member.name)));
    }
    return reader.at();
}

/// `members` is all of the file that comes before the directory.
ZipMember read_entry(Reader& reader, Bytes members, std::string_view what)
{
    reader.expect(entry_mark, "directory entry");
    (void)reader.take(4); // versions
    Common entry = read_common(reader);
    const auto comment_length = reader.take<std::uint16_t>();
    const auto disk = reader.take<std::uint16_t>();
    (void)reader.take(6); // attributes
    entry.offset = reader.take<std::uint32_t>();
    ZipMember member;
    member.name = as_text(reader.take(entry.name_length));
    read_extra(reader.take(entry.extra_length), entry, what);
    (void)reader.take(comment_length);

    const std::string name = in_quotes(member.name);
    if ((entry.flags & unreadable) != 0) {
        throw Error(ErrorKind::data, fmt::format("{}: member {}", what, name), "an encrypted one", "members that are plain");
    }
    if (entry.method != 0 && entry.method != 8) {
        throw Error(ErrorKind::data, fmt::format("{}: compression of {}", what, name), fmt::format("method {}", entry.method),
                    "stored (0), deflated (8)");
    }
    if (disk != 0 || entry.offset > members.size()) {
        reader.refuse(name + " lies outside of the file");
    }
    member.deflated = entry.method == 8;
    member.crc = entry.crc;
    member.header = entry.offset;
    const std::size_t begin = check_local(members, member, entry, what);
    if (entry.deflated > members.size() - begin) {
        reader.refuse(name + " is larger than the file");
    }
    member.data = members.subspan(begin, entry.deflated);
    const std::uint64_t most = member.deflated ? entry.deflated * most_inflation : entry.deflated;
    if (entry.size > most || (!member.deflated && entry.size < most)) {
        reader.refuse(fmt::format("{} cannot be {} bytes out of {}", name, entry.size, entry.deflated));
    }
    member.size = static_cast<Index>(entry.size);
    return member;
}

void require_apart(const std::vector<ZipMember>& members, Bytes file, std::string_view what)
{
    std::vector<const ZipMember*> sorted;
    sorted.reserve(members.size());
    for (const ZipMember& member : members) {
        sorted.push_back(&member);
    }
    std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->header < b->header; });
    for (std::size_t i = 1; i < sorted.size(); ++i) {
        const Bytes before = sorted[i - 1]->data;
        if (before.data() + before.size() > file.data() + sorted[i]->header) {
            Reader(file, 0, what)
                .refuse(fmt::format("{} and {} overlap", in_quotes(sorted[i - 1]->name), in_quotes(sorted[i]->name)));
        }
    }
}

} // namespace

std::string_view zip_comment(Bytes file, std::string_view what)
{
    return as_text(file.subspan(find_end(file, what) + end_size));
}

std::vector<ZipMember> zip_members(Bytes file, std::string_view what)
{
    const Directory directory = find_directory(file, what);
    Reader reader(file.first(directory.offset + directory.size), directory.offset, what);
    if (directory.members > directory.size / entry_size) {
        reader.refuse("more members than the directory has room for");
    }
    if (directory.members > most_tensors) {
        throw Error(ErrorKind::data, fmt::format("{}: number of members", what), std::to_string(directory.members),
                    fmt::format("up to {}", most_tensors));
    }
    std::vector<ZipMember> members;
    for (std::uint64_t i = 0; i < directory.members; ++i) {
        members.push_back(read_entry(reader, file.first(directory.offset), what));
    }
    if (!reader.ended()) {
        reader.refuse("fewer members than the directory has room for");
    }
    require_apart(members, file, what);
    return members;
}

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
