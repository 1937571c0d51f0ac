//! Which service a command uses, decided from flags, environment and file.

use std::path::PathBuf;

use super::base_url::BaseUrl;
use super::file::{ConfigFile, Profile, SANDBOX_PROFILE};
use super::{Environment, Paths};
use crate::outcome::{Code, Error, Result};
use crate::platform::postgres::Address;
use crate::platform::shell;
use crate::secrets::{Account, Secret};
use crate::service::time::retention::Retention;

/// What the command line and the command itself say about the service.
#[derive(Clone, Debug, Default)]
pub(crate) struct TargetOptions {
    pub(crate) profile: Option<String>,
    pub(crate) no_sandbox: bool,
}

/// What a command needs of the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServiceNeed {
    /// Nothing. Works even if the service is refused: its target is then the unopened sandbox.
    None,
    /// A sandbox of its own, so that a key in the environment does not apply.
    OwnSandbox,
    /// The sandbox that the profile points to.
    Sandbox,
    /// The profile's service. The command refuses a sandbox itself where that matters.
    ProfileUnchecked,
    /// The profile's service. Under `--no-sandbox` it is checked first.
    Profile,
}

#[derive(Clone, Debug)]
pub(crate) struct Target {
    /// The key that the environment sets for this origin.
    pub(crate) key: Option<Secret>,
    /// How long the journal keeps guests' data, unless a command says otherwise.
    pub(crate) retention: Retention,
    /// The journal that a team shares; `None` for the file of this computer.
    pub(crate) journal: Option<SharedJournal>,
    pub(crate) place: Place,
}

#[derive(Clone, Debug)]
pub(crate) enum Place {
    /// The sandbox, with its state in a file.
    Sandbox {
        database: PathBuf,
        by_default: bool,
    },
    Service(Box<Service>),
}

#[derive(Clone, Debug)]
pub(crate) struct Service {
    pub(crate) profile: Option<String>,
    pub(crate) base_url: BaseUrl,
    /// What the profile says. Its `base_url` may be another one.
    pub(crate) settings: Profile,
}

#[derive(Clone, Debug)]
pub(crate) struct SharedJournal {
    pub(crate) address: Address,
    /// The profile for which its password is stored, if it is.
    pub(crate) stored_for: Option<String>,
}

impl SharedJournal {
    pub(crate) fn account(profile: &str, address: &Address) -> Account {
        Account::new(profile, address.origin())
    }
}

/// The URL of a shared journal in a config file, where no password may stand.
pub(crate) fn journal_address(text: &str, profile: &str) -> Result<Address> {
    let source = format!("the journal of profile {}", profile.escape_debug());
    let address = Address::parse(text, &source)?;
    if address.password.is_none() {
        return Ok(address);
    }
    Err(Error::config(format!("{source} has a password in its URL")).hint(format!(
        "remove it from the URL, and store it with `bookctl auth login --profile {profile} --journal-password-stdin`, \
         or use PGPASSWORD, PGPASSFILE or ~/.pgpass"
    )))
}

impl Service {
    /// The account under which its secrets are stored. Only a profile has stored secrets.
    pub(crate) fn account(&self) -> Option<Account> {
        Some(Account::new(self.profile.as_ref()?, self.base_url.origin()))
    }
}

impl Target {
    /// This service, with a key or the profile's.
    pub(crate) fn from_service(service: Service, key: Option<Secret>) -> Self {
        let place = Place::Service(Box::new(service));
        Target { key, retention: Retention::default(), journal: None, place }
    }

    /// `None` for the sandbox.
    pub(crate) fn service(&self) -> Option<&Service> {
        match &self.place {
            Place::Sandbox { .. } => None,
            Place::Service(service) => Some(service),
        }
    }

    /// The address under which the records of this service are kept. Two services may share a host,
    /// so its path counts.
    pub(crate) fn address(&self) -> String {
        self.service().map_or_else(|| SANDBOX_PROFILE.to_owned(), |it| it.base_url.address())
    }

    /// The fingerprint of the API key, where it is configured. Another organization's books a
    /// second time under the same idempotency key.
    pub(crate) fn account(&self) -> Option<String> {
        let recorded = || self.service()?.settings.key_fingerprint.clone();
        self.key.as_ref().map(Secret::fingerprint).or_else(recorded)
    }

    pub(crate) fn profile(&self) -> Option<&str> {
        self.service().map_or(Some(SANDBOX_PROFILE), |it| it.profile.as_deref())
    }
}

