#include "chttpdns_coding.h"

#include <brotli/decode.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#ifdef __APPLE__
#define LIBRARY(name, version) "lib" name "." version ".dylib"
#else
#define LIBRARY(name, version) "lib" name ".so." version
#endif

// The largest window of a zstd frame, as a power of two: 8 MiB. Source: RFC 9659 §3.
#define ZSTD_LARGEST_WINDOW 23

#define ZLIB_FUNCTIONS(X) X(inflateInit2_) X(inflate) X(inflateReset) X(inflateEnd)
#define BROTLI_FUNCTIONS(X)           \
    X(BrotliDecoderCreateInstance)    \
    X(BrotliDecoderDecompressStream)  \
    X(BrotliDecoderDestroyInstance)
#define ZSTD_FUNCTIONS(X)     \
    X(ZSTD_createDCtx)        \
    X(ZSTD_freeDCtx)          \
    X(ZSTD_DCtx_setParameter) \
    X(ZSTD_DCtx_reset)        \
    X(ZSTD_decompressStream)  \
    X(ZSTD_isError)

#define DECLARE(name) __typeof__(&name) name;
static struct {
    ZLIB_FUNCTIONS(DECLARE)
    BROTLI_FUNCTIONS(DECLARE)
    ZSTD_FUNCTIONS(DECLARE)
} library;
#undef DECLARE

static pthread_once_t zlib_once = PTHREAD_ONCE_INIT;
static pthread_once_t brotli_once = PTHREAD_ONCE_INIT;
static pthread_once_t zstd_once = PTHREAD_ONCE_INIT;
static bool has_zlib, has_brotli, has_zstd;

// Never closed: what was decoded with them may be in use until the process ends.
#define OPEN(which, file, functions)                           \
    static void open_##which(void) {                           \
        void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);    \
        bool is_whole = handle != NULL;                        \
        if (!handle) return;                                   \
        functions(BIND)                                        \
        has_##which = is_whole;                                \
    }
