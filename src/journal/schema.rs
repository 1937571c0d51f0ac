//! The schema of the journal, as steps from each version to the next.

/// The migrations of the journal. Each brings a journal from the previous version to the next; a new journal runs all
/// of them.
pub(super) const STEPS: &[&str] = &[
    FIRST,
    BOOKINGS_AND_LIMITS,
    GUESTS,
    ACCOUNTS,
    RUNS,
    ASKED,
    SEARCH,
    SIGHTINGS,
    NO_RECENT_ROWS,
    MAKERS,
    SEARCH_BLOCKS,
    APOSTROPHES,
    NO_BLOCKS,
];
/// The first version: attempts, and what searches returned.
const FIRST: &str = "
CREATE TABLE attempts (
    idempotency_key TEXT PRIMARY KEY,
    origin          TEXT NOT NULL,
    profile         TEXT,
    state           TEXT NOT NULL,
    request         TEXT NOT NULL,
    request_hash    TEXT NOT NULL,
    booking_id      TEXT,
    http_status     INTEGER,
    doubted         INTEGER NOT NULL DEFAULT 0,
    created_at      TEXT NOT NULL,
    updated_at      TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX attempts_unsettled ON attempts (created_at) WHERE state = 'unsettled';
CREATE TABLE venues (
    origin   TEXT NOT NULL,
    id       TEXT NOT NULL,
    document TEXT NOT NULL,
    seen_at  INTEGER NOT NULL,
    PRIMARY KEY (origin, id)
) WITHOUT ROWID;
CREATE TABLE slots (
    origin   TEXT NOT NULL,
    id       TEXT NOT NULL,
    venue_id TEXT NOT NULL,
    provider TEXT,
    party_size INTEGER NOT NULL,
    document TEXT NOT NULL,
    seen_at  INTEGER NOT NULL,
    PRIMARY KEY (origin, id)
) WITHOUT ROWID;
CREATE INDEX slots_seen ON slots (seen_at);
CREATE TABLE lists (
    origin   TEXT NOT NULL,
    kind     TEXT NOT NULL,
    position INTEGER NOT NULL,
    id       TEXT NOT NULL,
    PRIMARY KEY (origin, kind, position)
) WITHOUT ROWID;
";
/// Bookings of this machine, and rate limits.
///
/// `document` is the booking as last seen. `resets_at` is in milliseconds of the service's clock, which is `ahead` of
/// ours. `account` distinguishes the API keys of an origin without containing one.
const BOOKINGS_AND_LIMITS: &str = "
CREATE TABLE bookings (
    origin          TEXT NOT NULL,
    id              TEXT NOT NULL,
    profile         TEXT,
    idempotency_key TEXT,
    status          TEXT NOT NULL,
    document        TEXT NOT NULL,
    created_at      TEXT NOT NULL,
    seen_at         TEXT NOT NULL,
    PRIMARY KEY (origin, id)
) WITHOUT ROWID;
CREATE INDEX bookings_created ON bookings (origin, created_at);
CREATE TABLE limits (
    origin    TEXT NOT NULL,
    account   TEXT NOT NULL,
    bucket    TEXT NOT NULL,
    allowed   INTEGER NOT NULL,
    remaining INTEGER NOT NULL,
    resets_at INTEGER NOT NULL,
    ahead     INTEGER NOT NULL,
    seen_at   INTEGER NOT NULL,
    PRIMARY KEY (origin, account, bucket)
) WITHOUT ROWID;
";

/// When guests were deleted, and indexes to find guests to delete and bookings by status.
const GUESTS: &str = "
ALTER TABLE attempts ADD COLUMN forgotten_at TEXT;
ALTER TABLE bookings ADD COLUMN forgotten_at TEXT;
CREATE INDEX attempts_with_guest ON attempts (origin, created_at) WHERE state IN ('settled', 'refused', 'abandoned') AND forgotten_at IS NULL;
CREATE INDEX attempts_of_booking ON attempts (origin, booking_id) WHERE booking_id IS NOT NULL;
CREATE INDEX bookings_with_guest ON bookings (origin, created_at) WHERE forgotten_at IS NULL;
CREATE INDEX bookings_of_status ON bookings (origin, status, created_at);
CREATE INDEX bookings_unfinished ON bookings (origin, created_at)
    WHERE status NOT IN ('confirmed', 'failed', 'cancelled', 'expired');
";

/// The account of an attempt, as in `limits`. Another organization has bookings of its own under the same idempotency
/// key.
const ACCOUNTS: &str = "ALTER TABLE attempts ADD COLUMN account TEXT;";

/// The runs of each attempt (see `runs`). An attempt of an older version gets one run that proves the same: what was
/// closed stays closed.
///
/// `process` is the id of the process. In `attempts`, the columns `state`, `booking_id`, `http_status` and `account`
/// are derived from the runs, in the transaction that changes them. Indexes and `recover` use them.
const RUNS: &str = "
CREATE TABLE runs (
    idempotency_key TEXT NOT NULL,
    number          INTEGER NOT NULL,
    account         TEXT,
    process         INTEGER,
    outcome         TEXT NOT NULL,
    abandoned       INTEGER NOT NULL DEFAULT 0,
    http_status     INTEGER,
    booking_id      TEXT,
    started_at      TEXT NOT NULL,
    ended_at        TEXT,
    PRIMARY KEY (idempotency_key, number)
) WITHOUT ROWID;
INSERT INTO runs (idempotency_key, number, account, outcome, abandoned, http_status, booking_id, started_at, ended_at)
SELECT idempotency_key, 1, account,
       CASE WHEN state = 'settled' THEN 'booked'
            WHEN state = 'refused' THEN 'refused'
            WHEN state = 'unsettled' AND doubted = 0 THEN 'under_way'
            ELSE 'in_doubt' END,
       state = 'abandoned', http_status, booking_id, created_at,
       iif(state = 'unsettled' AND doubted = 0, NULL, updated_at)
FROM attempts;
ALTER TABLE attempts DROP COLUMN doubted;
";

/// What was asked for in the contract's shape, where `request` is in the service's own. Answers are compared with it, and
/// its hash tells whether a later request under the same key asks for the same.
const ASKED: &str = "
ALTER TABLE attempts ADD COLUMN asked TEXT;
ALTER TABLE attempts ADD COLUMN asked_hash TEXT;
";

/// What bookings are searched by (see `search`), and when the service was seen to have lost them.
///
/// `search` is NULL until the booking is searched for the first time after it was stored, so that a booking request
/// does not write it. The index holds everything that a search looks at, so a search reads no documents.
const SEARCH: &str = "
ALTER TABLE bookings ADD COLUMN gone_at TEXT;
ALTER TABLE bookings ADD COLUMN day TEXT;
ALTER TABLE bookings ADD COLUMN search TEXT;
CREATE INDEX bookings_unsearched ON bookings (origin) WHERE search IS NULL AND forgotten_at IS NULL;
CREATE INDEX bookings_gone ON bookings (origin) WHERE gone_at IS NOT NULL;
CREATE INDEX bookings_search ON bookings (origin, created_at, id, gone_at, status, day, search) WHERE search IS NOT NULL;
";
/// What a booking's story needs of a row of `bookings`. It says nothing of the guest.
macro_rules! facts {
    ($row:literal) => {
        concat!(
            "iif(json_valid(",
            $row,
            ".document), json_object(
                'error_code', json_extract(",
            $row,
            ".document, '$.error_code'),
                'error_message', json_extract(",
            $row,
            ".document, '$.error_message'),
                'datetime', json_extract(",
            $row,
            ".document, '$.datetime'),
                'party_size', json_extract(",
            $row,
            ".document, '$.party_size'),
                'seating_preference', json_extract(",
            $row,
            ".document, '$.seating_preference'),
                'created_at', json_extract(",
            $row,
            ".document, '$.created_at'),
                'updated_at', json_extract(",
            $row,
            ".document, '$.updated_at')), '{}')"
        )
    };
}

/// A new row of `sightings` for a row of `bookings`.
macro_rules! sighting {
    () => {
        concat!(
            "INSERT INTO sightings (origin, booking_id, number, status, facts, seen_at)
             SELECT NEW.origin, NEW.id,
                    1 + coalesce((SELECT max(number) FROM sightings WHERE origin = NEW.origin AND booking_id = NEW.id), 0),
                    NEW.status, ", facts!("NEW"), ", NEW.seen_at;"
        )
    };
}

/// Each state in which a booking was seen, for its story. Triggers keep it, so that no command can forget to, and
/// delete it together with the guest.
const SIGHTINGS: &str = concat!(
    "
CREATE TABLE sightings (
    origin     TEXT NOT NULL,
    booking_id TEXT NOT NULL,
    number     INTEGER NOT NULL,
    status     TEXT NOT NULL,
    facts      TEXT NOT NULL,
    seen_at    TEXT NOT NULL,
    PRIMARY KEY (origin, booking_id, number)
) WITHOUT ROWID;
INSERT INTO sightings (origin, booking_id, number, status, facts, seen_at)
SELECT origin, id, 1, status, ", facts!("bookings"), ", seen_at FROM bookings;
CREATE TRIGGER booking_first_seen AFTER INSERT ON bookings BEGIN ", sighting!(), " END;
CREATE TRIGGER booking_seen AFTER UPDATE OF status, document ON bookings
    WHEN NEW.forgotten_at IS OLD.forgotten_at AND (NEW.status <> OLD.status OR NEW.document <> OLD.document)
    BEGIN ", sighting!(), " END;
CREATE TRIGGER guest_forgotten AFTER UPDATE OF forgotten_at ON bookings WHEN NEW.forgotten_at IS NOT NULL
    BEGIN UPDATE sightings SET facts = '{}' WHERE origin = NEW.origin AND booking_id = NEW.id; END;
CREATE TRIGGER booking_forgotten AFTER DELETE ON bookings
    BEGIN DELETE FROM sightings WHERE origin = OLD.origin AND booking_id = OLD.id; END;
"
);

/// The rows of the last lists, venues and slots have a file of their own (`recent.db`). How far received events were
/// taken in stays, because that file may be made later.
const NO_RECENT_ROWS: &str = "
DELETE FROM venues;
DELETE FROM slots;
DELETE FROM lists WHERE kind <> 'taken in';
";

/// Who began a run, what distinguishes it from every other run, and who resumes an attempt (see `claim`): other machines
/// may share the journal.
const MAKERS: &str = "
ALTER TABLE runs ADD COLUMN username TEXT;
ALTER TABLE runs ADD COLUMN host TEXT;
ALTER TABLE runs ADD COLUMN token TEXT;
CREATE TABLE claims (
    idempotency_key TEXT PRIMARY KEY,
    claimed_by      TEXT NOT NULL,
    until           INTEGER NOT NULL
) WITHOUT ROWID;
";

/// Deletes the block of `search_blocks` that covers a row of `bookings`, if there is one.
macro_rules! uncover {
    ($row:literal) => {
        concat!(
            "DELETE FROM search_blocks WHERE number = (
                 SELECT number FROM search_blocks WHERE origin = ",
            $row,
            ".origin AND (last_at, last_id) >= (",
            $row,
            ".created_at, ",
            $row,
            ".id) ORDER BY last_at, last_id LIMIT 1)
             AND (after_at, after_id) < (",
            $row,
            ".created_at, ",
            $row,
            ".id);"
        )
    };
}

/// What is searched, as blocks of many bookings (see `search`). Each has the bookings behind one position, up to another
/// one: `created_at` and `id`. Triggers delete the block of a booking that is added, changed or deleted.
///
/// The columns `search` and `day` of `bookings` are of use in a shared journal alone. Statements for both empty them.
const SEARCH_BLOCKS: &str = concat!(
    "
UPDATE bookings SET search = NULL, day = NULL WHERE search IS NOT NULL;
DROP INDEX bookings_search;
DROP INDEX bookings_unsearched;
CREATE TABLE search_blocks (
    number     INTEGER PRIMARY KEY,
    origin     TEXT NOT NULL,
    after_at   TEXT NOT NULL,
    after_id   TEXT NOT NULL,
    last_at    TEXT NOT NULL,
    last_id    TEXT NOT NULL,
    bookings   INTEGER NOT NULL,
    days       TEXT NOT NULL,
    statuses   TEXT NOT NULL,
    guests     TEXT NOT NULL,
    emails     TEXT NOT NULL,
    phones     TEXT NOT NULL,
    venues     TEXT NOT NULL,
    folded_ids TEXT NOT NULL,
    ids        TEXT NOT NULL
);
CREATE UNIQUE INDEX search_blocks_ranges ON search_blocks (origin, last_at, last_id, after_at, after_id);
CREATE TRIGGER booking_added_to_search AFTER INSERT ON bookings BEGIN ", uncover!("NEW"), " END;
CREATE TRIGGER booking_changed_in_search AFTER UPDATE OF status, document, forgotten_at, gone_at ON bookings
    WHEN NEW.status <> OLD.status OR NEW.document <> OLD.document
        OR NEW.forgotten_at IS NOT OLD.forgotten_at OR NEW.gone_at IS NOT OLD.gone_at
    BEGIN ", uncover!("OLD"), " END;
CREATE TRIGGER booking_deleted_from_search AFTER DELETE ON bookings BEGIN ", uncover!("OLD"), " END;
"
);

/// Texts are searched without apostrophes: the blocks are made again.
const APOSTROPHES: &str = "DELETE FROM search_blocks;";

/// Bookings are searched by the columns `search` and `day` (see `search`), which are NULL until a booking is searched for the
/// first time after it was stored, so that a booking request does not write them. The second index holds everything that
/// a search looks at, so that it reads no documents.
const NO_BLOCKS: &str = "
DROP TRIGGER booking_added_to_search;
DROP TRIGGER booking_changed_in_search;
DROP TRIGGER booking_deleted_from_search;
DROP TABLE search_blocks;
CREATE INDEX bookings_unsearched ON bookings (origin, id) WHERE search IS NULL AND forgotten_at IS NULL;
CREATE INDEX bookings_search ON bookings (origin, created_at, id, gone_at, status, day, search) WHERE search IS NOT NULL;
";
