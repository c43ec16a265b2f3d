// What happened, as data: records of exchanges, redacted and capped.
