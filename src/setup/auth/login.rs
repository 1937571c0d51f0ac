use super::{ProfileSecrets, SecretsList};
use crate::app::input::read_stdin;
use crate::app::{Parts, Startup};
use crate::config::{
    Assignment, BaseUrl, ConfigFile, Environment, Service, SharedJournal, Target, edit,
    journal_address, profile_name,
};
use crate::outcome::{Error, Exit, Result};
use crate::platform::shell;
use crate::secrets::{Account, Item, Secret, Storage, Vault};
use crate::service::client::{Call, key_sent_as};
use crate::terminal::prompt::Question;

/// Connect to a service: check an API key and store it in the system keyring
///
/// On a terminal, it asks for the address, a name for the profile, and the key, which is not shown.
/// In a script, pass --profile (and --base-url for a new profile), and the key on standard input.
/// No flag accepts a secret, because other users can see arguments.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl auth login\n  \
    pass show booking/live | bookctl auth login --profile live --key-stdin\n  \
    bookctl auth login --profile live --base-url https://api.example.com \\\n    \
      --key-stdin --storage file < key.txt")]
pub(crate) struct Args {
    /// Add a profile for the service at this address
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// Read the API key from standard input
    #[arg(long)]
    key_stdin: bool,
    /// Read the webhook secret from standard input, after the key
    #[arg(long)]
    webhook_secret_stdin: bool,
    /// Read only the shared journal's password from stdin
    #[arg(long, conflicts_with_all = ["base_url", "key_stdin", "webhook_secret_stdin", "dialect"])]
    journal_password_stdin: bool,
    /// Store secrets here [default: keyring]
    #[arg(long, value_enum)]
    storage: Option<Storage>,
    /// Set a name that this service uses, see `help mapping`
    #[arg(long, value_name = "KEY=VALUE", value_parser = Assignment::parse)]
    dialect: Vec<Assignment>,
}

pub(crate) async fn run(setup: Startup, args: Args) -> Result<Exit> {
    let vault = Vault::new(setup.settings.paths.secrets.clone());
    let storage = args.storage.unwrap_or_default();
    if args.journal_password_stdin {
        return store_journal_password(&setup, &vault, storage).await;
    }
    let file = ConfigFile::read(&setup.settings.paths.config_file)?;
    let (name, base_url) = choose_service(&setup, &args, &file).await?;
    let service = service(&name, base_url, &file, &args.dialect)?;
    let account = Account::new(&name, service.base_url.origin());
    if storage == Storage::Keyring {
        // Nobody is asked for a key that a missing keyring would lose.
        vault.keyring.probe().await?;
    }
    let is_new = !file.profiles.contains_key(&name);
    let (mut key, webhook_secret) = read_secrets(&setup, &args, &account.origin, is_new).await?;

    let config_file = setup.settings.paths.config_file.clone();
    let mut parts =
        Parts::with_target(setup, Target::from_service(service.clone(), key.clone()), false);
    if let Some(given) = &mut key {
        let asks_again = !args.key_stdin && parts.ui.prompter.interactive();
        if try_key(&mut parts, given, &account, is_new, asks_again).await? {
            parts.api.refuse_sandbox().await?;
        }
    }
    for (item, secret) in [(Item::ApiKey, &key), (Item::WebhookSecret, &webhook_secret)] {
        if let Some(secret) = secret {
            vault.store(&account, item, secret, storage).await?;
        }
    }
    if let Some(key) = &key {
        edit(&config_file, |draft| {
            if is_new {
                draft.set(&name, "base_url", service.base_url.join(""))?;
            }
            for assignment in &args.dialect {
                assignment.set(draft, &name)?;
            }
            if file.default_profile.is_none() {
                draft.set_default(&name);
            }
            draft.set(&name, "key_origin", account.origin.as_str())?;
            draft.set(&name, "key_fingerprint", key.fingerprint())
        })?;
    }
    let row = ProfileSecrets::of_account(&vault, &account, Some(&account.origin)).await;
    let profiles = vec![row];
    parts.ui.out.emit(&SecretsList { profiles })?;
    if parts.settings.environment.api_key.is_some() {
        parts.ui.out.warn("BOOKCTL_API_KEY is set and overrides the stored key");
    }
    if file.default_profile.is_none() && key.is_some() {
        let note = format!("commands use profile {name} from now on");
        parts.ui.out.note(&note);
    } else if file.default_profile.as_ref() != Some(&name) {
        let name = shell::word(&name);
        parts.ui.out.note(&format!(
            "to use it, pass --profile {name}, or make it the default with: bookctl profile use {name}"
        ));
    }
    Ok(Exit::Done)
}