#define BIND(name)                                        \
    *(void **)&library.name = dlsym(handle, #name);       \
    if (!library.name) is_whole = false;

OPEN(zlib, LIBRARY("z", "1"), ZLIB_FUNCTIONS)
OPEN(brotli, LIBRARY("brotlidec", "1"), BROTLI_FUNCTIONS)
OPEN(zstd, LIBRARY("zstd", "1"), ZSTD_FUNCTIONS)

struct httpdns_decoder {
    httpdns_coding coding;
    z_stream zlib;
    BrotliDecoderState *brotli;
    ZSTD_DCtx *zstd;
};

bool httpdns_coding_available(httpdns_coding coding) {
    switch (coding) {
    case HTTPDNS_CODING_GZIP:
    case HTTPDNS_CODING_ZLIB:
    case HTTPDNS_CODING_RAW_DEFLATE:
        pthread_once(&zlib_once, open_zlib);
        return has_zlib;
    case HTTPDNS_CODING_BROTLI:
        pthread_once(&brotli_once, open_brotli);
        return has_brotli;
    case HTTPDNS_CODING_ZSTD:
        pthread_once(&zstd_once, open_zstd);
        return has_zstd;
    }
    return false;
}

// Source: zlib.h, inflateInit2: negative for raw deflate, 16 more for gzip.
static int window_bits(httpdns_coding coding) {
    switch (coding) {
    case HTTPDNS_CODING_GZIP: return MAX_WBITS + 16;
    case HTTPDNS_CODING_RAW_DEFLATE: return -MAX_WBITS;
    default: return MAX_WBITS;
    }
}

static bool set_up(httpdns_decoder *decoder) {
    switch (decoder->coding) {
    case HTTPDNS_CODING_BROTLI:
        decoder->brotli = library.BrotliDecoderCreateInstance(NULL, NULL, NULL);
        return decoder->brotli != NULL;
    case HTTPDNS_CODING_ZSTD:
        decoder->zstd = library.ZSTD_createDCtx();
        return decoder->zstd
            && !library.ZSTD_isError(library.ZSTD_DCtx_setParameter(
                decoder->zstd, ZSTD_d_windowLogMax, ZSTD_LARGEST_WINDOW));
    default:
        return library.inflateInit2_(
                   &decoder->zlib, window_bits(decoder->coding), ZLIB_VERSION,
                   (int)sizeof(z_stream))
            == Z_OK;
    }
}

httpdns_decoder *httpdns_decoder_new(httpdns_coding coding) {
    if (!httpdns_coding_available(coding)) return NULL;
    httpdns_decoder *decoder = calloc(1, sizeof *decoder);
    if (!decoder) return NULL;
    decoder->coding = coding;
    if (set_up(decoder)) return decoder;
    httpdns_decoder_free(decoder);
    return NULL;
}

void httpdns_decoder_free(httpdns_decoder *decoder) {
    if (!decoder) return;
    switch (decoder->coding) {
    case HTTPDNS_CODING_BROTLI:
        if (decoder->brotli) library.BrotliDecoderDestroyInstance(decoder->brotli);
        break;
    case HTTPDNS_CODING_ZSTD: library.ZSTD_freeDCtx(decoder->zstd); break;
    default: library.inflateEnd(&decoder->zlib); break;
    }
    free(decoder);
}

bool httpdns_decoder_restart(httpdns_decoder *decoder) {
    switch (decoder->coding) {
    case HTTPDNS_CODING_GZIP: return library.inflateReset(&decoder->zlib) == Z_OK;
    case HTTPDNS_CODING_ZSTD:
        return !library.ZSTD_isError(
            library.ZSTD_DCtx_reset(decoder->zstd, ZSTD_reset_session_only));
    default: return false;
    }
}

static httpdns_decoder_state step_zlib(
    z_stream *zlib, const uint8_t *input, size_t input_count, size_t *taken, uint8_t *output,
    size_t output_count, size_t *made) {
    zlib->next_in = (Bytef *)input;
    zlib->avail_in = (uInt)input_count;
    zlib->next_out = output;
    zlib->avail_out = (uInt)output_count;
    int code = library.inflate(zlib, Z_NO_FLUSH);
    *taken = input_count - zlib->avail_in;
    *made = output_count - zlib->avail_out;
    if (code == Z_STREAM_END) return HTTPDNS_DECODER_ENDED;
    // Z_BUF_ERROR says only that nothing could be done. Source: zlib.h, inflate.
    if (code != Z_OK && code != Z_BUF_ERROR) return HTTPDNS_DECODER_BROKEN;
    return zlib->avail_out == 0 ? HTTPDNS_DECODER_FULL : HTTPDNS_DECODER_HUNGRY;
}

static httpdns_decoder_state step_brotli(
    BrotliDecoderState *brotli, const uint8_t *input, size_t input_count, size_t *taken,
    uint8_t *output, size_t output_count, size_t *made) {
    size_t input_left = input_count, output_left = output_count;
    BrotliDecoderResult result = library.BrotliDecoderDecompressStream(
        brotli, &input_left, &input, &output_left, &output, NULL);
    *taken = input_count - input_left;
    *made = output_count - output_left;
    switch (result) {
    case BROTLI_DECODER_RESULT_SUCCESS: return HTTPDNS_DECODER_ENDED;
    case BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT: return HTTPDNS_DECODER_HUNGRY;
    case BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT: return HTTPDNS_DECODER_FULL;
    default: return HTTPDNS_DECODER_BROKEN;
    }
}

static httpdns_decoder_state step_zstd(
    ZSTD_DCtx *zstd, const uint8_t *input, size_t input_count, size_t *taken, uint8_t *output,
    size_t output_count, size_t *made) {
    ZSTD_inBuffer in = {input, input_count, 0};
    ZSTD_outBuffer out = {output, output_count, 0};
    size_t result = library.ZSTD_decompressStream(zstd, &out, &in);
    *taken = in.pos;
    *made = out.pos;
    if (library.ZSTD_isError(result)) return HTTPDNS_DECODER_BROKEN;
    if (result == 0) return HTTPDNS_DECODER_ENDED;
    return out.pos == output_count ? HTTPDNS_DECODER_FULL : HTTPDNS_DECODER_HUNGRY;
}

httpdns_decoder_state httpdns_decoder_step(
    httpdns_decoder *decoder, const uint8_t *input, size_t input_count, size_t *taken,
    uint8_t *output, size_t output_count, size_t *made) {
    switch (decoder->coding) {
    case HTTPDNS_CODING_BROTLI:
        return step_brotli(
            decoder->brotli, input, input_count, taken, output, output_count, made);
    case HTTPDNS_CODING_ZSTD:
        return step_zstd(decoder->zstd, input, input_count, taken, output, output_count, made);
    default:
        return step_zlib(&decoder->zlib, input, input_count, taken, output, output_count, made);
    }
}
