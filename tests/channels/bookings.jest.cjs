// The same package under jest, which loads CommonJS: an organization and a clock for each test, at the same time.
const { sandbox } = require("bookctl");

let server;
beforeAll(async () => {
  server = await sandbox.start();
});
afterAll(async () => {
  expect((await server.report()).findings).toEqual([]);
  expect(await server.stop()).toBe(0);
});

test.concurrent.each(["21m", "22m", "23m", "24m"])("a code that is not given has expired after %s", async (passed) => {
  const organization = await server.organization(passed);
  const { id } = await organization.book("ven_otp");
  await organization.clock.advance(passed);
  expect((await organization.call("GET", `/v1/bookings/${id}`)).status).toBe("expired");
  expect(await organization.inbox()).toHaveLength(1);
});
