-- What only a journal in a file has.

-- All that a search looks at, so that it reads no documents.
CREATE INDEX bookings_search ON bookings
    (origin, created_at, id, status, visit, guest, email, phone, venue, folded_id) WHERE guest IS NOT NULL;

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
