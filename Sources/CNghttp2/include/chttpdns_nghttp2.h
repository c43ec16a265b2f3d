// libnghttp2 as it is: framing, HPACK and flow control of HTTP/2, without any I/O. All functions of one
// session are called on one thread.
#ifndef CHTTPDNS_NGHTTP2_H
#define CHTTPDNS_NGHTTP2_H

#include <nghttp2/nghttp2.h>

/// What a frame's header states; nghttp2_frame is a union.
uint8_t chttpdns_frame_type(const nghttp2_frame *_Nonnull frame);
uint8_t chttpdns_frame_flags(const nghttp2_frame *_Nonnull frame);
int32_t chttpdns_frame_stream(const nghttp2_frame *_Nonnull frame);

#endif
