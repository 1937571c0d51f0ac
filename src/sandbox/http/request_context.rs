//! What an endpoint works with.

use super::parsed_request::ParsedRequest;
use crate::sandbox::rules::access::ApiKey;
use crate::sandbox::rules::organization::Organization;
use crate::sandbox::store::Tx;

/// An authenticated request, with the transaction in which it is answered.
pub(crate) struct RequestContext<'a, 't> {
    pub(crate) tx: &'a Tx<'t>,
    pub(crate) request: &'a ParsedRequest,
    pub(crate) key: ApiKey,
    /// The key's organization, as the transaction finds it.
    pub(crate) organization: Organization,
}
