"""`mlecore plugins`: what is installed, and what is wrong with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mlecore.cli.shared import json_option, print_json, print_table
from mlecore.errors import MlecoreError, UsageError
from mlecore.model.plugin import Plugin
from mlecore.plugins.discovery import DISABLE, KINDS, disabled_in_vain, installed

if TYPE_CHECKING:
    from mlecore.plugins.loading import Loaded


@click.group("plugins", invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """List and inspect installed plugins."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_plugins)


@command.command("list")
@click.option("--kind", type=click.Choice(KINDS), help="Only plugins of this kind.")
@json_option
def list_plugins(kind: str | None = None, as_json: bool = False) -> None:
    """List installed plugins, with the reason if one cannot be used."""
    found = installed(kind)
    if as_json:
        print_json([_row(plugin) for plugin in found])
        return
    if not found:
        click.echo("No plugins are installed. To install the first one: pip install mle-agent-dummy")
        return
    print_table(
        ["KIND", "NAME", "VERSION", "DISTRIBUTION", "STATE"],
        [[p.kind, p.name, p.version, p.distribution, p.state] for p in found],
        spare=["DISTRIBUTION"],
    )
    for plugin in found:
        if plugin.reason:
            click.echo(f"{plugin} is {plugin.state}: {plugin.reason}", err=True)
    for name in disabled_in_vain():
        click.echo(f"{DISABLE} names {name}, which is not installed", err=True)


def _row(plugin: Plugin) -> dict[str, str]:
    row = {name: getattr(plugin, name) for name in ("kind", "name", "version", "distribution", "state")}
    return {**row, "reason": plugin.reason, "origin": str(plugin.origin or "")} if plugin.reason else row


@command.command("show")
@click.argument("name")
@click.option("--kind", type=click.Choice(KINDS), help="Kind of the plugin, if two kinds share the name.")
@json_option
def show(name: str, kind: str | None, as_json: bool) -> None:
    """Show one plugin: its hooks, options, needs and origin."""
    named = [plugin for plugin in installed(kind) if plugin.name == name]
    if not named:
        raise UsageError(f"there is no plugin called {name!r}", fix="`mlecore plugins list` shows what is installed.")
    if len({plugin.kind for plugin in named}) > 1:
        kinds = ", ".join(plugin.kind for plugin in named)
        raise UsageError(f"{name!r} is the name of several plugins ({kinds})", fix="Say which with --kind.")
    facts = [_described(plugin) for plugin in named]
    if as_json:
        print_json(facts[0] if len(facts) == 1 else facts)
    else:
        for fact in facts:
            _print(fact)
    if any(fact["state"] in ("broken", "incompatible") for fact in facts):
        raise click.exceptions.Exit(1)


def _described(plugin: Plugin) -> dict[str, Any]:
    out: dict[str, Any] = {**_row(plugin), "summary": plugin.summary, "origin": str(plugin.origin or "")}
    if plugin.state != "ok":
        return out
    from mlecore.plugins.loading import load

    try:
        loaded = load(plugin.kind, plugin.name)
        out["hooks"] = loaded.hooks
        out |= _declared(plugin.kind, loaded)
    except MlecoreError as error:
        out |= {"state": "broken", "reason": error.message}
    return out


def _declared(kind: str, loaded: Loaded) -> dict[str, Any]:
    from attrs import asdict

    if kind == "backend":
        backend = loaded.call("backend", options={})
        return {"summary": backend.summary, "options": [asdict(option) for option in backend.options]}
    if kind in ("agent", "detector"):
        declared = loaded.call(kind)
        out = {"summary": declared.summary, "options": [asdict(option) for option in declared.options]}
        return out | {"needs": asdict(declared.needs)} if kind == "agent" else out
    return {}


def _print(fact: dict[str, Any]) -> None:
    click.secho(f"{fact['kind']} {fact['name']}", bold=True)
    for key in ("summary", "version", "distribution", "origin", "state", "reason"):
        if fact.get(key):
            click.echo(f"  {key + ':':14}{fact[key]}")
    if "hooks" in fact:
        click.echo(f"  {'hooks:':14}{', '.join(fact['hooks'])}")
    for key, value in fact.get("needs", {}).items():
        if value and value != "none":
            click.echo(f"  {'needs:':14}{key} {value}")
    for option in fact.get("options", ()):
        default = f" [{option['default']}]" if option["default"] is not None else ""
        click.echo(f"  {'option:':14}{option['name']} ({option['type']}): {option['help']}{default}")
