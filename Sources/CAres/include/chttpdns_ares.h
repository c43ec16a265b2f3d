#ifndef CHTTPDNS_ARES_H
#define CHTTPDNS_ARES_H

#include <ares.h>

#endif
