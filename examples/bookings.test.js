import { sandbox } from "bookctl";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";

let server, organization;
beforeAll(async () => (server = await sandbox.start()));
beforeEach(async () => (organization = await server.organization()));
afterAll(() => server.stop());

test("a one-time code confirms the booking", async () => {
  const { id } = await organization.book("ven_otp");
  const otp = await organization.code(id);
  expect((await organization.call("POST", `/v1/bookings/${id}/continue`, { otp })).status).toBe("confirmed");
});

test("a code that is not given expires", async () => {
  const { id } = await organization.book("ven_otp");
  await organization.clock.advance("21m");
  expect((await organization.call("GET", `/v1/bookings/${id}`)).status).toBe("expired");
});
