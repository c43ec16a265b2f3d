#include "chttpdns_idn2.h"
