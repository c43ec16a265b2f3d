#ifndef CHTTPDNS_OPENSSL_H
#define CHTTPDNS_OPENSSL_H

#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/objects.h>
#include <openssl/pem.h>
#include <openssl/provider.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include "chttpdns_openssl_trust.h"

#include "chttpdns_openssl_lab.h"
#include "chttpdns_openssl_hello.h"
#include "chttpdns_openssl_stream.h"

#include "chttpdns_openssl_lab_ciphers.h"
#include "chttpdns_openssl_lab_stamps.h"
#include "chttpdns_openssl_lab_status.h"

#include "chttpdns_openssl_revocation.h"

#endif
