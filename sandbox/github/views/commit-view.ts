// Commits and file differences as GitHub's REST answers and webhooks show them, read from git.
import { isCountable } from '../git/countable.ts'
import { git, mergeBase } from '../git/git-store.ts'
import { looseCommit, looseRange, type Person } from '../git/loose-history.ts'
import { looseOr } from '../git/loose-objects.ts'
import { looseDifference, type FileDifference } from '../git/loose-trees.ts'
import { verificationOf } from '../signing.ts'
import { accountByLogin, timestampOf } from '../world.ts'
import type { Payload, Repo, World } from '../world.ts'
import { accountView, nodeId } from './account-view.ts'
import { apiUrl, webUrl } from './repository-view.ts'

export interface CommitData {
  readonly sha: string
  readonly tree: string
  readonly parents: readonly string[]
  readonly author: Identity
  readonly committer: Identity
  readonly message: string
}

interface Identity {
  readonly name: string
  readonly email: string
  readonly date: string
}

const format = ['%H', '%T', '%P', '%an', '%ae', '%at', '%cn', '%ce', '%ct', '%B'].join('%x00')

/** Commits in `git log` order for any of its selections, newest first. */
export async function readCommits(path: string, ...selection: string[]): Promise<CommitData[]> {
  const text = await git(path, 'log', '--no-show-signature', `--format=${format}%x00%x01`, ...selection, '--')
  return text
    .split('\0\x01\n')
    .filter(Boolean)
    .map((record) => {
      const [
        sha = '',
        tree = '',
        parents = '',
        an = '',
        ae = '',
        at = '',
        cn = '',
        ce = '',
        ct = '',
        message = '',
      ] = record.split('\0')
      return {
        sha,
        tree,
        parents: parents.split(' ').filter(Boolean),
        author: { name: an, email: ae, date: timestampOf(Number(at) * 1000) },
        committer: { name: cn, email: ce, date: timestampOf(Number(ct) * 1000) },
        message: message.trimEnd(),
      }
    })
}

/** Commits that were read, by repository and id: they never change, and most answers show the same ones. */
const read = new Map<string, CommitData>()

export async function readCommit(path: string, sha: string): Promise<CommitData> {
  const key = `${path} ${sha}`
  const known =
    read.get(key) ??
    (await looseOr(
      () => plainCommit(path, sha),
      async () => (await readCommits(path, '-1', sha))[0],
    ))
  if (known === undefined) throw new Error(`no commit ${sha}`)
  if (/^[0-9a-f]{40}$/.test(sha)) read.set(key, known)
  return known
}

/** What a push brings, the newest first: of a new branch its tip alone. */
export async function readPushed(
  path: string,
  old: string | undefined,
  now: string,
  most: number,
): Promise<CommitData[]> {
  if (old === undefined) return [await readCommit(path, now)]
  return await looseOr(
    () =>
      looseRange(path, now, [old])
        .slice(0, most)
        .map((sha) => plainCommit(path, sha)),
    () => readCommits(path, `--max-count=${most}`, `${old}..${now}`),
  )
}

function plainCommit(path: string, sha: string): CommitData {
  const { tree, parents, author, committer, message } = looseCommit(path, sha)
  const identity = ({ name, email, at }: Person): Identity => ({ name, email, date: timestampOf(at * 1000) })
  return {
    sha,
    tree,
    parents,
    author: identity(author),
    committer: identity(committer),
    message: message.trimEnd(),
  }
}

/** The account whose no-reply address a commit carries: all that the sandbox knows about who wrote it. */
function accountOf(world: World, identity: Identity): Payload | null {
  const login = /^(?:\d+\+)?(.+)@users\.noreply\./.exec(identity.email)?.[1]
  const account = login === undefined ? undefined : accountByLogin(world, login)
  return account === undefined ? null : accountView(world, account)
}

export function commitView(world: World, repo: Repo, commit: CommitData): Payload {
  const { sha, author, committer, message, tree, parents } = commit
  const url = `${apiUrl(world, repo)}/commits/${sha}`
  return {
    sha,
    node_id: nodeId('Commit', sha),
    commit: {
      author,
      committer,
      message,
      tree: { sha: tree, url: `${apiUrl(world, repo)}/git/trees/${tree}` },
      url: `${apiUrl(world, repo)}/git/commits/${sha}`,
      comment_count: repo.commitComments.filter((it) => it.sha === sha).length,
      verification: verificationOf(world, sha),
    },
    url,
    html_url: `${webUrl(world, repo)}/commit/${sha}`,
    comments_url: `${url}/comments`,
    author: accountOf(world, author),
    committer: accountOf(world, committer),
    parents: parents.map((parent) => ({
      sha: parent,
      url: `${apiUrl(world, repo)}/commits/${parent}`,
      html_url: `${webUrl(world, repo)}/commit/${parent}`,
    })),
  }
}

