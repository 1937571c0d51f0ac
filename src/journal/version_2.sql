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
ALTER TABLE runs ADD COLUMN request_id TEXT;
-- What was sent to change a booking (an answer, a change, a cancellation), and what came of it.
CREATE TABLE writes (
    origin     TEXT NOT NULL,
    booking_id TEXT NOT NULL,
    sent_at    TEXT NOT NULL,
    kind       TEXT NOT NULL,
    outcome    TEXT NOT NULL,
    -- The reason, what was asked for, the pause that it answered, the error. Never a code or a payment response.
    facts      TEXT NOT NULL,
    PRIMARY KEY (origin, booking_id, sent_at)
) WITHOUT ROWID;
CREATE INDEX writes_with_facts ON writes (origin, sent_at) WHERE facts <> '{}';
