"""The Model Context Protocol: our tools, resources and prompts on the SDK's server."""

from __future__ import annotations

import asyncio
import logging
import threading
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp.shared.exceptions import MCPError

from recollect.errors import InvalidInput, RecollectError
from recollect.serve import prompts, resources, wire
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
        self._subscribers: dict[str, dict[Connection, ServerSession]] = {}
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
            on_subscriptions_listen=ListenHandler(self._bus),
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
            on_completion=self._complete,
        )

    # Tools

    async def _list_tools(self, ctx: Context, params: object) -> types.ListToolsResult:
        # Only once this answer is out: whoever waits for it would take its time.
        asyncio.get_running_loop().call_later(_ANSWERED_SECONDS, self.listed.set)
        return types.ListToolsResult(tools=[_described(tool) for tool in self._tools.values()])

    async def _call_tool(self, ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = self._tools.get(params.name)
        if tool is None:
            return _failed(f"There is no tool {params.name!r}; there are: {', '.join(self._tools)}.")
        # Models often write null for what they leave out.
        given = {name: value for name, value in _whole(params.arguments or {}).items() if value is not None}
        try:
            reply = await self._aside(lambda: self._run(tool, given), abandon=tool.reads)
        except RecollectError as error:
            return _failed(str(error))
        except Exception:  # noqa: BLE001  # whatever it is, the client gets an answer and the others go on
            _log.exception("%s failed", tool.name)
            return _failed(
                f"{tool.name} failed unexpectedly; nothing was lost. The server's log has the reason."
            )
        if not tool.reads:
            await self._tell_of_change()
        return _answered(reply)

    def _run(self, tool: Tool, given: dict[str, Any]) -> Reply:
        """Check the arguments, and say what is wrong with them in words that a model can act on."""
        if tool.name not in self._validators:
            from jsonschema import Draft202012Validator  # noqa: PLC0415  # a list of tools needs none

            self._validators[tool.name] = Draft202012Validator(tool.takes)
        validator = self._validators[tool.name]
        # The first is enough, and a list of a million mistakes takes no longer than one.
        error = next(validator.iter_errors(given), None)
        if error is not None:
            place = ".".join(map(str, error.absolute_path))
            where = f"`{place}`: " if place else ""
            raise InvalidInput(f"{tool.name}: {where}{_short(error.message)}. Nothing was done.")
        return tool.run(Call(self._engine(), given))

    async def _aside(self, work: Callable[[], _Work], *, abandon: bool) -> _Work:
        """In a thread, so that other calls go on. A cancelled write is let finish: it is one transaction."""
        return await anyio.to_thread.run_sync(work, limiter=self._limiter, abandon_on_cancel=abandon)

    async def _asked(self, work: Callable[[], _Work]) -> _Work:
        """The same, where a mistake is the protocol's own error: there is no result that could carry it."""
        try:
            return await self._aside(work, abandon=True)
        except RecollectError as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from error

    async def _tell_of_change(self) -> None:
        await self._bus.publish(ResourceUpdated(uri=resources.GRAPH))
        for session in list(self._subscribers.get(resources.GRAPH, {}).values()):
            # A client that is going must not fail another's call.
            with suppress(Exception):
                await session.send_resource_updated(resources.GRAPH)

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
        text = await self._asked(lambda: resources.read(self._engine(), uri))
        content = types.TextResourceContents(uri=uri, mime_type="application/json", text=text)
        return types.ReadResourceResult(contents=[content])

    async def _subscribe(self, ctx: Any, params: types.SubscribeRequestParams) -> types.EmptyResult:
        subscribers = self._subscribers.setdefault(str(params.uri), {})
        connection = _connection(ctx)
        if connection not in subscribers:
            connection.exit_stack.callback(subscribers.pop, connection, None)
        subscribers[connection] = ctx.session
        return types.EmptyResult()

    async def _unsubscribe(self, ctx: Any, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        self._subscribers.get(str(params.uri), {}).pop(_connection(ctx), None)
        return types.EmptyResult()

    # Prompts, completion

    async def _list_prompts(self, ctx: Context, params: object) -> types.ListPromptsResult:
        offered = [one for one in prompts.PROMPTS if one.name != "save" or "remember" in self._tools]
        return types.ListPromptsResult(prompts=offered)

    async def _get_prompt(
        self,
        ctx: Context,
        params: types.GetPromptRequestParams,
    ) -> types.GetPromptResult:
        return await self._asked(lambda: prompts.prompt(self._engine(), params.name, params.arguments or {}))

    async def _complete(
        self,
        ctx: Context,
        params: types.CompleteRequestParams,
    ) -> types.CompleteResult:
        values = await self._asked(
            lambda: resources.completions(self._engine(), params.argument.name, params.argument.value)
        )
        return types.CompleteResult(completion=types.Completion(values=values))


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


def _short(message: str) -> str:
    """What was given stands at the start of a message, what is wrong with it at the end."""
    return message if len(message) <= 400 else f"{message[:200]} … {message[-180:]}"


def _described(tool: Tool) -> types.Tool:
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
