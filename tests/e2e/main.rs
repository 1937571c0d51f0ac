//! The suite from outside: the real binary, the real sandbox, a blank home each, HTTP over loopback, a
//! terminal where people type.
//!
//! Every test stands alone and may run beside all others. Time comes from the sandbox's clock, never from
//! waiting; the only durations are bounds that end a hang.

#![cfg(test)]

mod harness;

mod answers;
mod auth;
mod auth_keyring;
mod bare_minimum;
mod batch;
mod book;
mod bookings;
mod calls;
mod canary;
mod changes;
mod codes;
mod command_tree;
mod compared;
mod completion;
mod config;
mod controls;
mod crash_batch;
mod crash_kills;
mod crash_pairs;
mod crash_signals;
mod create_storm;
mod cut_answers;
mod dialect;
mod docs;
mod doctor;
mod explained;
mod failing_calls;
mod faults;
mod filters;
mod foreign;
mod full_disk;
mod held;
mod hostile;
mod interrupts;
mod journal;
mod kept_deliveries;
mod learn;
mod limits_met;
mod manual;
mod matrix;
mod misbehaviours;
mod open_attempts;
mod open_points;
mod our_servers;
mod output;
mod own_attempts;
mod ownership;
mod paged;
mod pauses;
mod peers;
mod picture;
mod pipes;
mod power_cut;
mod process;
mod profile;
mod promise;
mod readme;
mod refusals;
mod requests;
mod rooms;
mod sandbox_file;
mod sandbox_run;
mod search;
mod sent_names;
mod sessions;
mod shared_limits;
mod showing;
mod speak;
mod times;
mod two_runs;
mod walk;
mod walk_look;
mod walk_payment;
mod watching;
mod webhook_drill;
mod webhook_events;
mod webhook_file;
mod webhook_listen;
mod webhook_peers;
mod webhook_send;
mod webhook_storm;
mod webhook_verify;
mod whole_life;
mod wire;
mod wrong_input;
