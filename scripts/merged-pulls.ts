// The pull requests in the history of a branch: each commit on its first-parent line is one, merged or squashed.
import { spawnSync } from 'node:child_process'

export interface HistoricalPull {
  /** The commit on the branch, and its parent there. */
  readonly commit: string
  readonly base: string
  /** The merged head, or the commit itself if it was squashed or rebased. */
  readonly head: string
  /** The number that GitHub writes into the commit's first line. Undefined without a number. */
  readonly number: number | undefined
  /** The author of the head: `login:id` for a GitHub no-reply address. */
  readonly author: string
}

const gitLogFormatFields = ['%H', '%P', '%aN', '%aE', '%s']

/**
 * The pull requests of `branch` in a repository, oldest first: those since a date in Git's syntax, and at most the
 * newest `most` of them. Throws an Error with Git's message if there is no such repository or branch.
 */
export function listMergedPulls(
  repository: string,
  branch: string,
  { since, most }: { readonly since?: string | undefined; readonly most: number },
): readonly HistoricalPull[] {
  const line = readGitLog(repository, [
    '--first-parent',
    '--min-parents=1',
    `--max-count=${most}`,
    ...(since === undefined ? [] : [`--since=${since}`]),
    '--end-of-options',
    branch,
  ])
  const heads = line.flatMap(({ parents }) => parents.slice(1, 2))
  const authors = new Map(
    heads.length === 0
      ? []
      : readGitLog(repository, ['--no-walk=unsorted', '--stdin'], heads).map((head) => [
          head.commit,
          parseAuthor(head),
        ]),
  )
  return line
    .map(({ commit, parents: [base = '', head = commit], subject, ...by }) => ({
      commit,
      base,
      head,
      number: parsePullNumber(subject),
      author: authors.get(head) ?? parseAuthor(by),
    }))
    .toReversed()
}

interface LoggedCommit {
  readonly commit: string
  readonly parents: readonly string[]
  readonly name: string
  readonly email: string
  readonly subject: string
}

function readGitLog(
  repository: string,
  selection: readonly string[],
  input: readonly string[] = [],
): LoggedCommit[] {
  const { status, stdout, stderr } = spawnSync(
    'git',
    ['--git-dir', repository, 'log', `--format=${gitLogFormatFields.join('%x00')}`, ...selection],
    { encoding: 'utf8', input: input.join('\n'), maxBuffer: 2 ** 30 },
  )
  if (status !== 0) throw new Error(stderr.trim())
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((record) => {
      const [commit = '', parents = '', name = '', email = '', subject = ''] = record.split('\0')
      return { commit, parents: parents.split(' ').filter(Boolean), name, email, subject }
    })
}

/** GitHub's addresses name the account. Any other address is used as is. */
function parseAuthor({ name, email }: Pick<LoggedCommit, 'name' | 'email'>): string {
  const known = /^(?:(?<id>\d+)\+)?(?<login>[\w.[\]-]+)@users\.noreply\.github\.com$/.exec(email)?.groups
  if (known?.['login'] !== undefined)
    return known['id'] === undefined ? known['login'] : `${known['login']}:${known['id']}`
  return (email || name || 'nobody').replaceAll(':', '-')
}

function parsePullNumber(subject: string): number | undefined {
  const match = /^Merge pull request #(?<merged>\d+) |\(#(?<squashed>\d+)\)$/.exec(subject)?.groups
  const number = match?.['merged'] ?? match?.['squashed']
  return number === undefined ? undefined : Number(number)
}
