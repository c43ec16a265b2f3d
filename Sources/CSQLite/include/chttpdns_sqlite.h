// What Swift cannot import of SQLite: functions with a variable number of arguments, and the macro
// that asks for a copy.
#ifndef CHTTPDNS_SQLITE_H
#define CHTTPDNS_SQLITE_H

#include <sqlite3.h>

/// Binds a copy of the octets; no octets bind an empty blob, never NULL.
int httpdns_sqlite_bind_octets(
    sqlite3_stmt *_Nonnull statement, int index, const unsigned char *_Nullable octets, int count);
/// Binds a copy of text in UTF-8.
int httpdns_sqlite_bind_text(
    sqlite3_stmt *_Nonnull statement, int index, const char *_Nonnull text, int count);
/// Nothing in the file may act by itself: no triggers, no views, no functions named in its schema.
void httpdns_sqlite_distrust(sqlite3 *_Nonnull database);
/// The coming close leaves file and log as they are: for a file that is damaged.
void httpdns_sqlite_leave_log(sqlite3 *_Nonnull database);
/// The first octets of the file, through the descriptor that is open already; zeros where it is shorter.
/// A result of SQLite's.
int httpdns_sqlite_beginning(sqlite3 *_Nonnull database, unsigned char *_Nonnull octets, int count);

#endif
