#include "chttpdns_ares.h"
