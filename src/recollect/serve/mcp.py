"""The Model Context Protocol: our tools, resources and prompts on the SDK's server."""

from __future__ import annotations

import asyncio
import logging
import threading
from concurrent.futures import CancelledError
from contextlib import AsyncExitStack, suppress
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import anyio
import anyio.from_thread
import anyio.to_thread
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp.shared.exceptions import MCPError

from recollect.errors import InvalidInput, RecollectError
from recollect.serve import prompts, resources, wire
from recollect.serve.marks import mark
from recollect.serve.mistakes import mistake
from recollect.serve.notices import Notices
from recollect.serve.tool import Call

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from jsonschema import Draft202012Validator
    from mcp.server.connection import Connection
    from mcp.server.session import ServerSession

    from recollect.engine.engine import Engine
    from recollect.serve.tool import Reply, Tool

_log = logging.getLogger(__name__)
# Calls at one time. More would only wait for the same file.
_AT_ONCE = 8
_ANSWERED_SECONDS = 0.02

INSTRUCTIONS = {
    "recall": "A memory that outlives this conversation. Before you answer what may depend on earlier "
    "conversations, call `recall`, or `context` at the start of a task.",
    "remember": "When you learn something that will matter again (a fact, a preference, a decision, a plan), "
    "call `remember` with one self-contained sentence. When something turns out wrong, `remember` the "
    "correction with `supersedes`. Do not save what is only of use in this conversation.",
    "create_entities": "For people, projects and things with several facts use `create_entities` and "
    "`create_relations`.",
}
"""What a model is told of the tools that are offered."""

Context: TypeAlias = ServerRequestContext[Any, Any]
_Work = TypeVar("_Work")


