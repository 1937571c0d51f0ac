-- The tables of the journal, in a file and in PostgreSQL: `team.rs` writes the types as PostgreSQL names them.
-- Times are RFC 3339 in UTC, unless they are numbers.
--
-- This is version 1, which stays as it is: what later versions add is in `MIGRATIONS`. The indexes come last, because that
-- is the order in which `VACUUM` writes them: every journal of a version has the same first page but for its header.

-- What was to be booked. A request in the service's own shape has what was asked for in the contract's shape in `asked`:
-- answers are compared with it, and its hash tells whether a later request under the same key asks for the same.
--
-- `state`, `booking_id` and `http_status` are derived from the runs, in the transaction that changes them.
CREATE TABLE attempts (
    idempotency_key TEXT PRIMARY KEY,
    origin          TEXT NOT NULL,
    profile         TEXT,
    -- The last run's account.
    account         TEXT,
    state           TEXT NOT NULL,
    request         TEXT NOT NULL,
    request_hash    TEXT NOT NULL,
    asked           TEXT,
    asked_hash      TEXT,
    booking_id      TEXT,
    http_status     INTEGER,
    created_at      TEXT NOT NULL,
    updated_at      TEXT NOT NULL,
    -- When the guest was deleted.
    forgotten_at    TEXT
) WITHOUT ROWID;

-- Each time that an attempt was sent.
CREATE TABLE runs (
    idempotency_key TEXT NOT NULL,
    number          INTEGER NOT NULL,
    -- What distinguishes it from every other run.
    token           TEXT NOT NULL,
    -- The fingerprint of the API key: another organization has bookings of its own under the same idempotency key.
    account         TEXT,
    -- Who began it, and the id of the process.
    username        TEXT,
    host            TEXT,
    process         INTEGER,
    outcome         TEXT NOT NULL,
    abandoned       INTEGER NOT NULL DEFAULT 0,
    http_status     INTEGER,
    error_code      TEXT,
    booking_id      TEXT,
    started_at      TEXT NOT NULL,
    ended_at        TEXT,
    PRIMARY KEY (idempotency_key, number)
) WITHOUT ROWID;

-- Who resumes an attempt: other machines may share the journal.
CREATE TABLE claims (
    idempotency_key TEXT PRIMARY KEY,
    claimed_by      TEXT NOT NULL,
    until           INTEGER NOT NULL
) WITHOUT ROWID;

-- Bookings as they were last seen.
CREATE TABLE bookings (
    origin          TEXT NOT NULL,
    id              TEXT NOT NULL,
    idempotency_key TEXT,
    status          TEXT NOT NULL,
    document        TEXT NOT NULL,
    created_at      TEXT NOT NULL,
    seen_at         TEXT NOT NULL,
    forgotten_at    TEXT,
    -- The terms of the slot that was booked, and when the booking was cancelled.
    terms           TEXT,
    -- What changes asked for that the service accepted: it may not show them.
    changes         TEXT,
    -- What it is searched by: the time of the visit by the venue's clock, such as 2026-12-01T19:30, and texts without case
    -- and accents.
    visit           TEXT,
    guest           TEXT,
    email           TEXT,
    phone           TEXT,
    venue           TEXT,
    folded_id       TEXT,
    PRIMARY KEY (origin, id)
) WITHOUT ROWID;

-- What is left of the rate limits of a service, which all API keys of an organization share. `resets_at` is in milliseconds
-- of the service's clock, which is `ahead` of ours.
CREATE TABLE limits (
    origin    TEXT NOT NULL,
    bucket    TEXT NOT NULL,
    allowed   INTEGER NOT NULL,
    remaining INTEGER NOT NULL,
    resets_at INTEGER NOT NULL,
    ahead     INTEGER NOT NULL,
    seen_at   INTEGER NOT NULL,
    PRIMARY KEY (origin, bucket)
) WITHOUT ROWID;

-- Each state in which a booking was seen, for its story.
CREATE TABLE sightings (
    origin     TEXT NOT NULL,
    booking_id TEXT NOT NULL,
    number     INTEGER NOT NULL,
    status     TEXT NOT NULL,
    facts      TEXT NOT NULL,
    seen_at    TEXT NOT NULL,
    PRIMARY KEY (origin, booking_id, number)
) WITHOUT ROWID;

CREATE INDEX attempts_unresolved ON attempts (created_at) WHERE state = 'unresolved';
CREATE INDEX attempts_with_guest ON attempts (origin, created_at)
    WHERE state IN ('resolved', 'refused', 'abandoned') AND forgotten_at IS NULL;
CREATE INDEX attempts_of_booking ON attempts (origin, booking_id) WHERE booking_id IS NOT NULL;
CREATE INDEX bookings_created ON bookings (origin, created_at, id);
CREATE INDEX bookings_with_guest ON bookings (origin, created_at) WHERE forgotten_at IS NULL;
CREATE INDEX bookings_of_status ON bookings (origin, status, created_at, id);