/// Decides which service to use. A flag overrides the environment, which overrides the file.
pub(crate) fn resolve(
    needs: ServiceNeed,
    options: &TargetOptions,
    environment: &Environment,
    paths: &Paths,
) -> Result<Target> {
    let env_profile = Environment::text(&environment.profile);
    let env_url = Environment::text(&environment.base_url);
    let env_key = Environment::text(&environment.api_key).map(|text| Secret::read(&text));
    let env_key = match env_key.transpose() {
        Err(_) if needs == ServiceNeed::None => None,
        key => key.map_err(|why| {
            let hint = "set BOOKCTL_API_KEY to the key alone";
            Error::new(Code::NoKey, format!("BOOKCTL_API_KEY {why}")).hint(hint)
        })?,
    };
    let file = ConfigFile::read(&paths.config_file)?;

    let url_is_overridden = options.profile.is_none() && env_url.is_some();
    let name = options.profile.clone().or(env_profile);
    // An address from the environment replaces the file's default profile.
    let default = file.default_profile.clone().filter(|_| env_url.is_none());
    let name = name.or(default);

    // A default profile in the file counts as a service that the user chose.
    let is_for_nobody = env_key.is_some() && env_url.is_none() && name.is_none();
    if is_for_nobody && !matches!(needs, ServiceNeed::None | ServiceNeed::OwnSandbox) {
        return Err(Error::config(
            "BOOKCTL_API_KEY is set, but neither BOOKCTL_BASE_URL nor a profile names its service",
        )
        .hint(
            "set BOOKCTL_BASE_URL or BOOKCTL_PROFILE; for the sandbox, BOOKCTL_PROFILE=sandbox",
        ));
    }

    let first = file.profiles.keys().next();
    if let Some(first) = first.filter(|_| name.is_none() && env_url.is_none())
        && matches!(needs, ServiceNeed::Profile | ServiceNeed::ProfileUnchecked)
    {
        let known: Vec<&str> = file.profiles.keys().map(String::as_str).collect();
        let what = format!("no profile is chosen, and there are profiles: {}", known.join(", "));
        let first = shell::word(first);
        return Err(Error::config(what).hint(format!(
            "choose one with `bookctl profile use {first}`, or the sandbox with `bookctl profile use sandbox`; for one \
             command, --profile {first} or --profile sandbox"
        )));
    }

    let profile = match name.as_deref() {
        None | Some(SANDBOX_PROFILE) => None,
        Some(name) => Some((name, file.profile(name)?.clone())),
    };
    let own = profile.as_ref().and_then(|(_, it)| it.retention);
    let retention = own.or(file.retention).unwrap_or_default();
    let journal = journal(environment, profile.as_ref())?;
    let env_url = env_url.map(|url| BaseUrl::parse(&url, "BOOKCTL_BASE_URL")).transpose()?;
    let base_url = match (&env_url, &profile) {
        (Some(url), _) if url_is_overridden => Some(url.clone()),
        (_, Some((name, profile))) => Some(profile.address(name)?),
        _ => None,
    };
    // A key that the environment sets together with an address is only for that address.
    let key_origin = env_url.map(|url| url.origin());
    let Some(base_url) = base_url else {
        if options.no_sandbox && needs != ServiceNeed::None {
            return Err(Error::config(
                "no service is selected, and --no-sandbox or BOOKCTL_NO_SANDBOX turns the sandbox off",
            )
            .hint(
                "choose a profile with --profile NAME, or connect one with `bookctl auth login`",
            ));
        }
        let place = Place::Sandbox { database: paths.sandbox.clone(), by_default: name.is_none() };
        return Ok(Target {
            key: env_key.filter(|_| key_origin.is_none()),
            retention,
            journal,
            place,
        });
    };
    let key = env_key.filter(|_| key_origin.is_none_or(|origin| origin == base_url.origin()));
    let (profile, settings) = match profile {
        Some((name, settings)) => (Some(name.to_owned()), settings),
        None => Default::default(),
    };
    let service = Service { profile, base_url, settings };
    Ok(Target { retention, journal, ..Target::from_service(service, key) })
}

fn journal(
    environment: &Environment,
    profile: Option<&(&str, Profile)>,
) -> Result<Option<SharedJournal>> {
    if let Some(url) = Environment::text(&environment.journal) {
        let url = Some(url).filter(|url| !url.is_empty());
        let address = url.map(|url| Address::parse(&url, "BOOKCTL_JOURNAL")).transpose()?;
        return Ok(address.map(|address| SharedJournal { address, stored_for: None }));
    }
    let own = profile.and_then(|(name, it)| Some((*name, it, it.journal.as_ref()?)));
    let Some((name, profile, url)) = own else {
        return Ok(None);
    };
    Ok(Some(SharedJournal {
        address: journal_address(url, name)?,
        stored_for: profile.journal_password_stored.then(|| name.to_owned()),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve_with(flag: Option<&str>, variables: &[(&str, &str)], file: &str) -> Result<Target> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("config.toml"), file).unwrap();
        let home = folder.path().as_os_str().to_owned();
        let environment = Environment::read(|name| {
            if name == "BOOKCTL_HOME" {
                return Some(home.clone());
            }
            variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into())
        });
        let options =
            TargetOptions { profile: flag.map(str::to_owned), ..TargetOptions::default() };
        resolve(ServiceNeed::Profile, &options, &environment, &Paths::find(&environment).unwrap())
    }

    const LIVE: &str =
        "default_profile = 'live'\n[profiles.live]\nbase_url = 'https://api.example'\n";

    #[test]
    fn a_key_given_with_an_address_never_travels_to_another_origin() {
        let variables = [("BOOKCTL_BASE_URL", "http://127.0.0.1:9"), ("BOOKCTL_API_KEY", "k")];
        assert!(resolve_with(None, &variables, LIVE).unwrap().key.is_some());
        let live = resolve_with(Some("live"), &variables, LIVE).unwrap();
        assert!(live.service().is_some() && live.key.is_none());
        let sandbox = resolve_with(Some("sandbox"), &variables, LIVE).unwrap();
        assert!(sandbox.key.is_none());
        assert!(matches!(sandbox.place, Place::Sandbox { by_default: false, .. }));
    }
}
