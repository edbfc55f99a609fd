#include "attn/io/tensors/inflate.hpp"

#include "attn/tensor/error.hpp"

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

} // namespace attn::io
