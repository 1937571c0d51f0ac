-- Times are RFC 3339 in UTC, unless they are numbers.

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
CREATE INDEX attempts_unsettled ON attempts (created_at) WHERE state = 'unsettled';
CREATE INDEX attempts_with_guest ON attempts (origin, created_at)
    WHERE state IN ('settled', 'refused', 'abandoned') AND forgotten_at IS NULL;
CREATE INDEX attempts_of_booking ON attempts (origin, booking_id) WHERE booking_id IS NOT NULL;

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
    profile         TEXT,
    idempotency_key TEXT,
    status          TEXT NOT NULL,
    document        TEXT NOT NULL,
    created_at      TEXT NOT NULL,
    seen_at         TEXT NOT NULL,
    forgotten_at    TEXT,
    -- When the service was seen to have lost it.
    gone_at         TEXT,
    -- The terms of the slot that was booked, and when the booking was cancelled.
    terms           TEXT,
    -- What it is searched by. NULL until it is searched for the first time after it was stored, so that a booking request does
    -- not write it.
    day             TEXT,
    search          TEXT,
    PRIMARY KEY (origin, id)
) WITHOUT ROWID;
CREATE INDEX bookings_created ON bookings (origin, created_at);
CREATE INDEX bookings_with_guest ON bookings (origin, created_at) WHERE forgotten_at IS NULL;
CREATE INDEX bookings_of_status ON bookings (origin, status, created_at);
CREATE INDEX bookings_unfinished ON bookings (origin, created_at)
    WHERE status NOT IN ('confirmed', 'failed', 'cancelled', 'expired');
CREATE INDEX bookings_gone ON bookings (origin) WHERE gone_at IS NOT NULL;
CREATE INDEX bookings_unsearched ON bookings (origin, id) WHERE search IS NULL AND forgotten_at IS NULL;
-- All that a search looks at, so that it reads no documents.
CREATE INDEX bookings_search ON bookings (origin, created_at, id, gone_at, status, day, search) WHERE search IS NOT NULL;

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

-- Each state in which a booking was seen, for its story. Triggers keep it, so that no command can forget to, and delete it
-- together with the guest.
CREATE TABLE sightings (
    origin     TEXT NOT NULL,
    booking_id TEXT NOT NULL,
    number     INTEGER NOT NULL,
    status     TEXT NOT NULL,
    facts      TEXT NOT NULL,
    seen_at    TEXT NOT NULL,
    PRIMARY KEY (origin, booking_id, number)
) WITHOUT ROWID;

-- The next row of `sightings` for each booking. Its facts say nothing of the guest.
CREATE VIEW next_sightings (origin, booking_id, number, status, facts, seen_at) AS
    SELECT origin, id,
           1 + coalesce((SELECT max(number) FROM sightings
                         WHERE sightings.origin = bookings.origin AND booking_id = bookings.id), 0),
           status,
           iif(json_valid(document), json_object(
               'error_code', json_extract(document, '$.error_code'),
               'error_message', json_extract(document, '$.error_message'),
               'datetime', json_extract(document, '$.datetime'),
               'party_size', json_extract(document, '$.party_size'),
               'seating_preference', json_extract(document, '$.seating_preference'),
               'created_at', json_extract(document, '$.created_at'),
               'updated_at', json_extract(document, '$.updated_at')), '{}'),
           seen_at
    FROM bookings;
CREATE TRIGGER booking_first_seen AFTER INSERT ON bookings BEGIN
    INSERT INTO sightings SELECT * FROM next_sightings WHERE origin = NEW.origin AND booking_id = NEW.id;
END;
CREATE TRIGGER booking_seen AFTER UPDATE OF status, document ON bookings
    WHEN NEW.forgotten_at IS OLD.forgotten_at AND (NEW.status <> OLD.status OR NEW.document <> OLD.document)
BEGIN
    INSERT INTO sightings SELECT * FROM next_sightings WHERE origin = NEW.origin AND booking_id = NEW.id;
END;
CREATE TRIGGER guest_forgotten AFTER UPDATE OF forgotten_at ON bookings WHEN NEW.forgotten_at IS NOT NULL BEGIN
    UPDATE sightings SET facts = '{}' WHERE origin = NEW.origin AND booking_id = NEW.id;
END;
CREATE TRIGGER booking_forgotten AFTER DELETE ON bookings BEGIN
    DELETE FROM sightings WHERE origin = OLD.origin AND booking_id = OLD.id;
END;
