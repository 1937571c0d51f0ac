//! bookctl: the command line of a booking service.

mod prompt;
