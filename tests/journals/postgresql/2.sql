CREATE TABLE IF NOT EXISTS bookctl_journal (
    one           BIGINT PRIMARY KEY CHECK (one = 1),
    version       BIGINT NOT NULL,
    written_by    TEXT COLLATE "C" NOT NULL,
    readable_from BIGINT NOT NULL
);
INSERT INTO bookctl_journal (one, version, written_by, readable_from) VALUES (1, 0, '', 0) ON CONFLICT (one) DO NOTHING;


CREATE TABLE attempts (
    idempotency_key TEXT COLLATE "C" PRIMARY KEY,
    origin          TEXT COLLATE "C" NOT NULL,
    profile         TEXT COLLATE "C",
    account         TEXT COLLATE "C",
    state           TEXT COLLATE "C" NOT NULL,
    request         TEXT COLLATE "C" NOT NULL,
    request_hash    TEXT COLLATE "C" NOT NULL,
    asked           TEXT COLLATE "C",
    asked_hash      TEXT COLLATE "C",
    booking_id      TEXT COLLATE "C",
    http_status     BIGINT,
    created_at      TEXT COLLATE "C" NOT NULL,
    updated_at      TEXT COLLATE "C" NOT NULL,
    forgotten_at    TEXT COLLATE "C"
);

CREATE TABLE runs (
    idempotency_key TEXT COLLATE "C" NOT NULL,
    number          BIGINT NOT NULL,
    token           TEXT COLLATE "C" NOT NULL,
    account         TEXT COLLATE "C",
    username        TEXT COLLATE "C",
    host            TEXT COLLATE "C",
    process         BIGINT,
    outcome         TEXT COLLATE "C" NOT NULL,
    abandoned       BIGINT NOT NULL DEFAULT 0,
    http_status     BIGINT,
    error_code      TEXT COLLATE "C",
    booking_id      TEXT COLLATE "C",
    started_at      TEXT COLLATE "C" NOT NULL,
    ended_at        TEXT COLLATE "C",
    PRIMARY KEY (idempotency_key, number)
);

CREATE TABLE claims (
    idempotency_key TEXT COLLATE "C" PRIMARY KEY,
    claimed_by      TEXT COLLATE "C" NOT NULL,
    until           BIGINT NOT NULL
);

CREATE TABLE bookings (
    origin          TEXT COLLATE "C" NOT NULL,
    id              TEXT COLLATE "C" NOT NULL,
    idempotency_key TEXT COLLATE "C",
    status          TEXT COLLATE "C" NOT NULL,
    document        TEXT COLLATE "C" NOT NULL,
    created_at      TEXT COLLATE "C" NOT NULL,
    seen_at         TEXT COLLATE "C" NOT NULL,
    forgotten_at    TEXT COLLATE "C",
    terms           TEXT COLLATE "C",
    changes         TEXT COLLATE "C",
    visit           TEXT COLLATE "C",
    guest           TEXT COLLATE "C",
    email           TEXT COLLATE "C",
    phone           TEXT COLLATE "C",
    venue           TEXT COLLATE "C",
    folded_id       TEXT COLLATE "C",
    PRIMARY KEY (origin, id)
);

CREATE TABLE limits (
    origin    TEXT COLLATE "C" NOT NULL,
    bucket    TEXT COLLATE "C" NOT NULL,
    allowed   BIGINT NOT NULL,
    remaining BIGINT NOT NULL,
    resets_at BIGINT NOT NULL,
    ahead     BIGINT NOT NULL,
    seen_at   BIGINT NOT NULL,
    PRIMARY KEY (origin, bucket)
);

CREATE TABLE sightings (
    origin     TEXT COLLATE "C" NOT NULL,
    booking_id TEXT COLLATE "C" NOT NULL,
    number     BIGINT NOT NULL,
    status     TEXT COLLATE "C" NOT NULL,
    facts      TEXT COLLATE "C" NOT NULL,
    seen_at    TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (origin, booking_id, number)
);

CREATE INDEX attempts_unresolved ON attempts (created_at) WHERE state = 'unresolved';
CREATE INDEX attempts_with_guest ON attempts (origin, created_at)
    WHERE state IN ('resolved', 'refused', 'abandoned') AND forgotten_at IS NULL;
