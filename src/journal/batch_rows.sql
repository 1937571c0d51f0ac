-- The rows of each batch, and the result of each as it was printed: a booking, an error, or both. The row without a key is the
-- batch itself, with its exit code.
CREATE TABLE batch_rows (
    origin          TEXT NOT NULL,
    -- Its name, or the path of its file.
    batch           TEXT NOT NULL,
    row_key         TEXT NOT NULL,
    -- The last key that the row was sent under.
    idempotency_key TEXT,
    exit_code       INTEGER,
    booking_id      TEXT,
    booking         TEXT,
    error           TEXT,
    seen_at         TEXT NOT NULL,
    PRIMARY KEY (origin, batch, row_key)
) WITHOUT ROWID;
CREATE INDEX batch_rows_with_guest ON batch_rows (origin, seen_at) WHERE exit_code IS NOT NULL;
