// Commits and file differences as GitHub's REST answers and webhooks show them, read from Git.
import { isCommitSmallEnoughToDiff } from '../git/diffable-commits.ts'
import { runGitForText, findMergeBase } from '../git/git-store.ts'
import {
  readLooseCommitObject,
  listCommitRangeInLooseObjects,
  type AuthorOrCommitter,
} from '../git/loose-history.ts'
import { readLooseObjectsOrRunGit } from '../git/loose-objects.ts'
import { diffLooseTreeObjects, type TreeFileDifference } from '../git/loose-trees.ts'
import { toSignatureVerificationView } from '../signing.ts'
import { findAccountByLogin, formatGitHubTimestamp } from '../github-data.ts'
import type { GitHubPayload, MockRepository, MockGitHubData } from '../github-data.ts'
import { toAccountView, toNodeId } from './account-view.ts'
import { getRepositoryApiUrl, getRepositoryWebUrl } from './repository-view.ts'

export interface ParsedCommit {
  readonly sha: string
  readonly tree: string
  readonly parents: readonly string[]
  readonly author: CommitIdentity
  readonly committer: CommitIdentity
  readonly message: string
}

interface CommitIdentity {
  readonly name: string
  readonly email: string
  readonly date: string
}

const gitLogCommitFormat = ['%H', '%T', '%P', '%an', '%ae', '%at', '%cn', '%ce', '%ct', '%B'].join('%x00')

/** Commits in `git log` order for any of its selections, newest first. */
export async function readCommits(path: string, ...selection: string[]): Promise<ParsedCommit[]> {
  const text = await runGitForText(
    path,
    'log',
    '--no-show-signature',
    `--format=${gitLogCommitFormat}%x00%x01`,
    ...selection,
    '--',
  )
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
        author: { name: an, email: ae, date: formatGitHubTimestamp(Number(at) * 1000) },
        committer: { name: cn, email: ce, date: formatGitHubTimestamp(Number(ct) * 1000) },
        message: message.trimEnd(),
      }
    })
}

/** A cache of commits by repository and ID. They never change, and most answers contain the same ones. */
const commitCache = new Map<string, ParsedCommit>()

export async function readCommit(path: string, sha: string): Promise<ParsedCommit> {
  const key = `${path} ${sha}`
  const known =
    commitCache.get(key) ??
    (await readLooseObjectsOrRunGit(
      () => readCommitFromLooseObject(path, sha),
      async () => (await readCommits(path, '-1', sha))[0],
    ))
  if (known === undefined) throw new Error(`no commit ${sha}`)
  if (/^[0-9a-f]{40}$/.test(sha)) commitCache.set(key, known)
  return known
}

/** The commits of a push, newest first. For a new branch, only its tip. */
export async function readPushedCommits(
  path: string,
  old: string | undefined,
  now: string,
  maxCommits: number,
): Promise<ParsedCommit[]> {
  if (old === undefined) return [await readCommit(path, now)]
  return await readLooseObjectsOrRunGit(
    () =>
      listCommitRangeInLooseObjects(path, now, [old])
        .slice(0, maxCommits)
        .map((sha) => readCommitFromLooseObject(path, sha)),
    () => readCommits(path, `--max-count=${maxCommits}`, `${old}..${now}`),
  )
}

function readCommitFromLooseObject(path: string, sha: string): ParsedCommit {
  const { tree, parents, author, committer, message } = readLooseCommitObject(path, sha)
  const toCommitIdentity = ({ name, email, at }: AuthorOrCommitter): CommitIdentity => ({
    name,
    email,
    date: formatGitHubTimestamp(at * 1000),
  })
  return {
    sha,
    tree,
    parents,
    author: toCommitIdentity(author),
    committer: toCommitIdentity(committer),
    message: message.trimEnd(),
  }
}

/** The account in a commit's no-reply address, which is the sandbox's only information about the author. */
function toCommitAuthorAccountView(state: MockGitHubData, identity: CommitIdentity): GitHubPayload | null {
  const login = /^(?:\d+\+)?(.+)@users\.noreply\./.exec(identity.email)?.[1]
  const account = login === undefined ? undefined : findAccountByLogin(state, login)
  return account === undefined ? null : toAccountView(account)
}

export function toCommitView(repo: MockRepository, commit: ParsedCommit): GitHubPayload {
  const { github } = repo
  const { sha, author, committer, message, tree, parents } = commit
  const url = `${getRepositoryApiUrl(repo)}/commits/${sha}`
  return {
    sha,
    node_id: toNodeId('Commit', sha),
    commit: {
      author,
      committer,
      message,
      tree: { sha: tree, url: `${getRepositoryApiUrl(repo)}/git/trees/${tree}` },
      url: `${getRepositoryApiUrl(repo)}/git/commits/${sha}`,
      comment_count: 0,
      verification: toSignatureVerificationView(github, sha),
    },
    url,
    html_url: `${getRepositoryWebUrl(repo)}/commit/${sha}`,
    comments_url: `${url}/comments`,
    author: toCommitAuthorAccountView(github, author),
    committer: toCommitAuthorAccountView(github, committer),
    parents: parents.map((parent) => ({
      sha: parent,
      url: `${getRepositoryApiUrl(repo)}/commits/${parent}`,
      html_url: `${getRepositoryWebUrl(repo)}/commit/${parent}`,
    })),
  }
}

