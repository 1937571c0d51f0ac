// A team's tests with the package of npm: 20 of them, at the same time.
import { execFileSync } from "node:child_process";
import { sandbox, SandboxError, type Organization, type Server } from "bookctl";
import { afterAll, beforeAll, describe, expect, test as plain } from "vitest";

let server: Server;
beforeAll(async () => {
  server = await sandbox.start();
});
afterAll(async () => {
  expect((await server.report()).findings).toEqual([]);
  expect(await server.stop()).toBe(0);
});

const test = plain.extend<{ organization: Organization }>({
  organization: async ({ task }, use) => use(await server.organization(task.name)),
});

const outcomes = {
  ven_confirms: "confirmed",
  ven_confirms_b: "confirmed",
  ven_confirms_c: "confirmed",
  ven_otp: "requires_action",
  ven_confirm_details: "requires_action",
  ven_processing: "processing",
  ven_provider_fails: "failed",
};

describe.concurrent("an organization for each test", () => {
  for (const [venue, status] of Object.entries(outcomes)) {
    test(`${venue} is ${status}`, async ({ organization }) => {
      expect((await organization.book(venue)).status).toBe(status);
    });
  }

  for (const party_size of [1, 2, 3, 4, 5, 6]) {
    test(`bookings of its own, for ${party_size}`, async ({ organization }) => {
      await organization.book("ven_confirms", { party_size });
      expect((await organization.bookings()).map((it) => it.party_size)).toEqual([party_size]);
    });
  }

  test("a one-time code confirms", async ({ organization }) => {
    const { id } = await organization.book("ven_otp");
    const code = await organization.code(id);
    expect((await organization.inbox()).map((it) => it.code)).toEqual([code]);
    const booking = await organization.call("POST", `/v1/bookings/${id}/continue`, { otp: code });
    expect(booking.status).toBe("confirmed");
  });

  test("a code that is not given expires", async ({ organization }) => {
    const { id } = await organization.book("ven_otp");
    const before = await organization.clock.now();
    const after = await organization.clock.advance("21m");
    expect(after.getTime() - before.getTime()).toBeGreaterThanOrEqual(21 * 60_000);
    expect((await organization.call("GET", `/v1/bookings/${id}`)).status).toBe("expired");
  });

  test("a clock is set and frozen", async ({ organization }) => {
    await organization.clock.freeze();
    const noon = new Date("2035-05-20T12:00:00Z");
    await organization.clock.set(noon);
    expect(await organization.clock.now()).toEqual(noon);
  });

  test("a fault meets the next request", async ({ organization }) => {
    await organization.faults.add({ on: "POST /v1/bookings", kind: "status", status: 503 });
    await expect(organization.book()).rejects.toMatchObject({ status: 503 });
    expect((await organization.book("ven_confirms_b")).status).toBe("confirmed");
    await organization.faults.add({ preset: "down" });
    await organization.faults.clear();
    expect(await organization.faults.list()).toEqual([]);
  });

  test("a rejected request has status and body", async ({ organization }) => {
    const rejected = organization.call("GET", "/v1/", undefined, { key: "sk_live_unknown" });
    await expect(rejected).rejects.toBeInstanceOf(SandboxError);
    await expect(rejected).rejects.toMatchObject({ status: 401, body: { error: expect.any(String) } });
  });

  test("fixtures are loaded", async ({ organization }) => {
    const booking = { venue_id: "ven_confirms", datetime: "+1d 19:30", party_size: 2, customer: { name: "Ada" } };
    await organization.load({ bookings: [booking] });
    expect(await organization.bookings()).toHaveLength(1);
  });

  test("a command of its own reaches it", async ({ organization }) => {
    const env = { ...process.env, ...organization.env };
    const tomorrow = new Date((await organization.clock.now()).getTime() + 24 * 3600_000).toISOString().slice(0, 10);
    const command = ["book", "ven_confirms", "--at", `${tomorrow} 19:30`, "--party", "2", "--name", "Ada Lovelace"];
    execFileSync(sandbox.program(), command, { env, stdio: "pipe" });
    expect(await organization.bookings()).toHaveLength(1);
  });
});