class Serving:
    """One memory, served: what all connections of a process share."""

    def __init__(self, engine: Callable[[], Engine], tools: Sequence[Tool]) -> None:
        self._engine = engine
        self._tools = {tool.name: tool for tool in tools}
        self._validators: dict[str, Draft202012Validator] = {}
        self._limiter = anyio.CapacityLimiter(_AT_ONCE)
        self._bus = InMemorySubscriptionBus()
        self._listening = ListenHandler(self._bus)
        self._subscribers: dict[str, dict[Connection, ServerSession]] = {}
        self._notices = Notices(self._mark, self._store_version, self._tell)
        self.listed = threading.Event()
        """Set once a client has its list of tools."""

    def server(self) -> Server[Any]:
        return Server(
            "recollect",
            version=_version(),
            title="Recollect",
            instructions=" ".join(told for name, told in INSTRUCTIONS.items() if name in self._tools),
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_subscribe_resource=self._subscribe,
            on_unsubscribe_resource=self._unsubscribe,
            on_subscriptions_listen=self._listen,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
            on_completion=self._complete,
        )

    # Tools

    async def _list_tools(self, ctx: Context, params: object) -> types.ListToolsResult:
        # Only once this answer is out: whoever waits for it would take its time.
        asyncio.get_running_loop().call_later(_ANSWERED_SECONDS, self.listed.set)
        return types.ListToolsResult(tools=[described(tool) for tool in self._tools.values()])

    async def _call_tool(self, ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = self._tools.get(params.name)
        if tool is None:
            return _failed(f"There is no tool {params.name!r}; there are: {', '.join(self._tools)}.")
        # Models often write null for what they leave out.
        given = {name: value for name, value in _whole(params.arguments or {}).items() if value is not None}
        steps = Steps(ctx, stops=tool.reads)
        try:
            reply = await self._aside(lambda: self._run(tool, given, steps), abandon=tool.reads)
        except RecollectError as error:
            return _failed(str(error))
        except Exception:  # noqa: BLE001  # whatever it is, the client gets an answer and the others go on
            _log.exception("%s failed", tool.name)
            what_next = "" if tool.reads else " Look whether it was done before you try again."
            return _failed(f"{tool.name} failed unexpectedly; the server's log has the reason.{what_next}")
        finally:
            if not tool.reads:
                self._notices.written()
        return _answered(reply)

    def _run(self, tool: Tool, given: dict[str, Any], steps: Steps) -> Reply:
        """Check the arguments, then do it."""
        if tool.name not in self._validators:
            from jsonschema import Draft202012Validator  # noqa: PLC0415  # a list of tools needs none

            self._validators[tool.name] = Draft202012Validator(tool.takes)
        validator = self._validators[tool.name]
        # The first is enough, and a list of a million mistakes takes no longer than one.
        error = next(validator.iter_errors(given), None)
        if error is not None:
            raise InvalidInput(mistake(tool.name, error))
        return tool.run(Call(self._engine(), given, steps, frozenset(self._tools)))

    async def _aside(self, work: Callable[[], _Work], *, abandon: bool) -> _Work:
        """In a thread, so that other calls go on. A cancelled write is let finish: it is one transaction."""
        return await anyio.to_thread.run_sync(work, limiter=self._limiter, abandon_on_cancel=abandon)

    async def _asked(self, work: Callable[[], _Work]) -> _Work:
        """The same, where a mistake is the protocol's own error: there is no result that could carry it."""
        try:
            return await self._aside(work, abandon=True)
        except RecollectError as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from error

    # Resources

    async def _list_resources(self, ctx: Context, params: object) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=[resources.GRAPH_RESOURCE])

    async def _list_templates(self, ctx: Context, params: object) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=list(resources.TEMPLATES))

    async def _read_resource(
        self,
        ctx: Context,
        params: types.ReadResourceRequestParams,
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        try:
            text = await self._read(uri)
        except RecollectError as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from error
        content = types.TextResourceContents(uri=uri, mime_type="application/json", text=text)
        return types.ReadResourceResult(contents=[content])

    async def _read(self, uri: str) -> str:
        return await self._aside(lambda: resources.read(self._engine(), uri), abandon=True)

    # Notices of change

    async def _subscribe(self, ctx: Any, params: types.SubscribeRequestParams) -> types.EmptyResult:
        uri, connection = str(params.uri), _connection(ctx)
        subscribers = self._subscribers.setdefault(uri, {})
        if connection not in subscribers:
            subscribers[connection] = ctx.session
            connection.exit_stack.callback(self._forget, uri, connection)
            await self._notices.want(uri)
        return types.EmptyResult()

    async def _unsubscribe(self, ctx: Any, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        self._forget(str(params.uri), _connection(ctx))
        return types.EmptyResult()

    def _forget(self, uri: str, connection: Connection) -> None:
        if self._subscribers.get(uri, {}).pop(connection, None) is not None:
            self._notices.leave(uri)

    async def _listen(
        self, ctx: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        wanted = [str(uri) for uri in params.notifications.resource_subscriptions or ()]
        async with AsyncExitStack() as stack:
            for uri in wanted:
                await self._notices.want(uri)
                stack.callback(self._notices.leave, uri)
            return await self._listening(ctx, params)

    async def _tell(self, uri: str) -> None:
        await self._bus.publish(ResourceUpdated(uri=uri))
        for session in list(self._subscribers.get(uri, {}).values()):
            # A client that is going must not keep the others from hearing.
            with suppress(Exception):
                await session.send_resource_updated(uri)

    async def _mark(self, uri: str) -> int:
        return await self._aside(lambda: mark(self._engine(), uri), abandon=True)

    async def _store_version(self) -> int:
        engine = await self._aside(self._engine, abandon=True)
        return await self._aside(engine.store.version, abandon=True)

    # Prompts, completion

    async def _list_prompts(self, ctx: Context, params: object) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=prompts.offered(self._tools))

    async def _get_prompt(
        self,
        ctx: Context,
        params: types.GetPromptRequestParams,
    ) -> types.GetPromptResult:
        name, given = params.name, params.arguments or {}
        return await self._asked(lambda: prompts.prompt(self._engine(), name, given, self._tools))

    async def _complete(
        self,
        ctx: Context,
        params: types.CompleteRequestParams,
    ) -> types.CompleteResult:
        match params.ref:
            case types.ResourceTemplateReference(uri=uri):
                about = str(uri)
            case types.PromptReference(name=name):
                about = name
        argument = params.argument
        values, total = await self._asked(
            lambda: resources.completions(self._engine(), about, argument.name, argument.value)
        )
        shown = values[: resources.MOST_COMPLETIONS]
        return types.CompleteResult(
            completion=types.Completion(
                values=shown, total=total, has_more=len(values) > len(shown) or (total or 0) > len(shown)
            )
        )


class Steps:
    """How far a call is: told to a client that asked for it, and where work that nobody waits for ends."""

    def __init__(self, ctx: Context, *, stops: bool) -> None:
        self._session = ctx.session
        self._stops = stops
        self._before = self._last = 0

    def __call__(self, done: int, total: int | None) -> None:
        """From the worker's thread, after every step."""
        try:
            anyio.from_thread.check_cancelled()
            anyio.from_thread.run(self._tell, done, total)
        except (asyncio.CancelledError, CancelledError):
            # What writes is let finish, or it would be half done.
            if self._stops:
                raise asyncio.CancelledError from None

    async def _tell(self, done: int, total: int | None) -> None:
        if self._before + done <= self._last:
            # Another part of the work has begun, which counts from the start; progress only ever grows.
            self._before = self._last
        self._last = self._before + done
        await self._session.report_progress(self._last, None if total is None else self._before + total)


def _connection(ctx: Context) -> Connection:
    """Who asks, the same in every request; a session is made for each."""
    return ctx.session._connection  # noqa: SLF001  # the SDK gives low-level handlers no other way


def _whole(given: Any) -> Any:
    """With 5.0 as 5: JSON has one sort of number, and its schemas count both as whole."""
    match given:
        case dict():
            return {name: _whole(value) for name, value in given.items()}
        case list():
            return list(map(_whole, given))
        case float() if given.is_integer():
            return int(given)
        case _:
            return given


def described(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.about,
        input_schema=tool.takes,
        output_schema=tool.gives,
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.reads,
            destructive_hint=tool.destroys,
            idempotent_hint=tool.repeats,
            open_world_hint=False,
        ),
    )


def _answered(reply: Reply) -> types.CallToolResult:
    said = wire.shown(reply.data) if reply.text is None else reply.text
    texts = [said] if reply.also is None else [said, reply.also]
    content: list[Any] = [types.TextContent(text=text) for text in texts]
    return types.CallToolResult(content=content, structured_content=dict(reply.data))


def _failed(why: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=why)], is_error=True)


def _version() -> str:
    try:
        return version("recollect-memory")
    except PackageNotFoundError:
        return "0"
