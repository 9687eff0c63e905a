"""What a `check` may hold: one strict model per type, since each type has its own parameters."""

from __future__ import annotations

from typing import Annotated

from pydantic import Discriminator, Tag

from agentanvil.rubric.wire_text_checks import (
    ContainsCheckWire,
    EqualsFieldCheckWire,
    JsonSchemaCheckWire,
    LanguageCheckWire,
    MaxCharsCheckWire,
    MaxWordsCheckWire,
    NotContainsCheckWire,
    NumericRangeCheckWire,
    RegexCheckWire,
)
from agentanvil.rubric.wire_trace_checks import (
    ArgumentMatchesCheckWire,
    CallOrderCheckWire,
    MaxCallsCheckWire,
    MaxCostCheckWire,
    MaxLatencyCheckWire,
    MaxTokensCheckWire,
    MustCallCheckWire,
    MustNotCallCheckWire,
    NoErrorStepsCheckWire,
    PythonCheckWire,
)


def check_tag(value: object) -> str:
    """Return the tag of a check's model. Tags are in brackets, so that no key can look like one."""
    return f"<{value.get('type')}>" if isinstance(value, dict) else "<none>"


CheckWire = Annotated[
    Annotated[RegexCheckWire, Tag("<regex>")]
    | Annotated[ContainsCheckWire, Tag("<contains>")]
    | Annotated[NotContainsCheckWire, Tag("<not_contains>")]
    | Annotated[JsonSchemaCheckWire, Tag("<json_schema>")]
    | Annotated[MaxWordsCheckWire, Tag("<max_words>")]
    | Annotated[MaxCharsCheckWire, Tag("<max_chars>")]
    | Annotated[EqualsFieldCheckWire, Tag("<equals_field>")]
    | Annotated[NumericRangeCheckWire, Tag("<numeric_range>")]
    | Annotated[LanguageCheckWire, Tag("<language>")]
    | Annotated[MustCallCheckWire, Tag("<must_call>")]
    | Annotated[MustNotCallCheckWire, Tag("<must_not_call>")]
    | Annotated[CallOrderCheckWire, Tag("<call_order>")]
    | Annotated[MaxCallsCheckWire, Tag("<max_calls>")]
    | Annotated[ArgumentMatchesCheckWire, Tag("<argument_matches>")]
    | Annotated[NoErrorStepsCheckWire, Tag("<no_error_steps>")]
    | Annotated[MaxLatencyCheckWire, Tag("<max_latency_ms>")]
    | Annotated[MaxCostCheckWire, Tag("<max_cost_usd>")]
    | Annotated[MaxTokensCheckWire, Tag("<max_tokens>")]
    | Annotated[PythonCheckWire, Tag("<python>")],
    Discriminator(check_tag),
]
