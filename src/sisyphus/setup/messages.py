"""Every sentence of `install` and `uninstall`."""

import os
from collections.abc import Iterable

from sisyphus import clients
from sisyphus.clients import installer
from sisyphus.ground.paths import display
from sisyphus.ground.text import one_line

NOTHING_TO_DO = {
    "install": "Nothing to do: sisyphus is installed here.",
    "uninstall": "Nothing to remove: sisyphus is not installed here.",
}
QUESTION = "Make these changes?"
DRY_RUN = "Nothing was changed: this is a dry run."
DECLINED = "Nothing was changed."
RESTYLED = "spaces and line breaks: the file gets a regular layout"
NO_HOME = "There is no home folder. Set HOME or CLAUDE_CONFIG_DIR and run the command again."
ONLY_USER = (
    "A session of an agent cannot uninstall sisyphus. Run `sisyphus uninstall` in another terminal."
)


def path(name: str) -> str:
    return one_line(display(name, ""))


def title(command: str, project: str, scope: str) -> str:
    where = f"for you, in {path(project)} alone" if project else "for you, in all projects"
    if scope == installer.PROJECT:
        where = f"for everybody who has {path(project)}"
    verb = "adds" if command == "install" else "removes"
    return f"sisyphus {command} {verb}, {where}:"


def shared(names: list[str]) -> str:
    """names: of the clients for which everybody gets it who has the project."""
    first = "Everybody who uses this project needs the command `sisyphus` on the PATH."
    return " ".join(filter(None, [first, *(clients.wiring(name).SHARED for name in names)]))


def loads_rules(client: str) -> str:
    """Says that rules reach the model twice in a client for which everybody gets our hooks."""
    command = installer.command("install", client, installer.LOCAL)
    return (
        f"{clients.wiring(client).TITLE} itself loads rules that sisyphus sends; `{command}` "
        "prevents that on one machine."
    )


def left_out_rules(client: str) -> str:
    """Says what `install` does about rules that a client would load although we send them."""
    setting, title = clients.native(client).RULES_SETTING, clients.wiring(client).TITLE
    return (
        f"sisyphus sends these rules when they apply, and {setting} keeps {title} from loading "
        "them at every start. Only your own and those of this project are listed: run `sisyphus "
        "install` once in each project that has such rules."
    )


def entry(key: str, names: Iterable[str]) -> str:
    return f"{key}: {', '.join(path(name) for name in names)}"


def folder(name: str, files: Iterable[str]) -> str:
    return f"{path(name)}: {', '.join(os.path.basename(file) for file in files)}"


def installed(names: list[str], scope: str, project: str, *, is_known: bool) -> str:
    """names: of the clients. project: "" = all of them. is_known: the user has them, or has named
    one."""
    *others, last = (clients.wiring(name).TITLE for name in names)
    titles = f"{', '.join(others)} and {last}" if others else last
    signs = {clients.wiring(name).TITLE: clients.native(name).COMMAND_SIGN for name in names}
    sign = next(iter(signs.values()))
    hint = "".join(f" (in {t} with `{s}` for `{sign}`)" for t, s in signs.items() if s != sign)
    first = "".join(f"{text} " for name in names if (text := clients.wiring(name).NEXT))
    out = installer.command("uninstall", scope=scope)
    where = f" in {path(project)}" if project else ""
    use = "that starts from now on uses" if is_known else "will use"
    return (
        f"Done. {first}Every session of {titles}{where} {use} sisyphus. In one, "
        f'type `{sign}ralph-loop "TASK"`, or `{sign}start-work` to follow a PLAN.md{hint}. In a '
        f"terminal, `sisyphus status` shows what goes on. `{out}` takes it out again."
    )


def nobody_here(client: str) -> str:
    """client: the one that `install` takes then."""
    return (
        "There is no client here that sisyphus knows. This is for when you have "
        f"{clients.wiring(client).TITLE}; `--client` names another one."
    )


def uninstalled(state: str, left: Iterable[str]) -> str:
    """left: files of ours outside of that folder and of projects."""
    more = "".join(f" and {path(file)}" for file in left)
    return (
        f"Done. Plans, loops and logs stay in {path(state)}, where `sisyphus purge` removes what "
        f"is old. What was written elsewhere stays, too: handoffs and the like in your projects"
        f"{more}. To remove the program too, use what installed it, for example `uv tool uninstall "
        "sisyphus-hooks`."
    )


def completion_stays(file: str, *, is_whole: bool) -> str:
    """is_whole: there is nothing else in the file."""
    what = "Delete that file." if is_whole else "Take that out of it by hand."
    return f"{path(file)} completes sisyphus at the Tab key. {what}"


def foreign_home(home: str, owner: str) -> str:
    """owner: whose home it is, while root installs."""
    return (
        f"You are root, and {path(home)} is of {owner}, who may then not be able to write what you "
        "make there. Run the command as that user, without `sudo`."
    )


def own_command(file: str) -> str:
    return f"{path(file)} is your own file. It stays, and ours of that name is not installed."


def not_a_project(folder: str) -> str:
    return (
        f"{one_line(folder)} cannot be a project: it is your home folder, or contains it. Go to "
        "a project's folder, or leave out --scope to install for all projects."
    )


def unknown_plugin(file: str) -> str:
    return (
        f"{path(file)} is a plugin of another version of sisyphus, and may have been edited. "
        "Delete it, if you do not need it."
    )


def edited_command(file: str) -> str:
    return f"{path(file)} has been edited, so it stays."


def elsewhere(project: str, scope: str, client: str) -> str:
    """client: the one for which it is installed there; "" = the user has named none."""
    what = f"sisyphus is also installed for {path(project) if project else 'all projects'}"
    what += f", in {clients.wiring(client).TITLE}" if client else ""
    return f"{what}: `{installer.command('uninstall', client, scope, project)}`."


def unreadable(file: str, why: str) -> tuple[str, str]:
    """Returns what is wrong, and what to do, as do the next three."""
    what = f"{path(file)} cannot be edited: {one_line(why)}."
    return what, "Correct the file and run the command again."


def dropped(file: str, client: str, why: str) -> tuple[str, str]:
    title = clients.wiring(client).TITLE
    what = f"{path(file)} does nothing: {one_line(why)}. For that {title} ignores the whole file."
    return what, "Correct the file and run the command again."


def read_only(file: str) -> tuple[str, str]:
    what = f"{path(file)} cannot be written: it is read-only."
    return what, "Make it writable, or add the hooks where you manage it."


def leads_out(file: str) -> tuple[str, str]:
    what = f"{path(file)} leads out of the project, so it is not written."
    return what, "Replace the link with a file or use --scope user."


def left_out(client: str, what: str, mend: str) -> str:
    return f"{what} {clients.wiring(client).TITLE} is left out, the others go on. {mend}"


def changed(file: str) -> str:
    return f"{path(file)} has changed in the meantime, so it stays. Run the command again."


def record_stays(why: str) -> str:
    return (
        f"The record of this install could not be removed, so `sisyphus uninstall` may name it "
        f"again: {one_line(why)}."
    )


def failed(file: str, why: str) -> str:
    return f"{path(file)} cannot be changed: {why}. Correct this and run the command again."


def no_terminal(command: str) -> str:
    return f"Nothing was changed: there is no terminal to ask you. Use --yes to {command}."
