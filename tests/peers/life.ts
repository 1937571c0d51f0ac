// The whole life cycle through clients that openapi-typescript and openapi-fetch make: life.ts BASE_URL.
//
// `service.d.ts` is made from docs/openapi.json, `controls.d.ts` from docs/sandbox-openapi.json.
import assert from "node:assert/strict";
import createClient from "openapi-fetch";
import type { components, paths } from "./service.d.ts";
import type { paths as controls } from "./controls.d.ts";

type Schemas = components["schemas"];

const baseUrl = process.argv[2];
assert.ok(baseUrl);
const withKey = (key: string) =>
  createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${key}` } });
const service = withKey("sk_live_sandbox");
const sandbox = createClient<controls>({ baseUrl });
let calls = 0;

/** The answer of a call that has to succeed. */
async function done<T>(call: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  const { data, error, response } = await call;
  calls += 1;
  assert.ok(data !== undefined, `${response.status}: ${JSON.stringify(error)}`);
  return data;
}

/** The error of a call that has to be refused. */
async function refused<E>(status: number, call: Promise<{ error?: E; response: Response }>): Promise<NonNullable<E>> {
  const { error, response } = await call;
  calls += 1;
  assert.equal(response.status, status);
  assert.ok(error);
  return error;
}

async function code(): Promise<string> {
  const { messages } = await done(sandbox.GET("/sandbox/inbox"));
  assert.ok(messages[0]);
  return messages[0].code;
}

const { now } = await done(sandbox.GET("/sandbox/clock"));
const tomorrow = new Date(Date.parse(now) + 24 * 3600 * 1000).toISOString().slice(0, 10);
const datetime = `${tomorrow}T19:30:00+00:00`;
const customer = { name: "Ada Lovelace", phone: "+44 20 7946 0123" };

const order = (venue_id: string, more: Partial<Schemas["CreateBookingRequest"]> = {}) => ({
  body: { venue_id, datetime, party_size: 2, customer, ...more },
});
const book = (venue_id: string, more: Partial<Schemas["CreateBookingRequest"]> = {}) =>
  done(service.POST("/v1/bookings", order(venue_id, more)));
const answer = (booking_id: string, body: Schemas["ContinueBookingRequest"]) =>
  service.POST("/v1/bookings/{booking_id}/continue", { params: { path: { booking_id } }, body });

// From the search to the booking.
assert.equal((await done(service.GET("/v1/"))).sandbox, true);
const search = { body: { vertical: "dining", datetime, location: "Sandbox", party_size: 2 } } as const;
const { venues } = await done(service.POST("/v1/venues/search", search));
assert.ok(venues?.some((it) => it.venue_id === "ven_confirms" && it.provider === "provider_a"));
const wanted = { body: { venue_id: "ven_confirms", datetime, party_size: 2 } };
const { slots } = await done(service.POST("/v1/availability/search", wanted));
const slot = slots?.find((it) => it.datetime === datetime);
assert.ok(slot);
const keyed = {
  ...order("ven_confirms", { availability_id: slot.availability_id }),
  params: { header: { "Idempotency-Key": "a key" } },
};
const first = await done(service.POST("/v1/bookings", keyed));
const again = await done(service.POST("/v1/bookings", keyed));
assert.equal(first.id, again.id);
assert.equal(first.status, "confirmed");

// A change, and the end.
const params = { path: { booking_id: first.id } };
const changed = await done(service.POST("/v1/bookings/{booking_id}/modify", { params, body: { party_size: 3 } }));
assert.equal(changed.last_modification?.changes?.["party_size"]?.to, 3);
const body = { reason: "The guest is ill." };
const cancelled = await done(service.POST("/v1/bookings/{booking_id}/cancel", { params, body }));
assert.equal(cancelled.status, "cancelled");
const other = await book("ven_confirms_b");
const unsupported = await refused(
  422,
  service.POST("/v1/bookings/{booking_id}/modify", {
    params: { path: { booking_id: other.id } },
    body: { party_size: 3 },
  }),
);
assert.ok("error_code" in unsupported && unsupported.error_code === "modify_unsupported");

// A one-time code: `type` tells what the booking waits for.
const waiting = await book("ven_otp");
assert.ok(waiting.next_action?.type === "otp");
assert.ok(Date.parse(waiting.next_action.expires_at ?? "") > Date.parse(now));
const wrong = await refused(400, answer(waiting.id, { otp: "000000" }));
assert.ok("error_code" in wrong && wrong.error_code === "invalid_otp");
assert.equal(wrong.attempts_left, 4);
assert.equal((await done(answer(waiting.id, { otp: await code() }))).status, "confirmed");

// Details, and a payment.
const asked = await book("ven_confirm_details");
assert.ok(asked.next_action?.type === "confirm_details");
const details = Object.fromEntries((asked.next_action.fields ?? []).map((it) => [it, "as asked"]));
assert.equal((await done(answer(asked.id, details))).status, "confirmed");
const paying = await book("ven_payment", { payment_collection: "vendor_external" });
assert.ok(paying.next_action?.type === "payment_approval");
const approval_id = paying.next_action.psp_request?.approval_id ?? "";
const paid = await done(answer(paying.id, { psp_response: { approval_id, status: "approved" } }));
assert.equal(paid.status, "confirmed");

// What no list has is read all the same, and answered.
const unforeseen = await book("ven_unforeseen");
assert.equal(unforeseen.status, "waitlisted");
assert.equal(unforeseen.error_code, "provider_timeout");
const table = Object.fromEntries((unforeseen.next_action?.fields ?? []).map((it) => [it, "by the window"]));
assert.equal((await done(answer(unforeseen.id, table))).status, "confirmed");

// Time, and a failure.
const late = await book("ven_otp");
await done(sandbox.POST("/sandbox/clock", { body: { advance: "21m" } }));
const expired = await done(service.GET("/v1/bookings/{booking_id}", { params: { path: { booking_id: late.id } } }));
assert.equal(expired.status, "expired");
assert.equal((await book("ven_provider_fails")).error_code, "provider_error");
const fault = await done(
  sandbox.POST("/sandbox/faults", { body: { on: "GET /v1/", kind: "status", status: 503 } }),
);
assert.equal(fault.kind, "status");
assert.equal((await service.GET("/v1/")).response.status, 503);

// Refusals.
const unauthorized = await refused(401, withKey("sk_live_nobody").GET("/v1/"));
assert.equal(unauthorized.error, "unauthorized");
const forbidden = await refused(403, withKey("sk_live_readonly").POST("/v1/bookings", order("ven_confirms")));
assert.ok("required_scope" in forbidden && forbidden.required_scope === "bookings:create");
const invalid = await refused(400, service.POST("/v1/bookings", order("ven_confirms", { party_size: 99 })));
assert.ok("fields" in invalid && invalid.fields["party_size"]);
const unknown = await refused(
  404,
  service.GET("/v1/bookings/{booking_id}", { params: { path: { booking_id: "bk_0000000000000" } } }),
);
assert.ok("open_bookings" in unknown && unknown.open_bookings.length === 0);

// A session.
const person = { end_user: "ada", phone: "+44 20 7946 0123" };
const { id } = await done(service.POST("/v1/sessions", { body: person }));
const session = { params: { path: { id } } };
const verified = await done(service.POST("/v1/sessions/{id}/verify", { ...session, body: { code: await code() } }));
assert.equal(verified.state, "active");
const { sessions } = await done(service.GET("/v1/sessions", { params: { query: { end_user: "ada" } } }));
assert.deepEqual(sessions?.map((it) => it.id), [id]);
assert.equal(typeof (await done(service.GET("/v1/sessions/{id}/card", session))).has_card, "boolean");
assert.equal((await done(service.DELETE("/v1/sessions/{id}", session))).deleted, true);

// The limit of a search.
for (let index = 0; index < 25; index += 1) await service.POST("/v1/venues/search", search);
const limited = await refused(429, service.POST("/v1/venues/search", search));
assert.ok("retry_after_seconds" in limited && limited.limit === 25);

console.log(calls);
