//! The suite from outside: the real binary, the real sandbox, a blank home each, HTTP over loopback, a
//! terminal where people type.
//!
//! Every test stands alone and may run beside all others. Time comes from the sandbox's clock, never from
//! waiting; the only durations are bounds that end a hang.
//!
//! What is only for Unix needs a shell, signals, a pseudo terminal, modes of files or strace.

#![cfg(test)]
// On Windows, parts of the harness serve nobody.
#![cfg_attr(windows, allow(dead_code, unused_imports))]

mod harness;

#[cfg(unix)]
mod answers;
#[cfg(unix)]
mod auth;
#[cfg(unix)]
mod auth_keyring;
#[cfg(unix)]
mod bare_minimum;
#[cfg(unix)]
mod batch;
mod book;
#[cfg(unix)]
mod bookings;
#[cfg(unix)]
mod calls;
#[cfg(unix)]
mod canary;
#[cfg(unix)]
mod change_asked;
#[cfg(unix)]
mod changes;
#[cfg(unix)]
mod clients;
mod codes;
#[cfg(unix)]
mod command_tree;
mod compared;
#[cfg(unix)]
mod completion;
#[cfg(unix)]
mod config;
#[cfg(unix)]
mod confirmed;
#[cfg(unix)]
mod controls;
#[cfg(unix)]
mod crash_batch;
#[cfg(unix)]
mod crash_kills;
mod crash_pairs;
#[cfg(unix)]
mod crash_signals;
#[cfg(unix)]
mod crash_team;
#[cfg(unix)]
mod create_storm;
#[cfg(unix)]
mod cut_answers;
#[cfg(unix)]
mod dialect;
#[cfg(unix)]
mod docs;
#[cfg(unix)]
mod doctor;
mod explained;
#[cfg(unix)]
mod failing_calls;
mod faults;
mod filters;
#[cfg(unix)]
mod finding;
#[cfg(unix)]
mod foreign;
#[cfg(unix)]
mod foreign_life;
#[cfg(unix)]
mod full_disk;
#[cfg(unix)]
mod har;
#[cfg(unix)]
mod held;
#[cfg(unix)]
mod hostile;
mod injected_faults;
#[cfg(unix)]
mod installer;
#[cfg(unix)]
mod interrupts;
#[cfg(unix)]
mod journal;
#[cfg(unix)]
mod kept_deliveries;
mod killed_booking;
#[cfg(unix)]
mod learn;
mod limits_met;
#[cfg(unix)]
mod manual;
#[cfg(unix)]
mod matrix;
#[cfg(unix)]
mod misbehaviours;
#[cfg(unix)]
mod money;
mod one_booking;
mod open_attempts;
#[cfg(unix)]
mod open_points;
mod organizations;
#[cfg(unix)]
mod our_servers;
#[cfg(unix)]
mod output;
mod own_attempts;
#[cfg(unix)]
mod ownership;
#[cfg(unix)]
mod packaging;
#[cfg(unix)]
mod page;
#[cfg(unix)]
mod page_setup;
#[cfg(unix)]
mod paged;
#[cfg(unix)]
mod pager;
mod pauses;
#[cfg(unix)]
mod peers;
#[cfg(unix)]
mod picture;
#[cfg(unix)]
mod pipes;
#[cfg(unix)]
mod power_cut;
#[cfg(unix)]
mod process;
#[cfg(unix)]
mod profile;
mod promise;
#[cfg(unix)]
mod readme;
#[cfg(unix)]
mod recipes;
mod refusals;
mod repeated;
#[cfg(unix)]
mod requests;
#[cfg(unix)]
mod requests_shown;
#[cfg(unix)]
mod rooms;
#[cfg(unix)]
mod said_wrongly;
mod sandbox_clock;
mod sandbox_env;
mod sandbox_file;
#[cfg(unix)]
mod sandbox_fixtures;
#[cfg(unix)]
mod sandbox_run;
mod search;
#[cfg(unix)]
mod sent_names;
#[cfg(unix)]
mod sessions;
mod shared_limits;
#[cfg(unix)]
mod showing;
#[cfg(unix)]
mod spelled_secrets;
#[cfg(unix)]
mod team;
#[cfg(unix)]
mod team_batches;
#[cfg(unix)]
mod teams;
#[cfg(unix)]
mod timeline;
#[cfg(unix)]
mod times;
#[cfg(unix)]
mod two_runs;
mod unreadable_files;
#[cfg(unix)]
mod version_details;
#[cfg(unix)]
mod walk;
#[cfg(unix)]
mod walk_back;
#[cfg(unix)]
mod walk_look;
#[cfg(unix)]
mod walk_payment;
#[cfg(unix)]
mod walk_signals;
mod watching;
#[cfg(unix)]
mod webhook_drill;
#[cfg(unix)]
mod webhook_events;
#[cfg(unix)]
mod webhook_file;
#[cfg(unix)]
mod webhook_listen;
#[cfg(unix)]
mod webhook_peers;
#[cfg(unix)]
mod webhook_send;
#[cfg(unix)]
mod webhook_storm;
#[cfg(unix)]
mod webhook_verify;
#[cfg(unix)]
mod wire;
mod wrong_input;
