#include "chttpdns_psl.h"
