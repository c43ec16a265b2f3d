#ifndef CHTTPDNS_IDN2_H
#define CHTTPDNS_IDN2_H

#include <idn2.h>

#endif