/** A commit as `GET /git/commits` shows it: the Git object. */
export function toGitCommitView(repo: MockRepository, commit: ParsedCommit): GitHubPayload {
  const view = toCommitView(repo, commit)
  const { author, committer, message, tree, url, verification } = view['commit'] as GitHubPayload
  const { sha, node_id, html_url, parents } = view
  return { sha, node_id, url, html_url, author, committer, tree, message, parents, verification }
}

/** A commit in webhooks and check suites: the short form. */
export function toSimpleCommitView(commit: ParsedCommit): GitHubPayload {
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

/** A commit in a push: the short form with the changed paths. */
export async function toPushedCommitView(repo: MockRepository, commit: ParsedCommit): Promise<GitHubPayload> {
  const touched = (await isCommitSmallEnoughToDiff(repo.path, commit.sha))
    ? await listPathsChangedByCommit(repo.path, commit)
    : []
  const pathsWithStatus = (...letters: string[]): string[] =>
    touched.filter(({ status }) => letters.includes(status)).map(({ path }) => path)
  return {
    ...toSimpleCommitView(commit),
    distinct: true,
    url: `${getRepositoryWebUrl(repo)}/commit/${commit.sha}`,
    added: pathsWithStatus('A'),
    removed: pathsWithStatus('D'),
    modified: pathsWithStatus('M', 'T'),
  }
}

interface ChangedPath {
  readonly status: string
  readonly path: string
}

/** The changes of a commit relative to its first parent, with Git's names for the kinds of change. */
async function listPathsChangedByCommit(
  path: string,
  { sha, tree, parents: [parent] }: ParsedCommit,
): Promise<ChangedPath[]> {
  const statusOf = ({ before, after }: TreeFileDifference) =>
    before === undefined ? 'A' : after === undefined ? 'D' : 'M'
  return await readLooseObjectsOrRunGit(
    () =>
      diffLooseTreeObjects(
        path,
        parent === undefined ? undefined : readLooseCommitObject(path, parent).tree,
        tree,
      ).map((difference) => ({ status: statusOf(difference), path: difference.path })),
    async () => {
      const options = ['-r', '-m', '--first-parent', '--root', '--no-commit-id', '--name-status', '-z']
      const diffFields = (await runGitForText(path, 'diff-tree', ...options, '--no-renames', sha)).split('\0')
      return diffFields.flatMap((status, at) =>
        at % 2 === 0 && diffFields[at + 1] !== undefined ? [{ status, path: diffFields[at + 1] ?? '' }] : [],
      )
    },
  )
}

const fileStatusByGitStatusLetter: Readonly<Record<string, string>> = {
  A: 'added',
  D: 'removed',
  M: 'modified',
  R: 'renamed',
  C: 'copied',
  T: 'changed',
}
// GitHub omits large patches from the list. Its threshold is not documented, so this one is an approximation.
const maxPatchLines = 3000

/**
 * The changed files between two commits, three-dot and with rename detection, as GitHub lists those of a pull
 * request.
 */
export async function readChangedFiles(
  repo: MockRepository,
  base: string,
  head: string,
): Promise<GitHubPayload[]> {
  if (!(await isCommitSmallEnoughToDiff(repo.path, head))) return []
  const from = await findMergeBase(repo.path, base, head)
  const start = from ?? (await runGitForText(repo.path, 'hash-object', '-t', 'tree', '--stdin')).trim()
  const diff = (...args: string[]): Promise<string> =>
    runGitForText(repo.path, 'diff', '-M', '--no-ext-diff', '--no-color', ...args, start, head, '--')
  const [raw, numbers, patches] = await Promise.all([
    diff('--raw', '-z', '--no-abbrev'),
    diff('--numstat', '-z'),
    diff('-p'),
  ])
  const rawFields = raw.split('\0')
  const counts = numbers.split('\0').filter((it) => /^(\d+|-)\t(\d+|-)\t/.test(it))
  const patchTexts = patches.split(/^diff --git .*\n/m).slice(1)
  const files: GitHubPayload[] = []
  for (let at = 0; at < rawFields.length - 1;) {
    const [, , , sha = '', status = ''] = (rawFields[at] ?? '').split(' ')
    const renamed = /^[RC]/.test(status)
    const previous = rawFields[at + 1] ?? ''
    const filename = renamed ? (rawFields[at + 2] ?? '') : previous
    const [added = '0', deleted = '0'] = (counts[files.length] ?? '').split('\t')
    const additions = Number(added) || 0
    const deletions = Number(deleted) || 0
    const body = patchTexts[files.length] ?? ''
    const hunk = body.search(/^@@ /m)
    const encoded = filename.split('/').map(encodeURIComponent).join('/')
    files.push({
      sha: status === 'D' ? null : sha,
      filename,
      status: fileStatusByGitStatusLetter[status.charAt(0)] ?? 'changed',
      additions,
      deletions,
      changes: additions + deletions,
      blob_url: `${getRepositoryWebUrl(repo)}/blob/${head}/${encoded}`,
      raw_url: `${getRepositoryWebUrl(repo)}/raw/${head}/${encoded}`,
      contents_url: `${getRepositoryApiUrl(repo)}/contents/${encoded}?ref=${head}`,
      ...(hunk >= 0 && additions + deletions <= maxPatchLines ? { patch: body.slice(hunk).trimEnd() } : {}),
      ...(renamed ? { previous_filename: previous } : {}),
    })
    at += renamed ? 3 : 2
  }
  return files
}
