"""The check that is a function of one's own: Python beside the rubric, run only where that was allowed.

A rubric may come from anybody. So nothing of it is run unasked, and what is run is one file that lies in the rubric's
own folder: no package, no other folder, no link to one, no compiled file that lies there instead.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import CodeType, ModuleType

from agentanvil.checks.finding import Check, CheckFaultError, Finding, ParameterError, Parameters
from agentanvil.checks.item import item_of
from agentanvil.dataset import Row
from agentanvil.errors import quoted
from agentanvil.hashing import digest, well_formed

CHECK_FAILED = "check_failed"

_NAME = re.compile("([A-Za-z_][A-Za-z0-9_]*):([A-Za-z_][A-Za-z0-9_]*)")
_LONGEST = 300


class OwnCode:
    """Loads the functions that one rubric names; each module once."""

    def __init__(self, file: str | None, *, allowed: bool) -> None:
        """`file` is the rubric's."""
        self._folder = None if file is None else Path(file).resolve().parent
        self._allowed = allowed
        self._modules: dict[str, ModuleType] = {}
        self._digests: dict[str, str] = {}

    @property
    def digests(self) -> dict[str, str]:
        """The hash of each module's text, by the name of its file."""
        return dict(self._digests)

    def check(self, params: Parameters) -> Check:
        """Passes where `function` returns True, or (True, reason). It is called with an `Item`.

        What it raises, and what it returns beside these, is no answer: CheckFaultError `check_failed`. What it prints
        goes to standard error. Raises ParameterError where it was not allowed, or cannot be loaded.
        """
        name = str(params.get("function"))
        function = self._load(name)

        def check(row: Row) -> Finding:
            item = item_of(row)
            try:
                with redirect_stdout(sys.stderr):
                    result = function(item)
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # sys.exit() in there must not end the run
                raise CheckFaultError(CHECK_FAILED, f"{name} raised {_told(error)}") from None
            return _finding(name, result)

        return check

    def _load(self, name: str) -> Callable[[object], object]:
        named = _NAME.fullmatch(name)
        if named is None:
            raise ParameterError("function", f"{quoted(name)} does not name a function as `module:function`")
        if not self._allowed:
            hint = f"read {named[1]}.py beside the rubric; if you trust it, allow it with --allow-code"
            raise ParameterError("function", f"{name} is Python code, and running it was not allowed", hint)
        module = self._module(named[1])
        function: Callable[[object], object] | None = getattr(module, named[2], None)
        if not callable(function):
            raise ParameterError("function", f"{named[1]}.py has no function {quoted(named[2])}")
        _refuse_signature(function, name)
        return function

    def _module(self, name: str) -> ModuleType:
        if name not in self._modules:
            path = self._find(name)
            try:
                source = path.read_bytes()
            except OSError as error:
                raise ParameterError("function", f"{path.name} cannot be read: {error.strerror}") from None
            self._modules[name] = _execute(path, source)
            self._digests[path.name] = digest("code", source)
        return self._modules[name]

    def _find(self, name: str) -> Path:
        if self._folder is None:
            raise ParameterError("function", "this rubric lies in no folder, so that no module can lie beside it")
        path = self._folder / f"{name}.py"
        try:
            real = path.resolve(strict=True)
        except (OSError, RuntimeError):  # Python 3.12 and before tell a circle of links by the latter
            hint = "the module is one file in the rubric's own folder; packages and other folders are not searched"
            raise ParameterError("function", f"there is no {path.name} beside the rubric", hint) from None
        if real.parent != self._folder:
            raise ParameterError("function", f"{path.name} is a link that leads out of the rubric's folder")
        if not real.is_file():
            raise ParameterError("function", f"{path.name} is not a file")
        return path


class _TextLoader(SourceFileLoader):
    """Runs the text that was read, never a compiled file that claims to be of it."""

    def __init__(self, name: str, path: Path, source: bytes) -> None:
        super().__init__(name, str(path))
        self._source = source

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002  # the import system asks with it
        return self.source_to_code(self._source, self.path)


def _execute(path: Path, source: bytes) -> ModuleType:
    """Return the module under a name that no import statement finds."""
    name = f"_agentanvil_check_{digest(str(path))[:16]}_{path.stem}"
    loader = _TextLoader(name, path, source)
    spec = spec_from_loader(name, loader, origin=str(path))
    assert spec is not None  # noqa: S101  # a loader was given
    module = module_from_spec(spec)
    # Dataclasses and pickle look a class's module up there.
    sys.modules[name] = module
    try:
        with redirect_stdout(sys.stderr):
            loader.exec_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        del sys.modules[name]
        raise ParameterError("function", f"{path.name} cannot be loaded: {_told(error)}") from None
    return module


def _refuse_signature(function: Callable[..., object], name: str) -> None:
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        raise ParameterError("function", f"{name} is asynchronous; a check is a plain function")
    try:
        inspect.signature(function).bind(None)
    except TypeError:
        raise ParameterError("function", f"{name} must take one argument, the item to check") from None
    except ValueError:  # written in C, and silent about its parameters
        return


def _finding(name: str, result: object) -> Finding:
    match result:
        case bool():
            return Finding(result, f"{name} says {'yes' if result else 'no'}")
        case (bool() as passed, str() as reason) if isinstance(result, tuple):
            return Finding(passed, _one_line(reason) or f"{name} says {'yes' if passed else 'no'}")
    what = _one_line(type(result).__name__)
    raise CheckFaultError(CHECK_FAILED, f"{name} returned {what}, neither a boolean nor a (boolean, reason) pair")


def _told(error: BaseException) -> str:
    """Return an exception's type and message on one line."""
    try:
        text = _one_line(str(error))
    except Exception:  # its own __str__ is foreign code too
        text = ""
    kind = type(error).__name__
    return f"{kind}: {text}" if text else kind


def _one_line(text: str) -> str:
    line = " ".join(well_formed(text[: 4 * _LONGEST]).split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
