-- What only a journal in PostgreSQL has. A blank line ends a statement.
CREATE INDEX attempts_created ON attempts (created_at)

-- A request without its guest. One that cannot be read keeps nothing.
CREATE FUNCTION without_guest(document TEXT) RETURNS TEXT LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN (document::jsonb - 'customer' - 'end_user')::text;
EXCEPTION WHEN OTHERS THEN
    RETURN '{}';
END $$

-- What a booking's story needs of its document. It says nothing of the guest.
CREATE FUNCTION booking_facts(document TEXT) RETURNS TEXT LANGUAGE plpgsql IMMUTABLE AS $$
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
END $$

CREATE FUNCTION booking_seen() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO sightings (origin, booking_id, number, status, facts, seen_at)
    SELECT NEW.origin, NEW.id,
           1 + coalesce((SELECT max(number) FROM sightings WHERE origin = NEW.origin AND booking_id = NEW.id), 0),
           NEW.status, booking_facts(NEW.document), NEW.seen_at;
    RETURN NULL;
END $$

CREATE FUNCTION booking_forgotten() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        DELETE FROM sightings WHERE origin = OLD.origin AND booking_id = OLD.id;
    ELSE
        UPDATE sightings SET facts = '{}' WHERE origin = NEW.origin AND booking_id = NEW.id;
    END IF;
    RETURN NULL;
END $$

CREATE TRIGGER booking_first_seen AFTER INSERT ON bookings FOR EACH ROW EXECUTE FUNCTION booking_seen()

CREATE TRIGGER booking_seen AFTER UPDATE OF status, document ON bookings FOR EACH ROW
    WHEN (NEW.forgotten_at IS NOT DISTINCT FROM OLD.forgotten_at
          AND (NEW.status <> OLD.status OR NEW.document <> OLD.document))
    EXECUTE FUNCTION booking_seen()

CREATE TRIGGER guest_forgotten AFTER UPDATE OF forgotten_at ON bookings FOR EACH ROW
    WHEN (NEW.forgotten_at IS NOT NULL) EXECUTE FUNCTION booking_forgotten()

CREATE TRIGGER booking_forgotten AFTER DELETE ON bookings FOR EACH ROW EXECUTE FUNCTION booking_forgotten()