async fn store_journal_password(setup: &Startup, vault: &Vault, storage: Storage) -> Result<Exit> {
    let file = ConfigFile::read(&setup.settings.paths.config_file)?;
    let name = setup.settings.named_profile().or(file.default_profile.clone());
    let unnamed = || Error::usage("no profile was named").hint("pass --profile NAME");
    let name = name.ok_or_else(unnamed)?;
    let url = file.profile(&name)?.journal.as_deref().ok_or_else(|| {
        Error::config(format!("profile {name} has no shared journal")).hint(format!(
            "name it first: bookctl profile set {name} journal=postgresql://USER@HOST/DATABASE"
        ))
    })?;
    let address = journal_address(url, &name)?;
    let text = Secret::new(read_stdin().await?);
    let password = text.expose().trim_end_matches(['\r', '\n']);
    if password.is_empty() {
        return Err(Error::usage("no password on standard input"));
    }
    let account = SharedJournal::account(&name, &address);
    let password = Secret::new(password.to_owned());
    vault.store(&account, Item::JournalPassword, &password, storage).await?;
    edit(&setup.settings.paths.config_file, |draft| {
        draft.set(&name, "journal_password_stored", true)
    })?;
    setup.ui.out.note(&format!(
        "the password of the journal at {address} is stored ({})",
        storage.as_str()
    ));
    Ok(Exit::Done)
}

/// Asks the service for its index with the key. If it refuses the key, a terminal asks for another,
/// until one is accepted or the refused one is to be stored; returns whether one was accepted.
async fn try_key(
    parts: &mut Parts,
    key: &mut Secret,
    account: &Account,
    is_new: bool,
    asks_again: bool,
) -> Result<bool> {
    let name = shell::word(&account.profile);
    let learn = format!("bookctl profile learn {name}");
    loop {
        let Err(error) = parts.api.read(Call::get("/v1/")).await else {
            return Ok(true);
        };
        if error.exit != Exit::Unauthorized {
            return Err(error);
        }
        let origin = &account.origin;
        let check =
            format!("nothing was stored; check that the key is complete and belongs to {origin}");
        if error.http_status != Some(401) {
            return Err(error.hint(check));
        }
        let how = format!("the key was sent as `{}`", key_sent_as(parts.api.facts.mapping()));
        if !asks_again {
            let address = shell::word(&parts.api.facts.target().address());
            let add = format!("bookctl profile add {name} --base-url {address} && ");
            let add = if is_new { &*add } else { "" };
            return Err(error.hint(format!(
                "{check}; {how}; to find out how the service wants it, with the key in BOOKCTL_API_KEY: {add}{learn}"
            )));
        }
        parts.ui.out.warn(&format!("{}: {how}", error.message));
        parts.ui.out.note(&format!(
            "if the key is right, the service may want it in another way: keep it, and `{learn}` finds out"
        ));
        let text = format!("API key for {} (Enter keeps this one)", account.origin);
        let question = Question::new(text, "--key-stdin", "API key").hidden();
        let check = |text: &str| match text {
            "" => Ok(()),
            text => one_line(text),
        };
        let text = parts.ui.prompter.text(&question, None, &check).await?;
        if text.is_empty() {
            let note = format!("the key was not tried again; next: {learn}");
            parts.ui.out.note(&note);
            return Ok(false);
        }
        *key = Secret::read(&text).map_err(Error::usage)?;
        parts.api.use_key(key.clone());
    }
}

async fn choose_service(
    setup: &Startup,
    args: &Args,
    file: &ConfigFile,
) -> Result<(String, BaseUrl)> {
    let from_environment = Environment::text(&setup.settings.environment.base_url);
    let given = args.base_url.iter().map(|url| (url, "--base-url"));
    let given = given.chain(from_environment.iter().map(|url| (url, "BOOKCTL_BASE_URL"))).next();
    let url = given.map(|(url, source)| BaseUrl::parse(url, source)).transpose()?;
    let named = setup.settings.named_profile();
    if let Some(name) = &named {
        if let Some(profile) = file.profiles.get(name) {
            let stored = profile.address(name)?;
            if args.base_url.is_some() && url.as_ref() != Some(&stored) {
                return Err(Error::config(other_address(name, &stored))
                    .hint("leave out --base-url, or choose another profile name"));
            }
            return Ok((name.clone(), stored));
        }
        profile_name(name)
            .map_err(|why| Error::usage(format!("--profile {}: {why}", name.escape_debug())))?;
    } else if !setup.ui.prompter.interactive() {
        return Err(Error::usage("no profile was named, and bookctl cannot prompt here")
            .hint("pass --profile NAME, and --base-url URL for a new profile"));
    }
    let url = match url {
        Some(url) => url,
        None => ask_base_url(setup).await?,
    };
    match named {
        Some(name) => Ok((name, url)),
        None => Ok((ask_name(setup, file, &url).await?, url)),
    }
}

