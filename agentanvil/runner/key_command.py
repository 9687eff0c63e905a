"""A key that a command prints, such as a password manager's: it never stands in a file or in the environment."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Mapping

from agentanvil.client.secret import Secret
from agentanvil.client.spec import sendable_key
from agentanvil.errors import JudgeSetupError, UsageError

PATIENCE_S = 60.0
"""A password manager may ask its user first."""


def key_from(command: str, environ: Mapping[str, str]) -> Secret:
    """Run a command without a shell and return what it prints, blanks and the last line break aside.

    What it writes to standard error goes to the terminal, since it may ask for something; its output is shown nowhere.
    Raises UsageError for no command, JudgeSetupError where it fails, is silent or takes more than PATIENCE_S,
    ConfigError for what cannot be sent.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"--api-key-command cannot be read: {error}", hint="Close every quotation mark.") from None
    if not words:
        raise UsageError("--api-key-command names no command")
    name = words[0]
    try:
        done = subprocess.run(  # noqa: S603 - the user's own command, without a shell
            words, stdin=None, stdout=subprocess.PIPE, env=dict(environ), timeout=PATIENCE_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise JudgeSetupError(f"the key command {name} gave no key within {PATIENCE_S:g} s") from None
    except OSError as error:
        raise JudgeSetupError(
            f"the key command {name} cannot be run: {error.strerror or error}",
            hint="Give its full path; it is run without a shell, so that pipes and variables are not known.",
        ) from None
    if done.returncode != 0:
        raise JudgeSetupError(f"the key command {name} failed with exit code {done.returncode}")
    key = done.stdout.decode("utf-8", "replace").strip()
    if not key:
        raise JudgeSetupError(f"the key command {name} printed nothing")
    return sendable_key(key, f"what the key command {name} printed")
