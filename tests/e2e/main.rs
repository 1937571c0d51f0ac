//! The suite from outside: the real binary, the real sandbox, a blank home each, HTTP over
//! loopback, a terminal where people type.
//!
//! Every test stands alone and may run beside all others. Time comes from the sandbox's clock,
//! never from waiting; the only durations are bounds that end a hang.

#![cfg(test)]
// On Windows, parts of the harness serve nobody.
#![cfg_attr(windows, allow(dead_code, unused_imports))]

mod harness;

mod another_guest;
mod book;
mod codes;
mod explained;
mod faults;
mod filters;
mod injected_faults;
mod judged;
mod judged_later;
mod killed_booking;
mod limits_met;
mod one_booking;
mod open_attempts;
mod organizations;
mod own_attempts;
mod pauses;
mod promise;
mod refusals;
mod repeated;
mod sandbox_clock;
mod sandbox_env;
mod sandbox_file;
mod scripts;
mod search;
mod shared_limits;
mod unreadable_files;
mod watching;
mod wrong_input;

/// What needs a shell, signals, a pseudo terminal, modes of files or strace.
#[cfg(unix)]
#[path = "."]
mod unix {
    pub(crate) mod answers;
    pub(crate) mod as_it_came;
    pub(crate) mod auth;
    pub(crate) mod auth_keyring;
    pub(crate) mod bare_minimum;
    pub(crate) mod batch;
    mod batch_results;
    pub(crate) mod bookings;
    pub(crate) mod calls;
    pub(crate) mod canary;
    pub(crate) mod change_asked;
    pub(crate) mod changes;
    pub(crate) mod channels;
    pub(crate) mod clients;
    pub(crate) mod command_tree;
    pub(crate) mod compared;
    pub(crate) mod completion;
    pub(crate) mod completion_shells;
    pub(crate) mod config;
    pub(crate) mod confirmed;
    pub(crate) mod controls;
    pub(crate) mod crash_batch;
    pub(crate) mod crash_kills;
    pub(crate) mod crash_pairs;
    pub(crate) mod crash_signals;
    pub(crate) mod crash_team;
    pub(crate) mod create_storm;
    pub(crate) mod cut_answers;
    pub(crate) mod desk;
    pub(crate) mod dialect;
    pub(crate) mod docs;
    pub(crate) mod doctor;
    pub(crate) mod failing_calls;
    pub(crate) mod finding;
    pub(crate) mod foreign;
    pub(crate) mod foreign_life;
    pub(crate) mod full_disk;
    pub(crate) mod har;
    pub(crate) mod held;
    pub(crate) mod hostile;
    pub(crate) mod installer;
    pub(crate) mod interrupts;
    pub(crate) mod journal;
    pub(crate) mod kept_deliveries;
    pub(crate) mod learn;
    pub(crate) mod learn_key;
    pub(crate) mod manual;
    pub(crate) mod matrix;
    pub(crate) mod misbehaviours;
    pub(crate) mod money;
    pub(crate) mod open_points;
    pub(crate) mod our_servers;
    pub(crate) mod output;
    pub(crate) mod ownership;
    pub(crate) mod packaging;
    pub(crate) mod page;
    pub(crate) mod page_diagram;
    pub(crate) mod page_setup;
    pub(crate) mod page_stream;
    pub(crate) mod paged;
    pub(crate) mod pager;
    pub(crate) mod picture;
    pub(crate) mod pipes;
    pub(crate) mod power_cut;
    pub(crate) mod process;
    pub(crate) mod profile;
    pub(crate) mod readme;
    pub(crate) mod recipes;
    mod report;
    mod report_situations;
    pub(crate) mod requests;
    pub(crate) mod requests_shown;
    pub(crate) mod rooms;
    pub(crate) mod said_wrongly;
    pub(crate) mod sandbox_fixtures;
    pub(crate) mod sandbox_run;
    pub(crate) mod sent_names;
    pub(crate) mod sessions;
    pub(crate) mod showing;
    pub(crate) mod spelled_secrets;
    pub(crate) mod support_day;
    pub(crate) mod team;
    pub(crate) mod team_batches;
    pub(crate) mod team_server;
    pub(crate) mod teams;
    pub(crate) mod timeline;
    pub(crate) mod times;
    pub(crate) mod tls;
    pub(crate) mod two_runs;
    pub(crate) mod version_details;
    pub(crate) mod walk;
    pub(crate) mod walk_back;
    pub(crate) mod walk_look;
    pub(crate) mod walk_payment;
    pub(crate) mod walk_signals;
    pub(crate) mod webhook_drill;
    pub(crate) mod webhook_events;
    pub(crate) mod webhook_file;
    pub(crate) mod webhook_listen;
    pub(crate) mod webhook_peers;
    pub(crate) mod webhook_send;
    pub(crate) mod webhook_storm;
    pub(crate) mod webhook_verify;
    pub(crate) mod wire;
    pub(crate) mod words;
}
#[cfg(unix)]
use unix::*;