/** A commit as `GET /git/commits` shows it: the git object. */
export function gitCommitView(world: World, repo: Repo, commit: CommitData): Payload {
  const view = commitView(world, repo, commit)
  const { author, committer, message, tree, url, verification } = view['commit'] as Payload
  const { sha, node_id, html_url, parents } = view
  return { sha, node_id, url, html_url, author, committer, tree, message, parents, verification }
}

/** A commit in webhooks and check suites: short. */
export function shortCommitView(commit: CommitData): Payload {
  const { sha, tree, message, author, committer } = commit
  return {
    id: sha,
    tree_id: tree,
    message,
    timestamp: committer.date,
    author: { name: author.name, email: author.email },
    committer: { name: committer.name, email: committer.email },
  }
}

/** A commit of a push: short, with the paths it touched. */
export async function pushedCommitView(world: World, repo: Repo, commit: CommitData): Promise<Payload> {
  const touched = (await isCountable(repo.path, commit.sha)) ? await touchedBy(repo.path, commit) : []
  const paths = (...letters: string[]): string[] =>
    touched.filter(({ status }) => letters.includes(status)).map(({ path }) => path)
  return {
    ...shortCommitView(commit),
    distinct: true,
    url: `${webUrl(world, repo)}/commit/${commit.sha}`,
    added: paths('A'),
    removed: paths('D'),
    modified: paths('M', 'T'),
  }
}

interface Touched {
  readonly status: string
  readonly path: string
}

/** What a commit changes in its first parent, as git names the kinds of change. */
async function touchedBy(path: string, { sha, tree, parents: [parent] }: CommitData): Promise<Touched[]> {
  const statusOf = ({ before, after }: FileDifference) =>
    before === undefined ? 'A' : after === undefined ? 'D' : 'M'
  return await looseOr(
    () =>
      looseDifference(path, parent === undefined ? undefined : looseCommit(path, parent).tree, tree).map(
        (difference) => ({ status: statusOf(difference), path: difference.path }),
      ),
    async () => {
      const options = ['-r', '-m', '--first-parent', '--root', '--no-commit-id', '--name-status', '-z']
      const words = (await git(path, 'diff-tree', ...options, '--no-renames', sha)).split('\0')
      return words.flatMap((status, at) =>
        at % 2 === 0 && words[at + 1] !== undefined ? [{ status, path: words[at + 1] ?? '' }] : [],
      )
    },
  )
}

const statuses: Readonly<Record<string, string>> = {
  A: 'added',
  D: 'removed',
  M: 'modified',
  R: 'renamed',
  C: 'copied',
  T: 'changed',
}
// GitHub leaves large patches out of the list; its threshold is not documented, this one is like it.
const patchLimit = 3000

/** The changed files between two commits, three-dot and with renames detected, as GitHub lists a pull request's. */
export async function readFiles(world: World, repo: Repo, base: string, head: string): Promise<Payload[]> {
  if (!(await isCountable(repo.path, head))) return []
  const from = await mergeBase(repo.path, base, head)
  const start = from ?? (await git(repo.path, 'hash-object', '-t', 'tree', '--stdin')).trim()
  const diff = (...args: string[]): Promise<string> =>
    git(repo.path, 'diff', '-M', '--no-ext-diff', '--no-color', ...args, start, head, '--')
  const [raw, numbers, patches] = await Promise.all([
    diff('--raw', '-z', '--no-abbrev'),
    diff('--numstat', '-z'),
    diff('-p'),
  ])
  const words = raw.split('\0')
  const counts = numbers.split('\0').filter((it) => /^(\d+|-)\t(\d+|-)\t/.test(it))
  const texts = patches.split(/^diff --git .*\n/m).slice(1)
  const files: Payload[] = []
  for (let at = 0; at < words.length - 1;) {
    const [, , , sha = '', status = ''] = (words[at] ?? '').split(' ')
    const renamed = /^[RC]/.test(status)
    const previous = words[at + 1] ?? ''
    const filename = renamed ? (words[at + 2] ?? '') : previous
    const [added = '0', deleted = '0'] = (counts[files.length] ?? '').split('\t')
    const additions = Number(added) || 0
    const deletions = Number(deleted) || 0
    const body = texts[files.length] ?? ''
    const hunk = body.search(/^@@ /m)
    const encoded = filename.split('/').map(encodeURIComponent).join('/')
    files.push({
      sha: status === 'D' ? null : sha,
      filename,
      status: statuses[status.charAt(0)] ?? 'changed',
      additions,
      deletions,
      changes: additions + deletions,
      blob_url: `${webUrl(world, repo)}/blob/${head}/${encoded}`,
      raw_url: `${webUrl(world, repo)}/raw/${head}/${encoded}`,
      contents_url: `${apiUrl(world, repo)}/contents/${encoded}?ref=${head}`,
      ...(hunk >= 0 && additions + deletions <= patchLimit ? { patch: body.slice(hunk).trimEnd() } : {}),
      ...(renamed ? { previous_filename: previous } : {}),
    })
    at += renamed ? 3 : 2
  }
  return files
}
