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
