#ifndef CHTTPDNS_PSL_H
#define CHTTPDNS_PSL_H

#include <libpsl.h>

#endif
