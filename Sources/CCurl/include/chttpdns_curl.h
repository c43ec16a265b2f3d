#ifndef CHTTPDNS_CURL_H
#define CHTTPDNS_CURL_H

#include <stdint.h>

#endif
