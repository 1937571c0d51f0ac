export interface Message {
  id: string;
  to: string;
  text: string;
  code?: string;
  booking_id?: string;
  session_id?: string;
  created_at: string;
}

export interface Fault {
  /** `POST /v1/bookings`, `any` or `webhook`. */
  on?: string;
  kind?: string;
  /** `flaky`, `slow`, `down` or `rate_limited`, instead of `on` and `kind`. */
  preset?: string;
  times?: number | "always";
  rate?: number;
  seed?: number;
  status?: number;
  body?: unknown;
  delay_ms?: number;
  [option: string]: unknown;
}

/** An organization's clock: expiries, rate limits and webhook retries follow it. Each call returns the new time. */
export interface Clock {
  now(): Promise<Date>;
  /** Moves it ahead, for example by `21m`. */
  advance(by: string): Promise<Date>;
  set(to: string | Date): Promise<Date>;
  /** Moves it to when the next thing is due. */
  next(): Promise<Date>;
  freeze(): Promise<Date>;
  resume(): Promise<Date>;
}

export interface Faults {
  add(fault: Fault): Promise<Record<string, unknown>>;
  list(): Promise<Record<string, unknown>[]>;
  clear(): Promise<void>;
}

export interface Booking {
  id: string;
  status: string;
  // The service may add fields.
  [field: string]: any;
}

export interface Report {
  findings: { code: string; title: string; why: string; section: string; requests: string[] }[];
  situations: { code: string; title: string; section: string; met: boolean; requests: string[]; [field: string]: unknown }[];
}

/** What belongs to it is seen by no other test. */
export interface Organization {
  readonly id: string;
  readonly baseUrl: string;
  /** The key that may do everything: `keys.live`. */
  readonly key: string;
  readonly keys: { live: string; test: string; readonly: string };
  readonly webhookSecret: string;
  readonly clock: Clock;
  readonly faults: Faults;
  /** The variables that point bookctl, or a program that reads them, to this organization. */
  readonly env: Record<string, string>;
  /** Calls the service. A booking request has a new idempotency key unless you name one. Rejects with a `SandboxError`. */
  call<T = any>(method: string, path: string, body?: unknown, options?: { key?: string; idempotencyKey?: string }): Promise<T>;
  /** Books for two at 19:30 UTC of the next day by the sandbox's clock; `fields` are added to the request. */
  book(venueId?: string, fields?: Record<string, unknown>): Promise<Booking>;
  bookings(): Promise<Booking[]>;
  /** Does what a provider does later. */
  setBooking(id: string, status: string, fields?: { error_code?: string; error_message?: string }): Promise<Booking>;
  /** The text messages, newest first. */
  inbox(): Promise<Message[]>;
  /** The newest one-time code, or the newest for a booking, a session or a phone number. */
  code(to?: string): Promise<string>;
  /** The webhooks, with every attempt. */
  deliveries(): Promise<Record<string, any>[]>;
  requests(): Promise<Record<string, any>[]>;
  report(): Promise<Report>;
  /** Changes the organization, for example `webhook_url` or `suspended`. */
  update(settings: Record<string, unknown>): Promise<Record<string, unknown>>;
  load(fixtures: { venues?: unknown[]; bookings?: unknown[] }): Promise<Record<string, unknown>>;
  /** Removes everything of this organization, and sets its clock back. */
  reset(): Promise<void>;
  delete(): Promise<void>;
  /** Calls one of the sandbox's controls for this organization alone. */
  control<T = any>(method: string, path: string, body?: unknown): Promise<T>;
}

export interface Server {
  readonly baseUrl: string;
  organization(name?: string): Promise<Organization>;
  report(): Promise<Report>;
  control<T = any>(method: string, path: string, body?: unknown): Promise<T>;
  /** Stops the server if `start` started it. Its exit code is 1 if `failOn` was met. */
  stop(): Promise<number>;
}

export interface StartOptions {
  /** Files; the report's name ends in `.json`, `.xml` or `.md`. */
  fixtures?: string;
  har?: string;
  report?: string;
  /** `findings` or `situations=60%`. */
  failOn?: string;
}

export declare class SandboxError extends Error {
  readonly status?: number;
  readonly body?: unknown;
}

export declare const sandbox: {
  /** Uses the server of `bookctl sandbox run` if the tests run in one, else starts one. It ends with this process. */
  start(options?: StartOptions): Promise<Server>;
  /** Uses a sandbox that is served. */
  at(baseUrl: string): Promise<Server>;
  /** The path of the program. */
  program(): string;
};
