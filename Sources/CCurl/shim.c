#include "chttpdns_curl.h"
