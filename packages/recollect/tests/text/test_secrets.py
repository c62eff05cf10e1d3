"""Keys and passwords are found; texts that only look odd are left alone."""

from __future__ import annotations

from pathlib import Path

from recollect.text.secrets import without_secrets

# Put together here, so that no scanner of repositories takes them for real ones.
GITHUB = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
OPENAI = "sk-" + "proj-abc123DEF456ghi789JKL012"
ANTHROPIC = "sk-" + "ant-api03-Ab1_Cd2-Ef3Gh4Ij5Kl6Mn7Op8"
AWS = "AKIA" + "IOSFODNN7EXAMPLE"
SLACK = "xoxb-" + "123456789012-abcdefABCDEF"
JWT = "eyJ" + "hbGciOiJIUzI1NiJ9.eyJ" + "zdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"
GENERATED = "wJalrXUtnFEMIK7MDENGbPxRfiCYzK3uQ9vT"
PEM = f"-----BEGIN RSA PRIVATE {'KEY'}-----\nMIIEow\nIBAAK\n-----END RSA PRIVATE {'KEY'}-----"


def test_a_secret_gives_way_to_a_placeholder() -> None:
    for text, left in (
        (f"use {GITHUB} to push", "use [GitHub token left out] to push"),
        (f"key: {OPENAI}.", "key: [API key left out]."),
        (f"export ANTHROPIC_API_KEY={ANTHROPIC}", "export ANTHROPIC_API_KEY=[API key left out]"),
        (f"aws {AWS} and {SLACK}", "aws [AWS key left out] and [Slack token left out]"),
        (f"cookie {JWT}", "cookie [JSON web token left out]"),
        (f"here:\n{PEM}\nthanks", "here:\n[private key left out]\nthanks"),
        (f"-----BEGIN PRIVATE {'KEY'}-----\nMIIEvQ", "[private key left out]"),  # cut off before its end
        ("password=hunter2", "password=[password left out]"),
        ("DB_PASSWORD: s3cret!", "DB_PASSWORD: [password left out]"),
        ('{"password": "correct-horse"}', '{"password": "[password left out]"}'),
        ("my password is hunter2, ok?", "my password is [password left out], ok?"),
        ("Die Passphrase ist 'blaue Berge 7'", "Die Passphrase ist '[password left out]'"),
        ("client_secret = 'abc123def456'", "client_secret = '[secret left out]'"),
        (f"X_SETTING={GENERATED}", "X_SETTING=[secret left out]"),
        ("postgres://ana:pa55w0rd@db/memory", "postgres://ana:[password left out]@db/memory"),
        ("Authorization: Bearer abc123def456ghi789", "Authorization: Bearer [token left out]"),
        ("redis://:s3cr3tpass@localhost:6379/0", "redis://:[password left out]@localhost:6379/0"),
        ("Das Passwort lautet Gr8tWall!", "Das Passwort lautet [password left out]"),
        ("DATABASE_PASSWORD='pa ss word 1'", "DATABASE_PASSWORD='[password left out]'"),
        ("curl -u admin:Passw0rd99 https://a.example", "curl -u admin:[password left out] https://a.example"),
        ("mysql -u root -pS3cretPw db", "mysql -u root -p[password left out] db"),
        ("deploy --password hunter2xyz", "deploy --password [password left out]"),
        ("sshpass -p 'L0ngPw!23' ssh host", "sshpass -p '[password left out]' ssh host"),
        (f"the token is {GENERATED}", "the token is [secret left out]"),
        ("the password for the NAS: Blau3Katze", "the password for the NAS: [password left out]"),
        ("hvs." + "CAESIJlU02LQZq7Xy1aB2cD3", "[Vault token left out]"),
        ("shpat_" + "e19cbae530282bd36cb9d21f6be6abf0", "[Shopify token left out]"),
    ):
        found, count = without_secrets(text)
        assert found == left
        assert count == left.count("left out")
        assert without_secrets(found) == (found, 0)  # a placeholder is no secret


def test_what_only_looks_odd_stays() -> None:
    _, *lines = (Path(__file__).parent / "no_secrets.txt").read_text("utf-8").splitlines()
    assert [line for line in lines if without_secrets(line) != (line, 0)] == []
