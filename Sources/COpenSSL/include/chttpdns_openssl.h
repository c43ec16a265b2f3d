#ifndef CHTTPDNS_OPENSSL_H
#define CHTTPDNS_OPENSSL_H

#include <openssl/ssl.h>

#include "chttpdns_openssl_lab.h"

#endif
