#include "attn/io/tensors/npy.hpp"

#include "attn/io/tensors/zip.hpp"
#include "attn/tensor/error.hpp"
#include "attn/tensor/once.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

namespace attn::io {
namespace {

constexpr std::string_view ending = ".npy";
/// Comments of archives that are ours, "attn-cli right W_q W_k W_v", as the one text of Metadata that they hold.
constexpr std::string_view ours = "attn-cli ";

/// torch.save writes a ZIP archive too: a pickle, "<name>/data.pkl", beside bytes that only the pickle explains.
void refuse_checkpoint(const std::vector<ZipMember>& members, std::string_view what)
{
    const auto is_pickle = [](const ZipMember& member) { return member.name.ends_with("/data.pkl"); };
    if (std::ranges::any_of(members, is_pickle)) {
        throw Error(ErrorKind::data, what, "a PyTorch checkpoint (torch.save)",
                    ".npz, .safetensors; save its state dict with safetensors.torch.save_file or numpy.savez");
    }
}

/// Every member is named "<array>.npy", and no two alike: some readers would take the first, others the last.
void check_names(const std::vector<ZipMember>& members, std::string_view what)
{
    refuse_checkpoint(members, what);
    std::vector<std::string_view> names;
    for (const ZipMember& member : members) {
        if (!member.name.ends_with(ending)) {
            throw Error(ErrorKind::data, std::string(what) + ": member of the archive", in_quotes(member.name),
                        "names that end in .npy");
        }
        names.push_back(member.name);
    }
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice != names.end()) {
        throw Error(ErrorKind::data, fmt::format("{}: member {}", what, in_quotes(*twice)), "two of them", "one of each name");
    }
}

std::string array_name(const ZipMember& member)
{
    return member.name.substr(0, member.name.size() - ending.size());
}

void check_inflated_size(const std::vector<ZipMember>& members, std::string_view only, Index limit, std::string_view what)
{
    Index total = 0;
    for (const ZipMember& member : members) {
        const bool wanted = only.empty() || array_name(member) == only;
        total += member.deflated && wanted ? member.size : 0; // at most 1032 times the file
    }
    if (total > limit) {
        throw Error(ErrorKind::data, std::string(what) + ": inflated size", fmt::format("{} bytes", total),
                    fmt::format("up to {}", limit));
    }
}

void require_crc(std::uint32_t crc, const ZipMember& member, const std::string& what)
{
    if (crc != member.crc) {
        throw Error(ErrorKind::data, what + ": damaged, its CRC-32 is wrong");
    }
}

void require_size(std::size_t size, const ZipMember& member, const std::string& what)
{
    if (size != static_cast<std::size_t>(member.size)) {
        throw Error(ErrorKind::data, what + ": fewer bytes than the archive says");
    }
}

NpyHeader header_of(const ZipMember& member, const std::string& what, Untyped untyped_are)
{
    if (!member.deflated) {
        return read_npy_header(member.data, what, untyped_are);
    }
    std::array<std::byte, npy_front> front; // NOLINT(cppcoreguidelines-pro-type-member-init): read where it was written
    const std::size_t most = std::min(static_cast<std::size_t>(member.size), npy_front);
    return read_npy_header(std::span(front).first(Inflater(member.data, what).read(std::span(front).first(most))), what,
                           untyped_are);
}

/// A deflated member and the room for its contents.
class Deflated {
public:
    Deflated(ZipMember member, std::string what)
        : member_(std::move(member)), what_(std::move(what)), size_(static_cast<std::size_t>(member_.size)),
          room_(new std::byte[size_]) // no zeros, as a vector would write them: what does not come is never touched
    {
    }

    [[nodiscard]] std::span<std::byte> room() const { return {room_.get(), size_}; }

    void read()
    {
        once_.act([&] {
            Inflater inflater(member_.data, what_);
            require_size(inflater.read(room()), member_, what_);
            inflater.finish();
            require_crc(crc32_of(room()), member_, what_);
        });
    }

