// The commands for a pull request that exists only as commits of a local repository.
import { Option, type Command } from 'commander'
import type { CheckOptions } from '../check.ts'
import type { DiffOptions } from '../diff.ts'
import { explain } from '../help.ts'
import type { LocalPullOptions } from '../local-pull.ts'
import { insecureRegistry, list, outputs, role } from '../options.ts'

export function addPullCommands(program: Command): void {
  explain(
    addPull(
      program
        .command('check')
        .description('decide on a pull request in a local git repository, without GitHub'),
    )
      .addOption(outputs('text', 'json'))
      .action(async (options: CheckOptions) => (await import('../check.ts')).check(options)),
    [
      'check',
      'check --base upstream/main --author your-login',
      'check --repo ../catalog --head update --offline -o json',
    ],
    `The author is the login that git (github.user) or gh has for you. Exit code: 0 if the bot would merge it, 1 if not
(blocked, waiting for people, or a registry did not answer), 2 if the command could not run.`,
  )
  explain(
    addPull(
      program
        .command('explain')
        .description('print snapshot, facts, findings, verdict and actions of a decision, and stop'),
    ).action(async (options: LocalPullOptions) => (await import('../explain.ts')).explain(options)),
    ['explain', 'explain --base main --head update --author your-login --offline'],
    `It prints one JSON document. For the page of a rule: "catalog-bot rule ID". Exit codes are those of check.`,
  )
  explain(
    addRange(program.command('diff').description('show what changes in the catalogs between two commits'))
      .addOption(outputs('text', 'json', 'markdown', 'svg', 'mermaid'))
      .option('--out <folder>', 'svg: where to write a file for each package that changes')
      .action(async (options: DiffOptions) => (await import('../diff.ts')).diff(options)),
    ['diff', 'diff --base main --head update -o markdown', 'diff -o svg --out pictures'],
    `The head is compared once it is merged into the base. svg and mermaid draw the channels that change: new parts are green,
removed parts are red. markdown ends with the mermaid picture. Exit code: 0, also if nothing changes; 2 if the command could
not run.`,
  )
}

function addRange(command: Command): Command {
  return command
    .option('--repo <path>', 'the repository', '.')
    .addOption(
      new Option('--base <rev>', 'the base branch or commit (default: the default branch of the remote)'),
    )
    .option('--head <rev>', 'the branch or commit to merge', 'HEAD')
}

function addPull(command: Command): Command {
  return addRange(command)
    .option('--author <login>', 'who opens the pull request, as LOGIN or LOGIN:ID (default: you)')
    .addOption(list('--approved-by <login>', 'somebody who has approved exactly this head'))
    .addOption(role())
    .addOption(insecureRegistry())
    .option('--offline', 'contact no registry (the images check stays unknown)')
}
