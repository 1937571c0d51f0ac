//! The schema of a journal that a team shares, in PostgreSQL.
//!
//! It has the tables of the file with the same columns, so that the statements are the same. Times are RFC 3339 in UTC, which sort
//! as text under the collation "C".

pub(super) const SCHEMA: &[&str] = &[
    r#"CREATE TABLE attempts (
        idempotency_key TEXT COLLATE "C" PRIMARY KEY,
        origin          TEXT COLLATE "C" NOT NULL,
        profile         TEXT,
        account         TEXT,
        state           TEXT COLLATE "C" NOT NULL,
        request         TEXT NOT NULL,
        request_hash    TEXT NOT NULL,
        asked           TEXT,
        asked_hash      TEXT,
        booking_id      TEXT COLLATE "C",
        http_status     BIGINT,
        created_at      TEXT COLLATE "C" NOT NULL,
        updated_at      TEXT COLLATE "C" NOT NULL,
        forgotten_at    TEXT COLLATE "C")"#,
    r#"CREATE TABLE claims (
        idempotency_key TEXT COLLATE "C" PRIMARY KEY,
        claimed_by      TEXT COLLATE "C" NOT NULL,
        until           BIGINT NOT NULL)"#,
    "CREATE INDEX attempts_created ON attempts (created_at)",
    "CREATE INDEX attempts_unsettled ON attempts (created_at) WHERE state = 'unsettled'",
    "CREATE INDEX attempts_with_guest ON attempts (origin, created_at)
        WHERE state IN ('settled', 'refused', 'abandoned') AND forgotten_at IS NULL",
    "CREATE INDEX attempts_of_booking ON attempts (origin, booking_id) WHERE booking_id IS NOT NULL",
    r#"CREATE TABLE runs (
        idempotency_key TEXT COLLATE "C" NOT NULL,
        number          BIGINT NOT NULL,
        token           TEXT COLLATE "C" NOT NULL,
        account         TEXT,
        username        TEXT COLLATE "C",
        host            TEXT COLLATE "C",
        process         BIGINT,
        outcome         TEXT COLLATE "C" NOT NULL,
        abandoned       BIGINT NOT NULL DEFAULT 0,
        http_status     BIGINT,
        booking_id      TEXT COLLATE "C",
        started_at      TEXT COLLATE "C" NOT NULL,
        ended_at        TEXT COLLATE "C",
        PRIMARY KEY (idempotency_key, number))"#,
    r#"CREATE TABLE bookings (
        origin          TEXT COLLATE "C" NOT NULL,
        id              TEXT COLLATE "C" NOT NULL,
        profile         TEXT,
        idempotency_key TEXT COLLATE "C",
        status          TEXT COLLATE "C" NOT NULL,
        document        TEXT NOT NULL,
        created_at      TEXT COLLATE "C" NOT NULL,
        seen_at         TEXT COLLATE "C" NOT NULL,
        forgotten_at    TEXT COLLATE "C",
        gone_at         TEXT COLLATE "C",
        terms           TEXT,
        day             TEXT COLLATE "C",
        search          TEXT COLLATE "C",
        PRIMARY KEY (origin, id))"#,
    "CREATE INDEX bookings_created ON bookings (origin, created_at, id)",
    "CREATE INDEX bookings_with_guest ON bookings (origin, created_at) WHERE forgotten_at IS NULL",
    "CREATE INDEX bookings_of_status ON bookings (origin, status, created_at, id)",
    "CREATE INDEX bookings_unfinished ON bookings (origin, created_at, id)
        WHERE status NOT IN ('confirmed', 'failed', 'cancelled', 'expired')",
    "CREATE INDEX bookings_unsearched ON bookings (origin, id) WHERE search IS NULL AND forgotten_at IS NULL",
    "CREATE INDEX bookings_gone ON bookings (origin) WHERE gone_at IS NOT NULL",
    r#"CREATE TABLE limits (
        origin    TEXT COLLATE "C" NOT NULL,
        bucket    TEXT COLLATE "C" NOT NULL,
        allowed   BIGINT NOT NULL,
        remaining BIGINT NOT NULL,
        resets_at BIGINT NOT NULL,
        ahead     BIGINT NOT NULL,
        seen_at   BIGINT NOT NULL,
        PRIMARY KEY (origin, bucket))"#,
    r#"CREATE TABLE sightings (
        origin     TEXT COLLATE "C" NOT NULL,
        booking_id TEXT COLLATE "C" NOT NULL,
        number     BIGINT NOT NULL,
        status     TEXT COLLATE "C" NOT NULL,
        facts      TEXT NOT NULL,
        seen_at    TEXT COLLATE "C" NOT NULL,
        PRIMARY KEY (origin, booking_id, number))"#,
    // A request without its guest. One that cannot be read keeps nothing.
    "CREATE FUNCTION without_guest(document TEXT) RETURNS TEXT LANGUAGE plpgsql IMMUTABLE AS $$
    BEGIN
        RETURN (document::jsonb - 'customer' - 'end_user')::text;
    EXCEPTION WHEN OTHERS THEN
        RETURN '{}';
    END $$",
    // What a booking's story needs of its document. It says nothing of the guest.
    "CREATE FUNCTION booking_facts(document TEXT) RETURNS TEXT LANGUAGE plpgsql IMMUTABLE AS $$
    DECLARE whole json;
    BEGIN
        whole := document::json;
        RETURN json_build_object(
            'error_code', whole -> 'error_code', 'error_message', whole -> 'error_message',
            'datetime', whole -> 'datetime', 'party_size', whole -> 'party_size',
            'seating_preference', whole -> 'seating_preference',
            'created_at', whole -> 'created_at', 'updated_at', whole -> 'updated_at')::text;
    EXCEPTION WHEN OTHERS THEN
        RETURN '{}';
    END $$",
    "CREATE FUNCTION booking_seen() RETURNS TRIGGER LANGUAGE plpgsql AS $$
    BEGIN
        INSERT INTO sightings (origin, booking_id, number, status, facts, seen_at)
        SELECT NEW.origin, NEW.id,
               1 + coalesce((SELECT max(number) FROM sightings WHERE origin = NEW.origin AND booking_id = NEW.id), 0),
               NEW.status, booking_facts(NEW.document), NEW.seen_at;
        RETURN NULL;
    END $$",
    "CREATE FUNCTION booking_forgotten() RETURNS TRIGGER LANGUAGE plpgsql AS $$
    BEGIN
        IF TG_OP = 'DELETE' THEN
            DELETE FROM sightings WHERE origin = OLD.origin AND booking_id = OLD.id;
        ELSE
            UPDATE sightings SET facts = '{}' WHERE origin = NEW.origin AND booking_id = NEW.id;
        END IF;
        RETURN NULL;
    END $$",
    "CREATE TRIGGER booking_first_seen AFTER INSERT ON bookings FOR EACH ROW EXECUTE FUNCTION booking_seen()",
    "CREATE TRIGGER booking_seen AFTER UPDATE OF status, document ON bookings FOR EACH ROW
        WHEN (NEW.forgotten_at IS NOT DISTINCT FROM OLD.forgotten_at
              AND (NEW.status <> OLD.status OR NEW.document <> OLD.document))
        EXECUTE FUNCTION booking_seen()",
    "CREATE TRIGGER guest_forgotten AFTER UPDATE OF forgotten_at ON bookings FOR EACH ROW
        WHEN (NEW.forgotten_at IS NOT NULL) EXECUTE FUNCTION booking_forgotten()",
    "CREATE TRIGGER booking_forgotten AFTER DELETE ON bookings FOR EACH ROW EXECUTE FUNCTION booking_forgotten()",
];
