// The decoders of HTTP's content codings, behind one shape: zlib, libbrotli, libzstd. Each library is
// opened when its coding is met first, and never linked: a program that meets none starts without them.
#ifndef CHTTPDNS_CODING_H
#define CHTTPDNS_CODING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    HTTPDNS_CODING_GZIP,
    HTTPDNS_CODING_ZLIB,
    HTTPDNS_CODING_RAW_DEFLATE,
    HTTPDNS_CODING_BROTLI,
    HTTPDNS_CODING_ZSTD,
} httpdns_coding;

typedef enum {
    // All input was taken, and what it holds was put out.
    HTTPDNS_DECODER_HUNGRY,
    // The room for output is used up; there may be more.
    HTTPDNS_DECODER_FULL,
    // The stream (gzip member, zstd frame) is whole; input behind it was not touched.
    HTTPDNS_DECODER_ENDED,
    HTTPDNS_DECODER_BROKEN,
} httpdns_decoder_state;

typedef struct httpdns_decoder httpdns_decoder;

// False when the library is not there or too old.
bool httpdns_coding_available(httpdns_coding coding);

// NULL when there is no library or no memory.
httpdns_decoder *httpdns_decoder_new(httpdns_coding coding);
void httpdns_decoder_free(httpdns_decoder *decoder);

// Begins the next member or frame; false when the coding has none, or on failure.
bool httpdns_decoder_restart(httpdns_decoder *decoder);

// Neither count may be beyond 1 GiB.
httpdns_decoder_state httpdns_decoder_step(
    httpdns_decoder *decoder, const uint8_t *input, size_t input_count, size_t *taken,
    uint8_t *output, size_t output_count, size_t *made);

#endif
