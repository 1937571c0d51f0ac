// The same as signatures.py with Stripe's library for Node: signatures.mjs FOLDER, where node_modules is.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";

const folder = resolve(process.argv[2]);
const Stripe = createRequire(`${folder}/`)("stripe");
const { webhooks } = new Stripe("sk_test_unused");

function result({ secret, body: file, t, header }) {
  const body = readFileSync(file);
  if (header === undefined) {
    const payload = body.toString("utf8");
    // A text that is not these bytes is not the body.
    if (!Buffer.from(payload, "utf8").equals(body)) return null;
    return webhooks.generateTestHeaderString({ payload, secret, timestamp: t });
  }
  try {
    return webhooks.signature.verifyHeader(body, header, secret, 0);
  } catch (error) {
    if (error.type === "StripeSignatureVerificationError") return false;
    throw error;
  }
}

const jobs = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(jobs.map(result)));