    /// Inflates it without keeping anything: what a small file says of a large array may be a lie, which only its end shows,
    /// and so may be a number that nobody wants. `front`: bytes before the first number.
    void show(std::size_t front, const NumberJudge& judge)
    {
        once_.before([&] {
            constexpr std::size_t whole_elements = std::size_t{1} << 16U;
            std::vector<std::byte> part(std::max(front, whole_elements));
            Inflater inflater(member_.data, what_);
            std::size_t size = 0;
            std::uint32_t crc = 0;
            while (size < size_) {
                const std::size_t most = size == 0 ? front : std::min(whole_elements, size_ - size);
                const Bytes read = std::span(part).first(inflater.read(std::span(part).first(most)));
                if (read.empty()) {
                    break;
                }
                if (judge && size != 0) {
                    judge({room_.get() + size, read});
                }
                size += read.size();
                crc = crc32_of(read, crc);
            }
            require_size(size, member_, what_);
            inflater.finish();
            require_crc(crc, member_, what_);
        });
    }

private:
    ZipMember member_;
    std::string what_;
    std::size_t size_;
    std::unique_ptr<std::byte[]> room_; // NOLINT(modernize-avoid-c-arrays)
    Once once_;
};

/// The .npy inside of a member. It owns its numbers if it is deflated.
void open_member(const ZipMember& member, const std::string& what, const WantedTensor& wanted, TensorFile& file)
{
    const std::string name = array_name(member);
    const NpyHeader header = header_of(member, what, wanted.untyped);
    if (wanted.untyped != Untyped::refused && !wanted.name.empty()) {
        require_untyped(header, what);
    }
    if (!header.type) {
        file.unsupported.push_back({name, header.dtype});
        return;
    }
    if (!member.deflated) {
        const auto check = [member, what, once = std::make_shared<Once>()] {
            once->act([&] { require_crc(crc32_of(member.data), member, what); });
        };
        file.entries.push_back({.name = name,
                                .view = npy_view(header, member.data, what),
                                .unread = std::make_shared<const Unread>(Unread{.read = check})});
        return;
    }
    require_npy_size(header, member.size, what);
    const auto array = std::make_shared<Deflated>(member, what);
    Unread unread{.read = [array] { array->read(); }};
    if (array->room().size() > 3 * member.data.size()) {
        unread.show = [array, front = header.data](const NumberJudge& judge) { array->show(front, judge); };
    }
    file.entries.push_back({.name = name,
                            .view = npy_view(header, array->room(), what),
                            .unread = std::make_shared<const Unread>(std::move(unread)),
                            .owner = array});
}

std::vector<std::string> names_of(const std::vector<ZipMember>& members)
{
    std::vector<std::string> names;
    names.reserve(members.size());
    for (const ZipMember& member : members) {
        names.push_back(array_name(member));
    }
    return names;
}

Metadata metadata_of(std::string_view comment)
{
    if (!comment.starts_with(ours)) {
        return {};
    }
    comment.remove_prefix(ours.size());
    const std::size_t name = std::min(comment.find(' '), comment.size());
    return {{std::string(comment.substr(0, name)), std::string(comment.substr(std::min(name + 1, comment.size())))}};
}

} // namespace

std::vector<std::string> npz_names(Bytes file, std::string_view what)
{
    const std::vector<ZipMember> members = zip_members(file, what);
    check_names(members, what);
    return names_of(members);
}

TensorFile open_npz(Bytes file, std::string_view what, std::string_view only, Index inflate_limit)
{
    const std::vector<ZipMember> members = zip_members(file, what);
    check_names(members, what);
    const WantedTensor wanted = wanted_tensor(only, names_of(members));
    check_inflated_size(members, wanted.name, inflate_limit, what);
    TensorFile read;
    read.metadata = metadata_of(zip_comment(file, what));
    for (const ZipMember& member : members) {
        const std::string name = array_name(member);
        if (wanted.name.empty() || name == wanted.name) {
            open_member(member, fmt::format("{}: {}", what, in_quotes(name)), wanted, read);
        }
    }
    if (!wanted.name.empty()) {
        (void)read.at(wanted.name, what);
    }
    return read;
}

void write_npz(const std::vector<NamedTensor>& tensors, Buffer& buffer, const Metadata& metadata)
{
    std::vector<std::string> headers;
    std::vector<ZipSource> sources;
    headers.reserve(tensors.size()); // the sources look at them
    for (const NamedTensor& tensor : tensors) {
        headers.push_back(npy_header(tensor.view.type, tensor.view.shape));
        sources.push_back({tensor.name + std::string(ending), {as_bytes(headers.back()), tensor.view.bytes}});
    }
    std::string comment;
    for (const auto& [name, text] : metadata) {
        comment.assign(ours).append(name).append(" ").append(text);
    }
    constexpr std::uint64_t zip64_from = 0xffffffffU;
    write_zip(sources, buffer, zip64_from, comment);
}

} // namespace attn::io
