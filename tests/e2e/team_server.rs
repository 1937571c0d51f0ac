//! The server of a shared journal: one that is not there, not prepared, too slow, read-only, behind
//! TLS or a pooler.

use std::fs::Permissions;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::sync::atomic::Ordering;
use std::time::Instant;

use crate::harness::listening::until;
use crate::harness::{
    GUEST, Home, Owned, Postgres, SOON, Served, Wire, free_port, has, installed, skipped,
    unprivileged, words,
};
use crate::journal::dumps;
use crate::team::{Team, sharing};

#[test]
#[ignore = "needs PostgreSQL"]
fn without_journal_that_takes_request_nothing_is_sent() {
    let served = Served::start();
    let Some(mut postgres) = Postgres::start() else {
        return;
    };
    let home = sharing(served.home(), &postgres.url(), "ada");
    let said = |why: &str, hint: &str| {
        let error = home.book("ven_confirms", &[]).refused(3, "journal");
        let folder = postgres.folder().display().to_string();
        has(&error, "message", &folder);
        has(&error, "message", why);
        has(&error, "hint", hint);
    };
    said("has no tables of bookctl yet", "bookctl journal init");
    home.ok(["journal", "init"]).prints("is prepared");
    home.ok(["journal", "init"]).prints("prepared already");
    let set =
        |what: &str| drop(postgres.sql("bookctl", &format!("UPDATE bookctl_journal SET {what}")));
    set("version = version + 99, written_by = '9.9.9', readable_from = 99");
    said("another version of bookctl (9.9.9", "install bookctl 9.9.9");
    set("readable_from = 1");
    home.ok(["bookings"]);
    // An older one is brought to this version by whoever may, and by `init`.
    let older = "DROP TABLE batch_rows, writes; ALTER TABLE runs DROP COLUMN request_id; UPDATE bookctl_journal SET version = 1";
    postgres.sql("bookctl", older);
    home.ok(["bookings"]);
    assert_eq!(home.json("journal status")["version"], dumps("postgresql").len() - 1);
    postgres.sql("bookctl", older);
    postgres.sql("bookctl", "CREATE ROLE member LOGIN; GRANT SELECT, UPDATE, INSERT, DELETE ON ALL TABLES IN SCHEMA public TO member");
    let member = sharing(served.home(), &postgres.url().replace("owner@", "member@"), "member");
    let error = member.book("ven_confirms", &[]).refused(3, "journal");
    has(&error, "message", "older version");
    has(&error, "hint", "journal init");
    home.ok(["journal", "init"]);
    postgres.sql("bookctl", "GRANT SELECT ON ALL TABLES IN SCHEMA public TO member");
    member.ok(["bookings"]);
    postgres.sql("bookctl", "ALTER DATABASE bookctl SET default_transaction_read_only = on");
    said("rejects changes", "primary");
    // Support may read there; the doctor says that nothing is booked.
    home.ok(["bookings"]);
    home.run(["doctor"]).exits(3).shows("rejects changes");
    postgres.sql("postgres", "ALTER DATABASE bookctl RESET default_transaction_read_only");
    postgres.sql("bookctl", "CREATE ROLE guest LOGIN");
    let stranger = postgres.url().replace("owner@", "guest@");
    let error = sharing(served.home(), &stranger, "guest").book("ven_confirms", &[]);
    let error = error.refused(3, "journal");
    has(&error, "message", "permission denied");
    postgres.kill();
    let folder = postgres.folder().display().to_string();
    let error = home.book("ven_confirms", &[]).refused(3, "journal");
    has(&error, "message", &folder);
    has(&error, "message", "cannot be reached");
    assert!(served.bookings().is_empty());
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_journal_is_used_in_its_own_schema_and_never_hidden() {
    let Some(team) = Team::new() else { return };
    let home = team.machine("ada");
    home.booked("ven_confirms", &[], 0);
    home.ok(["journal", "init"]).prints("in schema public");
    team.sql("CREATE SCHEMA owner; CREATE TABLE owner.bookings (x INT); CREATE TABLE owner.attempts (x INT)");
    let error = home.refuses("journal init", 3, "journal");
    has(&error, "message", "in schema public already");
    has(&error, "message", "from schema owner");
    assert_eq!(home.list("bookings").len(), 1);
    home.booked("ven_otp", &[], 10);
    let status = home.json("journal status");
    assert_eq!((&status["schema"], &status["bookings"]), (&"public".into(), &2.into()));
}

#[test]
#[ignore = "needs PostgreSQL"]
fn server_that_stands_still_is_waited_for_with_end() {
    let served = Served::start();
    // It takes connections and never answers.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let home = sharing(served.home(), &format!("postgresql://ada@127.0.0.1:{port}/b"), "ada");
    let began = Instant::now();
    let error = home.book("ven_confirms", &["--timeout", "1s"]);
    let error = error.refused(3, "journal");
    has(&error, "message", "127.0.0.1");
    assert!(began.elapsed() < SOON);
    let _first = silent.accept().unwrap();
    let book = ["book", "ven_confirms"].iter().chain(&GUEST);
    let running = home.start(book);
    let _second = silent.accept().unwrap();
    let began = Instant::now();
    running.signal("-INT");
    running.ends(130);
    assert!(began.elapsed() < SOON);
    assert!(served.bookings().is_empty());
}

#[test]
#[ignore = "needs PostgreSQL"]
fn commit_whose_answer_is_lost_is_looked_up() {
    let Some(team) = Team::free() else { return };
    let wire = Wire::to(team.postgres.port());
    let url = format!("postgresql://owner@127.0.0.1:{}/bookctl", wire.port);
    let home = team.machine_at(&url, "ada");
    let slots = home.run(words("slots ven_confirms --at 'tomorrow 19:30' --party 2 --json"));
    slots.exits(0);
    // The beginnings of two transactions, and their commits.
    for cut_at in 1..=4 {
        wire.cut_at.store(cut_at, Ordering::SeqCst);
        home.booked("ven_confirms", &["--idempotency-key", &format!("cut-{cut_at}")], 0);
        wire.cut_at.store(0, Ordering::SeqCst);
        assert_eq!(team.served.bookings().len(), cut_at);
        let attempts = home.list("attempts list --all");
        assert_eq!(attempts.len(), cut_at);
        for attempt in attempts {
            assert_eq!(attempt["state"], "resolved", "{attempt}");
            assert_eq!(attempt["runs"].as_array().unwrap().len(), 1, "{attempt}");
        }
    }
    let cuts = wire.cuts.load(Ordering::SeqCst);
    assert_eq!(cuts, 4, "a transaction or a commit was not cut");
}

#[test]
#[ignore = "needs PostgreSQL"]
fn booking_request_makes_the_documented_round_trips_at_most() {
    let Some(team) = Team::free() else { return };
    let wire = Wire::to(team.postgres.port());
    let url = format!("postgresql://owner@127.0.0.1:{}/bookctl", wire.port);
    let home = team.machine_at(&url, "ada");
    home.booked("ven_confirms", &[], 0);
    wire.round_trips.store(0, Ordering::SeqCst);
    home.booked("ven_confirms", &[], 0);
    let counted = wire.round_trips.load(Ordering::SeqCst);
    // To connect, to look for open attempts, for the limit of searches and for the guest's other
    // bookings, twice each for the intent and the answer, and one between them that nobody waits
    // for.
    assert!((12..=15).contains(&counted), "{counted}");
    // What the database does not store is not sent.
    team.sql("CREATE FUNCTION no() RETURNS TRIGGER LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'");
    for table in ["attempts", "runs"] {
        let trigger = format!("no BEFORE INSERT ON {table}");
        team.sql(&format!("CREATE TRIGGER {trigger} FOR EACH ROW EXECUTE FUNCTION no()"));
        home.book("ven_otp", &[]).refused(3, "journal");
        team.sql(&format!("DROP TRIGGER no ON {table}"));
    }
    assert_eq!(team.served.bookings().len(), 2);
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_database_of_every_version_is_read_and_written() {
    let served = Served::start();
    let Some(postgres) = Postgres::start() else {
        return;
    };
    let dumps = dumps("postgresql");
    let newest = dumps.len() - 1;
    for (dump, number) in dumps.iter().zip(0..) {
        let name = format!("kept{number}");
        postgres.sql("postgres", &format!("CREATE DATABASE {name}"));
        let tables = std::fs::read_to_string(dump).unwrap();
        postgres.sql(&name, &tables.replace("ORIGIN", served.base_url()));
        let url = postgres.url().replace("/bookctl?", &format!("/{name}?"));
        let home = sharing(served.home(), &url, "ada");
        assert_eq!(home.list("bookings").len(), 1, "{}", dump.display());
        home.booked("ven_otp", &[], 10);
        home.ok(["attempts", "resume", "order-2"]);
        assert_eq!(home.list("attempts list --all").len(), 3);
        assert_eq!(home.json("journal status")["version"], newest);
    }
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_journal_that_takes_no_changes_is_searched() {
    let Some(team) = Team::free() else { return };
    team.machine("ada").booked("ven_confirms", &[], 0);
    team.sql(
        "CREATE ROLE reader LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader;
         CREATE ROLE standby LOGIN; GRANT ALL ON ALL TABLES IN SCHEMA public TO standby;
         ALTER ROLE standby SET default_transaction_read_only = on",
    );
    for user in ["reader", "standby"] {
        let url = team.postgres.url().replace("owner@", &format!("{user}@"));
        let reader = team.machine_at(&url, "ada");
        let found = reader.list("bookings lovelace --mine --date tomorrow");
        assert_eq!(found.len(), 1, "{user}");
    }
}

#[test]
#[ignore = "needs PostgreSQL"]
fn password_comes_from_where_psql_takes_it() {
    let Some(mut team) = Team::new() else { return };
    team.postgres.sql("postgres", "ALTER ROLE owner PASSWORD 'a:long secret'");
    team.postgres.kill();
    let rules = "local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n";
    std::fs::write(team.postgres.folder().join("data/pg_hba.conf"), rules).unwrap();
    team.postgres.run();
    let url = team.postgres.loopback();
    let without = team.machine_at(&url, "ada").book("ven_confirms", &[]);
    let error = without.refused(3, "journal");
    has(&error, "hint", "PGPASSWORD");
    let wrong = team.machine_at(&url, "ada").with("PGPASSWORD", "wrong secret");
    wrong.book("ven_confirms", &[]).refused(3, "journal");
    let given = team.machine_at(&url, "ada").with("PGPASSWORD", "a:long secret");
    given.booked("ven_confirms", &[], 0);
    let home = team.machine_at(&url, "ada");
    let file = home.folder().join(".pgpass");
    std::fs::write(&file, "127.0.0.1:*:bookctl:owner:a\\:long secret\n").unwrap();
    // Others can read it.
    let access = |mode| std::fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
    access(0o640);
    home.run(["bookings"]).exits(3).tells("chmod");
    access(0o600);
    home.ok(["bookings"]);
    // In a profile.
    let config = |url: &str| {
        format!(
            "default_profile = 'team'\n[profiles.team]\nbase_url = '{}'\njournal = '{url}'\n",
            team.served.base_url()
        )
    };
    let profile = Home::new().configured(&config(&url));
    let login = words("auth login --journal-password-stdin --storage file");
    profile.feed(&login, "a:long secret\n").exits(0);
    let attempts = profile.list("attempts list --all");
    assert_eq!(attempts.len(), 1);
    let stored = || profile.list("auth status")[0]["journal_password"].clone();
    assert_eq!(stored(), "file");
    profile.ok(["auth", "logout"]);
    assert_eq!(stored(), "none");
    profile.run(["attempts"]).exits(3);
    let open = Home::new().configured(&config(&url.replace("owner@", "owner:geheim@")));
    let refused = open.refuses("attempts", 3, "config");
    assert!(!refused.to_string().contains("geheim"), "{refused}");
    has(&refused, "hint", "--journal-password-stdin");
    let set = words("profile set team journal=postgresql://a:geheim@h/d --json");
    profile.run(set).refused(3, "config");
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_connection_over_tls_is_verified() {
    let Some(mut team) = Team::new() else { return };
    if !installed("openssl") {
        return skipped("openssl is not installed");
    }
    let data = team.postgres.folder().join("data");
    let script = "cd \"$1\" && openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=tests -keyout ca.key -out ca.crt 2>/dev/null \
        && openssl req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout server.key -out server.csr 2>/dev/null \
        && printf 'subjectAltName=DNS:localhost\\n' > ext && openssl x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial \
           -days 2 -extfile ext -out server.crt 2>/dev/null && chmod 600 server.key && chown --reference=. server.key server.crt";
    let made = std::process::Command::new("bash").args(["-c", script, "bash"]).arg(&data).status();
    assert!(made.unwrap().success());
    team.postgres.kill();
    std::fs::write(
        data.join("pg_hba.conf"),
        "local all all trust\nhostssl all all 127.0.0.1/32 trust\n",
    )
    .unwrap();
    team.postgres.run_with(&["ssl=on"]);
    let ca = data.join("ca.crt");
    let url = |host: &str, more: &str| {
        format!("postgresql://owner@{host}:{}/bookctl{more}", team.postgres.port())
    };
    let verified = format!("?sslmode=verify-full&sslrootcert={}", ca.display());
    team.machine_at(&url("localhost", &verified), "ada").booked("ven_confirms", &[], 0);
    for (host, more) in [
        // Another name than the certificate's, an authority that nobody knows, and no encryption.
        ("127.0.0.1", verified.as_str()),
        ("localhost", "?sslmode=verify-full"),
        ("localhost", ""),
    ] {
        let home = team.machine_at(&url(host, more), "ada");
        home.book("ven_confirms", &[]).refused(3, "journal");
    }
    assert_eq!(team.served.bookings().len(), 1);
}

#[test]
#[ignore = "needs PostgreSQL"]
fn behind_a_transaction_pooler_everything_works_the_same() {
    let Some(team) = Team::free() else { return };
    if !installed("pgbouncer") {
        return skipped("pgbouncer is not installed");
    }
    let port = free_port();
    let config = format!(
        "[databases]\nbookctl = host={} port={} dbname=bookctl user=owner\n[pgbouncer]\nlisten_addr = 127.0.0.1\n\
         listen_port = {port}\nauth_type = any\npool_mode = transaction\ndefault_pool_size = 2\nunix_socket_dir =\n",
        team.postgres.folder().display(),
        team.postgres.port(),
    );
    let file = team.postgres.folder().join("pgbouncer.ini");
    std::fs::write(&file, config).unwrap();
    let mut command = unprivileged("pgbouncer");
    command.arg(&file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let _pooler = Owned(command.spawn().unwrap());
    until("pgbouncer starts", || TcpStream::connect(("127.0.0.1", port)).is_ok());
    let url = format!("postgresql://owner@127.0.0.1:{port}/bookctl");
    std::thread::scope(|scope| {
        for user in ["ada", "bob", "eve", "kim"] {
            let home = team.machine_at(&url, user);
            scope.spawn(move || {
                for number in 0..3 {
                    let key = format!("{user}-{number}");
                    home.booked("ven_confirms", &["--idempotency-key", &key], 0);
                }
                home.ok(["bookings", "lovelace"]);
            });
        }
    });
    let home = team.machine_at(&url, "ada");
    assert_eq!(team.served.bookings().len(), 12);
    assert_eq!(home.list("bookings").len(), 12);
    assert!(home.list("attempts").is_empty());
}