async fn ask_base_url(setup: &Startup) -> Result<BaseUrl> {
    let (text, flag) = ("Base URL of the service", "--base-url");
    let question = Question::new(text, flag, "the service's address");
    let check = |text: &str| {
        BaseUrl::parse(text, "the base URL").map(drop).map_err(|error| error.message.clone())
    };
    let text = setup.ui.prompter.text(&question, None, &check).await?;
    BaseUrl::parse(&text, "the base URL")
}

async fn ask_name(setup: &Startup, file: &ConfigFile, url: &BaseUrl) -> Result<String> {
    let question = Question::new("Profile name", "--profile", "the profile's name");
    let check = |text: &str| {
        profile_name(text)?;
        match file.profiles.get(text).map(|profile| profile.address(text)) {
            Some(Ok(stored)) if stored != *url => Err(other_address(text, &stored)),
            _ => Ok(()),
        }
    };
    Ok(setup.ui.prompter.text(&question, check("live").is_ok().then_some("live"), &check).await?)
}

fn other_address(name: &str, stored: &BaseUrl) -> String {
    format!("profile {name} already exists, for {}", stored.join(""))
}

fn service(
    name: &str,
    base_url: BaseUrl,
    file: &ConfigFile,
    dialect: &[Assignment],
) -> Result<Service> {
    let mut settings = file.profiles.get(name).cloned().unwrap_or_default();
    let refused = |key: &str, why| Error::usage(format!("--dialect {key} {why}"));
    for Assignment { key, value } in dialect {
        let set = settings.mapping.set(key, value);
        set.map_err(|why| refused(key.trim_start_matches("dialect."), why))?;
    }
    Ok(Service { profile: Some(name.to_owned()), base_url, settings })
}

/// The key and the webhook secret, as requested. A profile with a key may get a secret alone.
async fn read_secrets(
    setup: &Startup,
    args: &Args,
    origin: &str,
    is_new: bool,
) -> Result<(Option<Secret>, Option<Secret>)> {
    let wants_secret = args.webhook_secret_stdin;
    let wants_key = args.key_stdin || is_new || !wants_secret;
    let asks = !(args.key_stdin || wants_secret) || setup.settings.stdin_is_terminal;
    if wants_key && !args.key_stdin && !asks {
        return Err(Error::usage("a new profile needs an API key")
            .hint("pass --key-stdin too, and the key on the first line"));
    }
    let piped = if asks { String::new() } else { read_stdin().await? };
    let piped = Secret::new(piped);
    let (mut key, mut secret) = (piped.expose(), piped.expose());
    if wants_key && wants_secret {
        (key, secret) = key.split_once('\n').unwrap_or((key, ""));
    }
    let read = async |text: &str, flag, what, piped: &str| {
        if asks {
            let question = Question::new(text, flag, what).hidden();
            let text = setup.ui.prompter.text(&question, None, &one_line).await?;
            return Secret::read(&text).map_err(Error::usage);
        }
        let message = |why| match piped.trim() {
            "" => format!("no {what} on standard input"),
            _ => format!("the {what} on standard input {why}"),
        };
        let shape = "enter one line of ASCII characters without spaces";
        Secret::read(piped).map_err(|why| Error::usage(message(why)).hint(shape))
    };
    let mut given = (None, None);
    if wants_key {
        let text = format!("API key for {origin}");
        given.0 = Some(read(&text, "--key-stdin", "API key", key).await?);
    }
    if wants_secret {
        let flag = "--webhook-secret-stdin";
        given.1 = Some(read("Webhook secret", flag, "webhook secret", secret).await?);
    }
    Ok(given)
}

fn one_line(text: &str) -> Result<(), String> {
    Secret::read(text).map(drop).map_err(|why| format!("it {why}"))
}
