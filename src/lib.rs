//! bookctl: the command line of a booking service.

mod sandbox;
mod model;
mod output;
mod prompt;
