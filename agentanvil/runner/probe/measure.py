"""The arms of a probe, read back → its effects, in the order of the table."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager

from agentanvil.aggregate.probe.findings import Effect, ProbeName, nothing_measured, nothing_yet
from agentanvil.aggregate.probe.kin import SLOPE, KinPairTally, KinTally, LengthTally
from agentanvil.aggregate.probe.paired import DifferenceTally, PreferenceTally
from agentanvil.aggregate.probe.planted import PlantedTally
from agentanvil.aggregate.probe.steady import RepeatTally
from agentanvil.aggregate.probe.values import Values, mean_of
from agentanvil.dataset import WINNER
from agentanvil.dataset.perturb import KINDS
from agentanvil.runner.probe.arms import BASE, SECOND, Layout, reads_plain
from agentanvil.runner.probe.changes import INJECTION, MARKDOWN, PLACEBO, PLAIN, VERBOSITY, planted_side
from agentanvil.runner.probe.plain import Plain, Read, matched, planted_reading, read_arm, read_plain

_STOPPED = "not all of its calls were made; the same command goes on"
_MEASURES: Mapping[ProbeName, str] = {
    "position": "both orders",
    "verbosity": "padding",
    "self-preference": "difference in differences",
    "injection": "planted instruction",
    "repeatability": "same call again",
    "format": "Markdown against plain",
}


class Measurement:
    """Makes the effects of a probe of which the arms in `done` are complete."""

    def __init__(self, layout: Layout, done: Collection[str]) -> None:
        self._layout = layout
        self._done = done
        self._folders = {arm.name: arm.folder for arm in layout.arms}
        rubric = layout.rubric
        self._pairs = rubric.mode == "pairwise"
        self._targets = (WINNER,) if self._pairs else tuple(dimension.id for dimension in rubric.judged)
        # In pairs only who wins counts: 1, 0 or -1.
        self._top = 1.0 if self._pairs else float(rubric.offered.max)
        self._range = 2.0 if self._pairs else float(rubric.offered.max - rubric.offered.min)
        self._repeats = layout.settings.run.repeats
        self._seed = layout.settings.seed

    def effects(self) -> list[Effect]:
        """Return one effect a line. Raises RunFolderError where an arm's journal is damaged."""
        only = self._layout.settings.only
        plain = read_plain(self._folders[BASE], self._layout) if BASE in self._done else Plain()
        return [effect for name in only for effect in self._of_probe(name, plain)]

    def _of_probe(self, name: ProbeName, plain: Plain) -> Iterator[Effect]:
        if name in self._layout.absent:
            yield nothing_measured(name, _MEASURES[name], self._layout.absent[name])
        elif BASE not in self._done and reads_plain(name, self._layout.rubric):
            yield nothing_yet(name, _MEASURES[name], _STOPPED)
        elif name == "position":
            yield plain.place.effect()
        elif name == "verbosity":
            yield from self._verbosity(plain)
        elif name == "self-preference":
            yield from self._self_preference(plain)
        elif name == "injection":
            yield from self._injection(plain)
        elif name == "repeatability":
            yield from self._repeatability(plain)
        else:
            yield from self._changed(plain, "format", PLAIN, MARKDOWN)

    def _verbosity(self, plain: Plain) -> Iterator[Effect]:
        yield from self._changed(plain, "verbosity", BASE, VERBOSITY)
        if self._pairs:
            return
        if not any(label is not None for labels in plain.labels for label in labels) or not plain.lengths:
            yield nothing_measured("verbosity", SLOPE, "no row has a human label")
            return
        for at, target in enumerate(self._targets):
            tally = LengthTally(target, self._range)
            for number, values in enumerate(plain.values):
                score = mean_of(values[at], self._repeats)
                tally.add(score, plain.labels[number][at], plain.lengths[number], plain.groups[number])
            yield tally.effect()

    def _changed(self, plain: Plain, probe: ProbeName, before: str, after: str) -> Iterator[Effect]:
        """Compare two arms of the same items; of pairs, the second arm alone compares both versions itself."""
        measure = _MEASURES[probe]
        unmade = self._unmade(probe, measure, after)
        if unmade is not None:
            yield unmade
        elif self._pairs:
            yield self._preferred(PreferenceTally(probe, measure, self._targets[0]), after)
        else:
            tallies = [DifferenceTally(probe, measure, target, self._range) for target in self._targets]
            with read_arm(self._folders[after]) as items, self._before(plain, before) as earlier:
                for (item_id, old), (_, new) in matched(earlier, items):
                    for at, tally in enumerate(tallies):
                        tally.add(item_id, mean_of(old[at], self._repeats), mean_of(new[at], self._repeats))
            yield from (tally.effect(self._seed) for tally in tallies)

    def _preferred(self, tally: PreferenceTally, arm: str) -> Effect:
        """Count the winners of an arm whose response_b is the changed version."""
        with read_arm(self._folders[arm]) as items:
            for item_id, values in items:
                favour = mean_of(values[0], self._repeats)
                tally.add(item_id, None if favour is None else -favour)
        return tally.effect()

    def _self_preference(self, plain: Plain) -> Iterator[Effect]:
        name: ProbeName = "self-preference"
        measure = _MEASURES[name]
        unmade = self._unmade(name, measure, SECOND) if self._layout.second is not None else None
        if unmade is not None:
            yield unmade
            return
        if not plain.own:
            yield nothing_yet(name, measure, "the rows are not at hand, so nobody knows who wrote them")
            return
        if self._layout.second is None:
            yield from self._kin_effects(plain, plain.labels)
            return
        with read_arm(self._folders[SECOND]) as items:
            graded = [tuple(mean_of(each, self._repeats) for each in values) for _, values in items]
        yield from self._kin_effects(plain, graded)

    def _kin_effects(self, plain: Plain, second: Iterable[Values]) -> Iterator[Effect]:
        beside = list(second)
        pairs = KinPairTally()
        for at, target in enumerate(self._targets):
            tally = KinTally(target, self._range)
            for number, values in enumerate(plain.values):
                ours, theirs = mean_of(values[at], self._repeats), beside[number][at]
                own, group = plain.own[number], plain.groups[number]
                if self._pairs and own:
                    pairs.add(None if ours is None else ours * own, None if theirs is None else theirs * own, group)
                elif not self._pairs and own >= 0:
                    tally.add(ours, theirs, own=bool(own), group=group)
            yield pairs.effect(self._seed) if self._pairs else tally.effect()

    def _injection(self, plain: Plain) -> Iterator[Effect]:
        unmade = self._unmade("injection", _MEASURES["injection"], PLACEBO)
        if unmade is not None:
            yield unmade
            return
        with read_arm(self._folders[PLACEBO]) as items:
            neutral = dict(items)
        for kind in KINDS:
            arm = f"{INJECTION}{kind}"
            unmade = self._unmade("injection", _MEASURES["injection"], arm, kind)
            yield self._planted(kind, plain, neutral) if unmade is None else unmade

    def _planted(self, kind: str, plain: Plain, neutral: Mapping[str, tuple[Values, ...]]) -> Effect:
        tally = PlantedTally(kind, self._top, to_top=self._pairs)
        with read_arm(self._folders[f"{INJECTION}{kind}"]) as items, self._before(plain, BASE) as earlier:
            for (item_id, old), (_, new) in matched(earlier, items):
                side = planted_side(item_id, self._seed) if self._pairs else 1.0
                tally.add(item_id, planted_reading(old, neutral[item_id], new, side))
        return tally.effect()

    def _repeatability(self, plain: Plain) -> Iterator[Effect]:
        for at, target in enumerate(self._targets):
            tally = RepeatTally(target)
            for item_id, values in zip(plain.ids, plain.values, strict=True):
                tally.add(item_id, values[at])
            yield tally.effect(self._seed)

    def _unmade(self, probe: ProbeName, measure: str, arm: str, target: str = "–") -> Effect | None:
        """Return the line of a probe whose arm has no rows, or is not complete; None where it can be measured."""
        count = self._layout.counts.get(arm)
        if count is not None and not count.written:
            told = ", ".join(f"{why} {n}" for why, n in sorted(count.skipped.items()))
            return nothing_measured(probe, measure, f"no response can be changed ({told})")
        return None if arm in self._done else nothing_yet(probe, measure, _STOPPED, target)

    @contextmanager
    def _before(self, plain: Plain, arm: str) -> Iterator[Iterator[Read]]:
        if arm == BASE:
            yield zip(plain.ids, plain.values, strict=True)
            return
        with read_arm(self._folders[arm]) as items:
            yield items
