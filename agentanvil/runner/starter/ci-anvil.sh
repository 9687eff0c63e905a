#!/bin/sh
# One step for any CI system that has Python 3.11 or later: `sh ci-anvil.sh`. Give it the judge's key as a secret in
# the environment, and keep the folder anvil-run: anvil-run/junit.xml is a test report.
#
# Exit codes: 0 passed; 1 a gate failed; 2 rubric, data or settings are wrong; 3 verdicts are missing; 4 a gate that
# decides on intervals cannot tell yet, or its judge is not calibrated as anvil.yaml demands.
set -eu
cd "$(dirname "$0")"
python3 -m pip install --quiet agentanvil-judge
anvil lint rubric.yaml
anvil grade data.jsonl --out anvil-run
