"""``muniment completion``."""

import click

from muniment.pipeline.options import Session, command
from muniment.pipeline.output import write


@command("completion", short_help="Print a completion script for a shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(session: Session, shell: str) -> None:
    """Print a completion script for a shell.

    Commands, options and the ids that the store holds are completed.

    For bash, add to ~/.bashrc:  eval "$(muniment completion bash)"

    For zsh, add to ~/.zshrc after compinit:  eval "$(muniment completion zsh)"

    For fish:  muniment completion fish > ~/.config/fish/completions/muniment.fish
    """
    import sys

    from click.shell_completion import get_completion_class

    from muniment.pipeline.cli import cli

    found = get_completion_class(shell)
    if found is not None:
        write(sys.stdout, found(cli, {}, "muniment", "_MUNIMENT_COMPLETE").source() + "\n")
