"""Made-up credentials of every shape, put together here so that no file holds one."""

from __future__ import annotations

BODY = "Ab3dE6gH9jK2mN5pQ8sT"
WEB_TOKEN = f"eyJ{BODY}.eyJ{BODY}.{BODY}"
KNOWN = {
    "an API key (sk-…)": f"sk-{BODY}",
    "a GitHub token (gh?_…)": f"ghp_{BODY}",
    "a Google access token (ya29.…)": f"ya29.{BODY}",
    "a Slack token (xox?-…)": f"xoxb-{BODY}",
    "an AWS access key (AKIA…)": "AKIA" + "A1B2C3D4E5F6G7H8",
    "an AWS access key (ASIA…)": "ASIA" + "A1B2C3D4E5F6G7H8",
    "a JSON web token (eyJ…)": WEB_TOKEN,
    "a private key (PEM)": "-----BEGIN RSA PRIVATE " + f"KEY-----\\n{BODY}",
    "a Slack webhook address": f"https://hooks.slack.com/services/T0A1B2C3D/B0A1B2C3D/{BODY}",
    "an address with its password": f"postgres://app:{BODY}@db.internal/app",
}
RANDOM = "q7Zr1XbK9sVf3LwYt8Gd5PhMn2C4"
"""28 different characters: log2(28) = 4.8 bits each."""
