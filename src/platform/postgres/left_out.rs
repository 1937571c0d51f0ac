//! What stands for a database in a bookctl that was built without PostgreSQL: nothing can be reached.

use super::{Address, Guard, Login, PostgresFailure};
use crate::platform::sql::{SqlError, SqlExecutor, SqlResult};

pub(crate) struct Database {
    pub(crate) address: Address,
    pub(crate) guard: Option<Guard>,
    pub(crate) is_patient: bool,
}

impl Database {
    pub(crate) fn new(address: Address, _: Login) -> std::io::Result<Self> {
        Ok(Database {
            address,
            guard: None,
            is_patient: false,
        })
    }

    pub(crate) fn connect_ahead(&self) {}

    pub(crate) fn load_ahead(&self, _: &'static str) {}

    pub(crate) fn transaction<T>(
        &self,
        _: &dyn Fn(&dyn SqlExecutor) -> SqlResult<T>,
    ) -> SqlResult<T> {
        let reason = "this bookctl was built without PostgreSQL".to_owned();
        Err(SqlError::Postgres(PostgresFailure::Unreachable(reason)))
    }

    pub(crate) fn read<T>(&self, work: &dyn Fn(&dyn SqlExecutor) -> SqlResult<T>) -> SqlResult<T> {
        self.transaction(work)
    }
}
