CREATE TABLE IF NOT EXISTS bookctl_journal (
    one           INTEGER PRIMARY KEY CHECK (one = 1),
    version       INTEGER NOT NULL,
    written_by    TEXT NOT NULL,
    readable_from INTEGER NOT NULL
);
INSERT INTO bookctl_journal (one, version, written_by, readable_from) VALUES (1, 0, '', 0) ON CONFLICT (one) DO NOTHING;
CREATE TABLE attempts (
    idempotency_key TEXT PRIMARY KEY,
    origin          TEXT NOT NULL,
    profile         TEXT,
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
    forgotten_at    TEXT
) WITHOUT ROWID;
CREATE TABLE runs (
    idempotency_key TEXT NOT NULL,
    number          INTEGER NOT NULL,
    token           TEXT NOT NULL,
    account         TEXT,
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
CREATE TABLE claims (
    idempotency_key TEXT PRIMARY KEY,
    claimed_by      TEXT NOT NULL,
    until           INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE bookings (
    origin          TEXT NOT NULL,
    id              TEXT NOT NULL,
    idempotency_key TEXT,
    status          TEXT NOT NULL,
    document        TEXT NOT NULL,
    created_at      TEXT NOT NULL,
    seen_at         TEXT NOT NULL,
    forgotten_at    TEXT,
    terms           TEXT,
    changes         TEXT,
    visit           TEXT,
    guest           TEXT,
    email           TEXT,
    phone           TEXT,
    venue           TEXT,
    folded_id       TEXT,
    PRIMARY KEY (origin, id)
) WITHOUT ROWID;
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
CREATE INDEX bookings_search ON bookings
    (origin, created_at, id, status, visit, guest, email, phone, venue, folded_id) WHERE guest IS NOT NULL;
CREATE TABLE batch_rows (
    origin          TEXT NOT NULL,
    batch           TEXT NOT NULL,
    row_key         TEXT NOT NULL,
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
CREATE TABLE writes (
    origin     TEXT NOT NULL,
    booking_id TEXT NOT NULL,
    sent_at    TEXT NOT NULL,
    kind       TEXT NOT NULL,
    outcome    TEXT NOT NULL,
    facts      TEXT NOT NULL,
    PRIMARY KEY (origin, booking_id, sent_at)
) WITHOUT ROWID;
CREATE INDEX writes_with_facts ON writes (origin, sent_at) WHERE facts <> '{}';
UPDATE bookctl_journal SET version = 2, written_by = '0.1.0', readable_from = 1;
INSERT INTO attempts (idempotency_key, origin, state, request, request_hash, booking_id, http_status, created_at, updated_at) VALUES
    ('order-1', 'sandbox', 'resolved', '{"venue_id":"ven_confirms","datetime":"2030-01-01T19:30:00+00:00","party_size":2,"customer":{"name":"Ada Lovelace"}}', 'h1', 'bk_1', 201, '2026-11-01T10:00:00Z', '2026-11-01T10:00:01Z'),
    ('order-2', 'sandbox', 'unresolved', '{"venue_id":"ven_confirms","provider":"provider_a","datetime":"2030-01-02T19:30:00+00:00","availability_id":"slot_8070de3c3800b56a545f1c0b72cf","party_size":2,"customer":{"name":"Grace Hopper"}}', '5d20924833a8d61853e3885849632bbebad537fef740ca39b6298af4978beb2a', NULL, NULL, '2026-11-01T10:01:00Z', '2026-11-01T10:01:00Z');
INSERT INTO runs (idempotency_key, number, token, outcome, http_status, booking_id, started_at, ended_at) VALUES
    ('order-1', 1, 't1', 'booked', 201, 'bk_1', '2026-11-01T10:00:00Z', '2026-11-01T10:00:01Z'),
    ('order-2', 1, 't2', 'under_way', NULL, NULL, '2026-11-01T10:01:00Z', NULL);
INSERT INTO bookings (origin, id, idempotency_key, status, document, created_at, seen_at, visit, guest, venue, folded_id) VALUES
    ('sandbox', 'bk_1', 'order-1', 'confirmed', '{"id":"bk_1","status":"confirmed","customer":{"name":"Ada Lovelace"}}', '2026-11-01T10:00:00Z', '2026-11-01T10:00:01Z', '2030-01-01T19:30', 'ada lovelace', 'ven_confirms', 'bk_1');
INSERT INTO writes (origin, booking_id, sent_at, kind, outcome, facts) VALUES
    ('sandbox', 'bk_1', '2026-11-01T10:05:00Z', 'modify', 'rejected', '{"changes":{"party_size":4},"error":"409"}');
PRAGMA user_version = 2;
