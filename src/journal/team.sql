-- What only a journal in PostgreSQL has. A blank line ends a statement.
CREATE INDEX attempts_created ON attempts (created_at)

-- A request without its guest. One that cannot be read keeps nothing.
CREATE FUNCTION without_guest(document TEXT) RETURNS TEXT LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN (document::jsonb - 'customer' - 'end_user')::text;
EXCEPTION WHEN OTHERS THEN
    RETURN '{}';
END $$
