#include "chttpdns_sqlite.h"

int httpdns_sqlite_bind_octets(
    sqlite3_stmt *statement, int index, const unsigned char *octets, int count) {
    return sqlite3_bind_blob(statement, index, count > 0 ? octets : (const void *)"", count, SQLITE_TRANSIENT);
}

int httpdns_sqlite_bind_text(
    sqlite3_stmt *statement, int index, const char *text, int count) {
    return sqlite3_bind_text(statement, index, text, count, SQLITE_TRANSIENT);
}

void httpdns_sqlite_distrust(sqlite3 *database) {
    sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
    sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)0);
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, (int *)0);
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, (int *)0);
}

void httpdns_sqlite_leave_log(sqlite3 *database) {
    sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}

int httpdns_sqlite_beginning(sqlite3 *database, unsigned char *octets, int count) {
    sqlite3_file *file = (sqlite3_file *)0;
    int status = sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (status != SQLITE_OK) return status;
    if (!file || !file->pMethods) return SQLITE_CANTOPEN;
    status = file->pMethods->xRead(file, octets, count, 0);
    // The rest is zeros then. Source: sqlite3_io_methods.
    return status == SQLITE_IOERR_SHORT_READ ? SQLITE_OK : status;
}
