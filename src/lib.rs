//! bookctl: the command line of a booking service.

mod model;
mod output;
