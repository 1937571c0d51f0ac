// A sandbox of the Booking API for tests. CommonJS, so that both `import` and jest's `require` load it.
const { spawn } = require("node:child_process");
const { randomUUID } = require("node:crypto");

// What the sandbox's process runs: it prints its environment, then waits until this process closes its input or ends. So no
// server outlives its tests, even if they are killed.
const WAIT = "console.log(JSON.stringify(process.env)); process.stdin.resume()";

class SandboxError extends Error {
  constructor(message, status, body) {
    super(message);
    this.name = "SandboxError";
    this.status = status;
    this.body = body;
  }
}

/** The path of the program: `npm` installs the package of this platform alone. */
function program() {
  const name = `@bookctl/${process.platform}-${process.arch}`;
  try {
    return require.resolve(`${name}/bookctl${process.platform === "win32" ? ".exe" : ""}`);
  } catch {
    throw new Error(`the package ${name} is not installed; install bookctl again, with its optional dependencies`);
  }
}

async function request(url, method, body, headers) {
  const options = { method, headers: { "Content-Type": "application/json", ...headers } };
  const response = await fetch(url, { ...options, body: body === undefined ? undefined : JSON.stringify(body) });
  const text = await response.text();
  let document = text;
  try {
    document = JSON.parse(text);
  } catch {}
  if (!response.ok) throw new SandboxError(`${method} ${url}: ${response.status} ${text}`, response.status, document);
  return document;
}

/** The first line of a process that ends when its input does. */
function firstLine(child) {
  return new Promise((resolve, reject) => {
    let text = "";
    child.on("error", reject);
    child.on("exit", (code) => reject(new SandboxError(`bookctl sandbox run ended with ${code}`)));
    child.stdout.setEncoding("utf8").on("data", (part) => {
      text += part;
      if (text.includes("\n")) resolve(text.slice(0, text.indexOf("\n")));
    });
  });
}

class Server {
  constructor(baseUrl, child, home) {
    this.baseUrl = baseUrl;
    this.child = child;
    this.home = home;
  }

  control(method, path, body) {
    return request(this.baseUrl + path, method, body);
  }

  async organization(name) {
    return new Organization(this, await this.control("POST", "/sandbox/organizations", name ? { name } : {}));
  }

  report() {
    return this.control("GET", "/sandbox/report");
  }

  async stop() {
    const child = this.child;
    this.child = undefined;
    if (!child) return 0;
    const ended = new Promise((resolve) => child.on("exit", resolve));
    child.ref();
    child.stdin.end();
    return ended;
  }
}

class Organization {
  constructor(server, access) {
    this.server = server;
    this.baseUrl = server.baseUrl;
    this.id = access.id;
    this.keys = access.keys;
    this.key = access.keys.live;
    this.webhookSecret = access.webhook_secret;
    const clock = (method, change) => this.control(method, "/sandbox/clock", change).then((it) => new Date(it.now));
    this.clock = {
      now: () => clock("GET"),
      advance: (by) => clock("POST", { advance: by }),
      set: (to) => clock("POST", { set: to instanceof Date ? to.toISOString() : to }),
      next: () => clock("POST", { next: true }),
      freeze: () => clock("POST", { freeze: true }),
      resume: () => clock("POST", { resume: true }),
    };
    const faults = (method, body) => this.control(method, "/sandbox/faults", body);
    this.faults = {
      add: (fault) => faults("POST", fault),
      list: async () => (await faults("GET")).faults,
      clear: async () => void (await faults("DELETE")),
    };
  }

  get env() {
    return {
      BOOKCTL_BASE_URL: this.baseUrl,
      BOOKCTL_API_KEY: this.key,
      BOOKCTL_WEBHOOK_SECRET: this.webhookSecret,
      ...(this.server.home && { BOOKCTL_HOME: this.server.home }),
    };
  }

  control(method, path, body) {
    const joint = path.includes("?") ? "&" : "?";
    return this.server.control(method, `${path}${joint}organization=${encodeURIComponent(this.id)}`, body);
  }

  call(method, path, body, { key = this.key, idempotencyKey = randomUUID() } = {}) {
    const headers = { Authorization: `Bearer ${key}`, "Idempotency-Key": idempotencyKey };
    return request(this.baseUrl + path, method, body, headers);
  }

  async book(venue_id = "ven_confirms", fields = {}) {
    const tomorrow = new Date((await this.clock.now()).getTime() + 24 * 3600 * 1000).toISOString().slice(0, 10);
    const booking = { venue_id, datetime: `${tomorrow}T19:30:00Z`, party_size: 2, customer: { name: "Ada Lovelace" } };
    return this.call("POST", "/v1/bookings", { ...booking, ...fields });
  }

  async bookings() {
    return (await this.control("GET", "/sandbox/bookings")).bookings;
  }

  setBooking(id, status, fields) {
    return this.control("PUT", `/sandbox/bookings/${encodeURIComponent(id)}`, { status, ...fields });
  }

  async inbox() {
    return (await this.control("GET", "/sandbox/inbox")).messages;
  }

  async code(to) {
    const about = (it) => to === undefined || [it.booking_id, it.session_id, it.to].includes(to);
    const message = (await this.inbox()).find((it) => it.code && about(it));
    if (!message) throw new SandboxError(`no text message has a code${to ? ` for ${to}` : ""}`);
    return message.code;
  }

  async deliveries() {
    return (await this.control("GET", "/sandbox/deliveries")).deliveries;
  }

  async requests() {
    return (await this.control("GET", "/sandbox/requests")).requests;
  }

  report() {
    return this.control("GET", "/sandbox/report");
  }

  update(settings) {
    return this.control("PUT", "/sandbox/organization", settings);
  }

  load(fixtures) {
    return this.control("POST", "/sandbox/fixtures", fixtures);
  }

  async reset() {
    await this.control("POST", "/sandbox/reset");
  }

  async delete() {
    await this.server.control("DELETE", `/sandbox/organizations/${encodeURIComponent(this.id)}`);
  }
}

async function at(baseUrl) {
  const url = baseUrl.replace(/\/+$/, "");
  const index = await request(`${url}/`, "GET").catch((error) => ({ error: error.message }));
  if (!index.controls_openapi_url) {
    throw new SandboxError(`${baseUrl} is not a sandbox${index.error ? `: ${index.error}` : ""}`);
  }
  return new Server(url);
}

async function start({ fixtures, har, report, failOn } = {}) {
  if (process.env.BOOKCTL_BASE_URL) return at(process.env.BOOKCTL_BASE_URL);
  const options = Object.entries({ "--fixtures": fixtures, "--har": har, "--report": report, "--fail-on": failOn });
  const flags = options.flatMap(([flag, value]) => (value === undefined ? [] : [`${flag}=${value}`]));
  const command = ["sandbox", "run", "--quiet", ...flags, "--", process.execPath, "-e", WAIT];
  // A process group of its own: Ctrl-C ends the tests, and they end the server.
  const child = spawn(program(), command, { stdio: ["pipe", "pipe", "inherit"], detached: process.platform !== "win32" });
  const environment = JSON.parse(await firstLine(child));
  // It keeps no test runner from ending.
  for (const it of [child, child.stdin, child.stdout]) it.unref();
  return new Server(environment.BOOKCTL_BASE_URL, child, environment.BOOKCTL_HOME);
}

exports.sandbox = { start, at, program };
exports.SandboxError = SandboxError;
