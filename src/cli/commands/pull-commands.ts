// The commands for a pull request that exists only as commits in a local repository.
import { Option, type Command } from 'commander'
import {
  createInsecureRegistryOption,
  createCommaSeparatedOption,
  createOutputOption,
  createRepositoryRoleOption,
  addExamplesToHelp,
  runImported,
} from '../options.ts'

export function addPullRequestCommands(program: Command): void {
  addGitHubActionCommand(program)
  addExamplesToHelp(
    addPullRequestOptions(
      program.command('check').description('Predict whether catalog-bot would merge a local branch'),
    )
      .addOption(createOutputOption('text', 'json'))
      .action(runImported(async () => (await import('../check.ts')).runCheckCommand)),
    [
      'check',
      'check --base upstream/main --author your-login',
      'check --repo ../catalog --head update --offline -o json',
    ],
    `The default author is your GitHub login, from github.user in the Git configuration or from gh.

Exit codes:
  0  catalog-bot would merge the branch
  1  catalog-bot would not merge the branch (it is blocked, waiting for approval, or inconclusive)
  2  the command could not run`,
  )
  addExamplesToHelp(
    addPullRequestOptions(
      program.command('explain').description('Print the full decision for a branch as JSON'),
    ).action(runImported(async () => (await import('../check.ts')).printPullRequestExplanation)),
    ['explain', 'explain --base main --head update --author your-login --offline'],
    `The JSON document contains the snapshot, facts, findings, verdict, and actions. To learn about a rule, run "catalog-bot rule ID".

Exit codes:
  0  catalog-bot would merge the branch
  1  catalog-bot would not merge the branch
  2  the command could not run`,
  )
  addExamplesToHelp(
    addCommitRangeOptions(program.command('diff').description('Show catalog changes between two commits'))
      .addOption(createOutputOption('text', 'json', 'markdown', 'svg', 'mermaid'))
      .option('--out <folder>', 'svg: folder in which to write one file per changed package')
      .action(runImported(async () => (await import('../check.ts')).printCatalogDiff)),
    ['diff', 'diff --base main --head update -o markdown', 'diff -o svg --out pictures'],
    `The command compares the base with the result of merging the head into it. The svg and mermaid formats draw the channels that change, with
additions in green and removals in red. The markdown format ends with the Mermaid diagram.

Exit codes:
  0  success, even if nothing changes
  2  the command could not run`,
  )
}

function addGitHubActionCommand(program: Command): void {
  addExamplesToHelp(
    program
      .command('action')
      .description('Run checks in a GitHub Actions workflow')
      .option('--sarif <file>', 'file in which to write the findings in SARIF format')
      .addOption(
        new Option('--fail-on <what>', 'condition under which the step fails')
          .choices(['errors', 'never'])
          .default('errors'),
      )
      .option('--offline', 'do not contact any registry (the result of the images check is then unknown)')
      .action(runImported(async () => (await import('../action.ts')).runGitHubAction)),
    ['action', 'action --sarif catalog-bot.sarif --fail-on never'],
    `The command reads the event from the runner, and writes annotations, a job summary, and optionally SARIF. For "pull_request"
events, the command makes the same decision as the check command. For "push", "merge_group", "schedule", and "workflow_dispatch" events, the command validates every catalog.

The command requires no token or secret. The command rejects events that combine secrets with untrusted content, such as
"pull_request_target". The checkout must contain the merge commit and its parents (fetch-depth: 2). See docs/how-to/actions.md for a
workflow to copy.

Exit codes:
  0  nothing is wrong, only approvals are missing, or the result is inconclusive
  1  the author must change something
  2  the command could not run`,
  )
}

function addCommitRangeOptions(command: Command): Command {
  return command
    .option('--repo <path>', 'path to the repository', '.')
    .addOption(
      new Option('--base <rev>', 'base branch or commit (default: the default branch of the remote)'),
    )
    .option('--head <rev>', 'branch or commit to merge', 'HEAD')
}

function addPullRequestOptions(command: Command): Command {
  return addCommitRangeOptions(command)
    .option('--author <login>', 'author of the pull request, as LOGIN or LOGIN:ID (default: you)')
    .addOption(
      createCommaSeparatedOption('--approved-by <login>', 'user who approved this exact head commit'),
    )
    .addOption(createRepositoryRoleOption())
    .addOption(createInsecureRegistryOption())
    .option('--offline', 'do not contact any registry (the result of the images check is then unknown)')
}