CREATE INDEX attempts_of_booking ON attempts (origin, booking_id) WHERE booking_id IS NOT NULL;
CREATE INDEX bookings_created ON bookings (origin, created_at, id);
CREATE INDEX bookings_with_guest ON bookings (origin, created_at) WHERE forgotten_at IS NULL;
CREATE INDEX bookings_of_status ON bookings (origin, status, created_at, id);
CREATE INDEX attempts_created ON attempts (created_at);
CREATE FUNCTION without_guest(document TEXT) RETURNS TEXT LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN (document::jsonb - 'customer' - 'end_user')::text;
EXCEPTION WHEN OTHERS THEN
    RETURN '{}';
END $$;
CREATE TABLE batch_rows (
    origin          TEXT COLLATE "C" NOT NULL,
    batch           TEXT COLLATE "C" NOT NULL,
    row_key         TEXT COLLATE "C" NOT NULL,
    idempotency_key TEXT COLLATE "C",
    exit_code       BIGINT,
    booking_id      TEXT COLLATE "C",
    booking         TEXT COLLATE "C",
    error           TEXT COLLATE "C",
    seen_at         TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (origin, batch, row_key)
);
CREATE INDEX batch_rows_with_guest ON batch_rows (origin, seen_at) WHERE exit_code IS NOT NULL;
ALTER TABLE runs ADD COLUMN request_id TEXT COLLATE "C";
CREATE TABLE writes (
    origin     TEXT COLLATE "C" NOT NULL,
    booking_id TEXT COLLATE "C" NOT NULL,
    sent_at    TEXT COLLATE "C" NOT NULL,
    kind       TEXT COLLATE "C" NOT NULL,
    outcome    TEXT COLLATE "C" NOT NULL,
    facts      TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (origin, booking_id, sent_at)
);
CREATE INDEX writes_with_facts ON writes (origin, sent_at) WHERE facts <> '{}';
INSERT INTO attempts (idempotency_key, origin, state, request, request_hash, booking_id, http_status, created_at, updated_at) VALUES
    ('order-1', 'ORIGIN', 'resolved', '{"venue_id":"ven_confirms","datetime":"2030-01-01T19:30:00+00:00","party_size":2,"customer":{"name":"Ada Lovelace"}}', 'h1', 'bk_1', 201, '2026-11-01T10:00:00Z', '2026-11-01T10:00:01Z'),
    ('order-2', 'ORIGIN', 'unresolved', '{"venue_id":"ven_confirms","provider":"provider_a","datetime":"2030-01-02T19:30:00+00:00","availability_id":"slot_8070de3c3800b56a545f1c0b72cf","party_size":2,"customer":{"name":"Grace Hopper"}}', '5d20924833a8d61853e3885849632bbebad537fef740ca39b6298af4978beb2a', NULL, NULL, '2026-11-01T10:01:00Z', '2026-11-01T10:01:00Z');
INSERT INTO runs (idempotency_key, number, token, outcome, http_status, booking_id, started_at, ended_at) VALUES
    ('order-1', 1, 't1', 'booked', 201, 'bk_1', '2026-11-01T10:00:00Z', '2026-11-01T10:00:01Z'),
    ('order-2', 1, 't2', 'under_way', NULL, NULL, '2026-11-01T10:01:00Z', NULL);
INSERT INTO bookings (origin, id, idempotency_key, status, document, created_at, seen_at, visit, guest, venue, folded_id) VALUES
    ('ORIGIN', 'bk_1', 'order-1', 'confirmed', '{"id":"bk_1","status":"confirmed","customer":{"name":"Ada Lovelace"}}', '2026-11-01T10:00:00Z', '2026-11-01T10:00:01Z', '2030-01-01T19:30', 'ada lovelace', 'ven_confirms', 'bk_1');
INSERT INTO writes (origin, booking_id, sent_at, kind, outcome, facts) VALUES
    ('ORIGIN', 'bk_1', '2026-11-01T10:05:00Z', 'modify', 'rejected', '{"changes":{"party_size":4},"error":"409"}');
UPDATE bookctl_journal SET version = 2, written_by = '0.1.0', readable_from = 1;
