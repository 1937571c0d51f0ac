-- What only a journal in a file has: all that a search looks at, so that it reads no documents.
CREATE INDEX bookings_search ON bookings
    (origin, created_at, id, status, visit, guest, email, phone, venue, folded_id) WHERE guest IS NOT NULL;
