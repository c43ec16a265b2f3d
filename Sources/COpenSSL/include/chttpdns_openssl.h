#ifndef CHTTPDNS_OPENSSL_H
#define CHTTPDNS_OPENSSL_H

#include <openssl/ssl.h>

#endif
