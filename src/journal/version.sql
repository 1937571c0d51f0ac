-- Which bookctl wrote the tables last, and the oldest version of the tables whose bookctl can still use them.
CREATE TABLE IF NOT EXISTS bookctl_journal (
    one           INTEGER PRIMARY KEY CHECK (one = 1),
    version       INTEGER NOT NULL,
    written_by    TEXT NOT NULL,
    readable_from INTEGER NOT NULL
);
INSERT INTO bookctl_journal (one, version, written_by, readable_from) VALUES (1, 0, '', 0) ON CONFLICT (one) DO NOTHING;

