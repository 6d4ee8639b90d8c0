// The commands for a pull request that exists only as commits of a local repository.
import { Option, type Command } from 'commander'
import type { ActionOptions } from '../action.ts'
import type { CheckOptions } from '../check.ts'
import type { DiffOptions } from '../diff.ts'
import { addHelp } from '../help.ts'
import type { LocalPullOptions } from '../local-pull.ts'
import { insecureRegistryOption, listOption, outputOption, roleOption } from '../options.ts'

export function addPullCommands(program: Command): void {
  addActionCommand(program)
  addHelp(
    addPullOptions(
      program
        .command('check')
        .description('decide on a pull request in a local git repository, without GitHub'),
    )
      .addOption(outputOption('text', 'json'))
      .action(async (options: CheckOptions) => (await import('../check.ts')).checkPull(options)),
    [
      'check',
      'check --base upstream/main --author your-login',
      'check --repo ../catalog --head update --offline -o json',
    ],
    `The author is the login that git (github.user) or gh has for you. Exit code: 0 if the bot would merge it, 1 if not
(blocked, waiting for people, or a registry did not answer), 2 if the command could not run.`,
  )
  addHelp(
    addPullOptions(
      program
        .command('explain')
        .description('print snapshot, facts, findings, verdict and actions of a decision, and stop'),
    ).action(async (options: LocalPullOptions) => (await import('../explain.ts')).explainPull(options)),
    ['explain', 'explain --base main --head update --author your-login --offline'],
    `It prints one JSON document. For the page of a rule: "catalog-bot rule ID". Exit codes are those of check.`,
  )
  addHelp(
    addCommitRangeOptions(
      program.command('diff').description('show what changes in the catalogs between two commits'),
    )
      .addOption(outputOption('text', 'json', 'markdown', 'svg', 'mermaid'))
      .option('--out <folder>', 'svg: where to write a file for each package that changes')
      .action(async (options: DiffOptions) => (await import('../diff.ts')).printDiff(options)),
    ['diff', 'diff --base main --head update -o markdown', 'diff -o svg --out pictures'],
    `The head is compared once it is merged into the base. svg and mermaid draw the channels that change: new parts are green,
removed parts are red. markdown ends with the mermaid picture. Exit code: 0, also if nothing changes; 2 if the command could
not run.`,
  )
}

function addActionCommand(program: Command): void {
  addHelp(
    program
      .command('action')
      .description('judge in a GitHub workflow: annotations, a summary of the job, SARIF')
      .option('--sarif <file>', 'write the findings as SARIF')
      .addOption(
        new Option('--fail-on <what>', 'when the step fails').choices(['errors', 'never']).default('errors'),
      )
      .option('--offline', 'contact no registry (the images check stays unknown)')
      .action(async (options: ActionOptions) => (await import('../action.ts')).runAction(options)),
    ['action', 'action --sarif catalog-bot.sarif --fail-on never'],
    `It reads what the runner says about the event. On "pull_request" it decides as "check" does; on "push", "merge_group",
"schedule" and "workflow_dispatch" it validates every catalog. It needs no token and no secret, and refuses events that bring
them together with what a stranger wrote, such as "pull_request_target". The checkout must hold the merge commit and its
parents: fetch-depth 2. docs/action.md has a workflow to copy. Exit code: 0 if nothing is wrong, or people must still agree;
1 if the author must change something; 2 if the command could not run.`,
  )
}

function addCommitRangeOptions(command: Command): Command {
  return command
    .option('--repo <path>', 'the repository', '.')
    .addOption(
      new Option('--base <rev>', 'the base branch or commit (default: the default branch of the remote)'),
    )
    .option('--head <rev>', 'the branch or commit to merge', 'HEAD')
}

function addPullOptions(command: Command): Command {
  return addCommitRangeOptions(command)
    .option('--author <login>', 'who opens the pull request, as LOGIN or LOGIN:ID (default: you)')
    .addOption(listOption('--approved-by <login>', 'somebody who has approved exactly this head'))
    .addOption(roleOption())
    .addOption(insecureRegistryOption())
    .option('--offline', 'contact no registry (the images check stays unknown)')
}
