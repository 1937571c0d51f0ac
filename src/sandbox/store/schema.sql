-- Moments are milliseconds since 1970. Numbers grow with the time of creation and are what ids show.

-- A clock for each organization; that without a name is the one with which the next is added.
CREATE TABLE clocks (
  organization TEXT PRIMARY KEY,
  offset_ms INTEGER NOT NULL DEFAULT 0,
  -- The moment at which the clock stands; null while it goes.
  frozen_at INTEGER
);
INSERT INTO clocks (organization)
  VALUES (''), ('org_sandbox'), ('org_nobilling'), ('org_suspended'), ('org_other');

-- Settings that differ from a fresh organization's.
CREATE TABLE organizations (id TEXT PRIMARY KEY, settings TEXT NOT NULL) WITHOUT ROWID;

-- Venues that a search of the organization returned.
CREATE TABLE known_venues (
  organization TEXT NOT NULL,
  venue_id TEXT NOT NULL,
  PRIMARY KEY (organization, venue_id)
) WITHOUT ROWID;

CREATE TABLE bookings (
  number INTEGER PRIMARY KEY,
  organization TEXT NOT NULL,
  -- All of it as JSON. What follows are the parts by which bookings are found.
  booking TEXT NOT NULL,
  -- What the service shows of it, byte for byte.
  document TEXT NOT NULL,
  status TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  -- When time alone moves the booking on.
  due_at INTEGER,
  -- The slot, while the booking occupies it.
  held_slot TEXT,
  -- Whether a test booking was ever confirmed, and so used the allowance.
  used_allowance INTEGER NOT NULL
);
CREATE INDEX bookings_due ON bookings (organization, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX bookings_held ON bookings (held_slot, organization) WHERE held_slot IS NOT NULL;
CREATE INDEX bookings_allowance ON bookings (organization) WHERE used_allowance = 1;
CREATE INDEX bookings_open ON bookings (organization, created_at)
  WHERE status IN ('requires_action', 'processing');

-- For ever: which booking a create's key stands for.
CREATE TABLE idempotency_keys (
  organization TEXT NOT NULL,
  key TEXT NOT NULL,
  booking INTEGER NOT NULL,
  PRIMARY KEY (organization, key)
) WITHOUT ROWID;

CREATE TABLE events (
  number INTEGER PRIMARY KEY,
  organization TEXT NOT NULL,
  booking INTEGER NOT NULL,
  kind TEXT NOT NULL,
  -- What is delivered, byte for byte.
  body TEXT NOT NULL
);

-- Text messages to guests and persons, each as its document.
CREATE TABLE messages (
  number INTEGER PRIMARY KEY,
  organization TEXT NOT NULL,
  booking INTEGER,
  message TEXT NOT NULL
);

-- Connections of persons' provider accounts, as JSON.
CREATE TABLE sessions (
  number INTEGER PRIMARY KEY,
  organization TEXT NOT NULL,
  end_user TEXT NOT NULL,
  session TEXT NOT NULL
);
CREATE INDEX sessions_person ON sessions (organization, end_user);

-- What each organization used of each rate limit.
CREATE TABLE rate_windows (
  organization TEXT NOT NULL,
  budget TEXT NOT NULL,
  opened_at INTEGER NOT NULL,
  used INTEGER NOT NULL,
  PRIMARY KEY (organization, budget)
) WITHOUT ROWID;

-- Events on their way to a webhook URL; an event born without one has no row.
CREATE TABLE deliveries (
  event INTEGER PRIMARY KEY,
  organization TEXT NOT NULL,
  url TEXT NOT NULL,
  state TEXT NOT NULL,
  -- Attempts of the schedule that is running; a resend starts a new one.
  failures INTEGER NOT NULL,
  next_attempt_at INTEGER,
  -- Until when, in real time, the attempt is left to who began it.
  leased_until INTEGER,
  -- The number of the attempt that has met its fault already.
  met INTEGER,
  -- 1 while it waits for the next event of its booking, 2 after that was sent.
  held_back INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX deliveries_due ON deliveries (organization, next_attempt_at) WHERE next_attempt_at IS NOT NULL;

-- Attempts as their documents.
CREATE TABLE attempts (
  event INTEGER NOT NULL,
  number INTEGER NOT NULL,
  attempt TEXT NOT NULL,
  PRIMARY KEY (event, number)
) WITHOUT ROWID;

-- Failures that were asked for.
CREATE TABLE faults (
  number INTEGER PRIMARY KEY,
  -- As its document shows it.
  fault TEXT NOT NULL,
  -- How many requests it could have happened to.
  drawn INTEGER NOT NULL DEFAULT 0,
  organization TEXT
);

-- Venues that fixtures added.
CREATE TABLE fixture_venues (
  number INTEGER PRIMARY KEY,
  organization TEXT NOT NULL,
  venue_id TEXT NOT NULL,
  entry TEXT NOT NULL,
  UNIQUE (organization, venue_id)
);
