"""`mlecore completion`: what a shell needs to complete commands, options and names."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

_PROFILE = {"bash": "~/.bashrc", "zsh": "~/.zshrc", "fish": "~/.config/fish/completions/mlecore.fish"}


@click.command("completion")
@click.argument("shell", type=click.Choice(list(_PROFILE)))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print the script that completes commands, options and the names of competitions, agents, groups and runs.

    \b
    eval "$(mlecore completion bash)"                      in ~/.bashrc
    eval "$(mlecore completion zsh)"                       in ~/.zshrc
    mlecore completion fish > ~/.config/fish/completions/mlecore.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(context.find_root().command, {}, "mlecore", "_MLECORE_COMPLETE").source())
