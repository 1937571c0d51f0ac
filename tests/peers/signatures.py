"""Stripe's own signatures, made and verified: jobs as a JSON list on standard input, results as one on standard output.

A job is {"secret", "body": <file>} with either "t", to be signed, or "header", to be verified. A result is the header,
or whether it was accepted; null where the library takes no such body.
"""

import json
import sys

from stripe import SignatureVerificationError, WebhookSignature


def result(job):
    with open(job["body"], "rb") as file:
        body = file.read()
    try:
        if "header" in job:
            return WebhookSignature.verify_header(body, job["header"], job["secret"])
        return WebhookSignature.generate_signature_header(body.decode(), job["secret"], job["t"])
    except SignatureVerificationError:
        return False
    except UnicodeDecodeError:
        return None


json.dump([result(job) for job in json.load(sys.stdin)], sys.stdout)
