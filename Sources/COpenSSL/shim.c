#include "chttpdns_openssl.h"
