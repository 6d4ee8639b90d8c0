// Reads a commit's tree, parents, and time. Doesn't read the author and the signature, because they prove nothing, and
// reads only messages that catalog-bot wrote.
import pLimit from 'p-limit'
import { memoizePerObject } from '@catalog-bot/findings/memoize'
import {
  toCommitSha,
  toTreeSha,
  type CommitSha,
  type TreeSha,
  toBlobSha,
  type BlobSha,
} from '../../pull-request/ids.ts'
import { LruMap } from '../lru-map.ts'
import { GitError, catchTooLarge, isGitError } from './git-error.ts'
import type { GitObjectReader } from './object-reader.ts'
import type { GitRunner } from './run-git.ts'
import {
  maxCommitObjectBytes,
  maxPushedFileBytes,
  maxIncomingCommits,
  type IncomingCommit,
  type IncomingCommits,
  findClosingIssueReferences,
} from '../../pull-request/snapshot.ts'
import { findGitObjectAtPath } from './trees.ts'

interface IncomingCommitsReaderOptions {
  readonly git: GitRunner
  readonly objects: GitObjectReader
  /** Files above this many bytes are named. Default: GitHub's limit. */
  readonly maxFileBytes?: number
}

const incompleteIncomingCommits: IncomingCommits = { isWhole: false, commits: [], largeFiles: [] }

/** GitHub requires a separate permission of Apps that push commits with changes here. */
const workflowsPath = '.github/workflows'

const absentWorkflowsTreeId = 'none'

/** Each holds a tree, which can be large. */
const maxConcurrentWorkflowReads = 4

type CommitMessageFields = Pick<IncomingCommit, 'isSigned' | 'closes'>

/** Each read is a round trip to git. */
const maxLinearHistoryCommits = 32

/** Enough for some days of merges. */
const maxMovedBaseCommits = 200

/** Commits never change, and each pull request's history leads to the same ones. */
const maxCachedCommits = 10_000

const getCommitCache = memoizePerObject(
  (_objects: GitObjectReader) => new LruMap<CommitSha, CommitMetadata>(maxCachedCommits, () => 1),
)

export interface CommitMetadata {
  readonly tree: TreeSha
  readonly parents: readonly CommitSha[]
  /** Committer time, seconds since the epoch; 0 when unreadable. */
  readonly time: number
}

/** Ample: no sensible commit has a megabyte of headers and message. */
const maxCommitBytes = 4 * 1024 * 1024

/** Rejects with GitError `missing` when it isn't here or isn't a commit. */
export async function readCommitMessage(objects: GitObjectReader, id: CommitSha): Promise<string> {
  const { type, bytes } = await objects.read(id, maxCommitBytes)
  if (type !== 'commit') throw new GitError('missing', `object ${id} is a ${type}, not a commit`)
  const end = bytes.indexOf('\n\n')
  return end < 0 ? '' : bytes.toString('utf8', end + 2)
}

/** Rejects with GitError `missing` when it isn't here or isn't a commit. */
export async function readCommit(objects: GitObjectReader, id: CommitSha): Promise<CommitMetadata> {
  const { type, bytes } = await objects.read(id, maxCommitBytes)
  if (type !== 'commit') throw new GitError('missing', `object ${id} is a ${type}, not a commit`)
  const text = bytes.toString('latin1')
  const headers = text.slice(0, Math.max(text.indexOf('\n\n'), 0)).split('\n')
  const tree = /^tree ([0-9a-f]+)$/.exec(headers[0] ?? '')?.[1]
  if (tree === undefined) throw new GitError('corrupt', `commit ${id} has no tree`)
  const parents: CommitSha[] = []
  for (const line of headers.slice(1)) {
    const parent = /^parent ([0-9a-f]+)$/.exec(line)?.[1]
    if (parent === undefined) break
    parents.push(toCommitSha(parent))
  }
  const committer = headers.find((line) => line.startsWith('committer '))
  const time = Number(/> ?(\d{1,15}) [+-]\d+$/.exec(committer ?? '')?.[1] ?? 0)
  return { tree: toTreeSha(tree), parents, time }
}

async function readCachedCommit(objects: GitObjectReader, id: CommitSha): Promise<CommitMetadata> {
  const cache = getCommitCache(objects)
  const commit = cache.get(id) ?? (await readCommit(objects, id))
  cache.set(id, commit)
  return commit
}

/** The best common ancestors, sorted: none for unrelated commits, several after criss-cross merges. */
export async function findMergeBases(
  { git, objects }: Pick<IncomingCommitsReaderOptions, 'git' | 'objects'>,
  one: CommitSha,
  other: CommitSha,
): Promise<readonly CommitSha[]> {
  const linear = await readLinearHistory(objects, other, one)
  if (linear !== undefined) return [linear.fork]
  const { stdout } = await git(['merge-base', '--all', one, other], { answers: [0, 1] })
  return splitLines(stdout).toSorted().map(toCommitSha)
}

const splitLines = (output: Buffer): readonly string[] =>
  output.toString('latin1').split('\n').filter(Boolean)

/** Whether a commit is on the first-parent chain of `tip`. Commits that a merge brought in were never the tip. */
export async function isOnFirstParentChain(
  git: GitRunner,
  tip: CommitSha,
  commit: CommitSha,
): Promise<boolean> {
  if (tip === commit) return true
  const range = ['--first-parent', '--parents', tip, `^${commit}`]
  const { stdout } = await git(['rev-list', ...range])
  const [, parent] = stdout.toString('latin1').trimEnd().split('\n').at(-1)?.split(' ') ?? []
  return parent === commit
}

/** See GitRepository.firstParents. */
export async function listFirstParentChain(
  git: GitRunner,
  tip: CommitSha,
  since: CommitSha,
): Promise<readonly CommitSha[]> {
  const { stdout } = await git(['rev-list', '--first-parent', '--max-count=1000', tip, `^${since}`])
  return splitLines(stdout).map(toCommitSha)
}

/** Where a head left its base, and the head's commits since then, newest first. */
interface LinearHistory {
  readonly fork: CommitSha
  readonly line: readonly CommitSha[]
}

/**
 * Finds where a head in a straight line left its base, without starting merge-base and rev-list. No commit of the line
 * is in the base, so the fork is the only best common ancestor. Undefined: another or a longer history, left to git.
 */
export async function readLinearHistory(
  objects: GitObjectReader,
  head: CommitSha,
  base: CommitSha,
): Promise<LinearHistory | undefined> {
  try {
    const line: CommitSha[] = []
    let at: CommitSha | undefined = head
    while (at !== undefined && at !== base && line.length < maxLinearHistoryCommits) {
      line.push(at)
      const { parents }: CommitMetadata = await readCachedCommit(objects, at)
      at = parents.length === 1 ? parents[0] : undefined
    }
    if (at === base) line.push(base)
    const fork = await findNewestCommitInBase(objects, base, line)
    return fork && { fork, line: line.slice(0, line.indexOf(fork)) }
  } catch (error) {
    // Let git report the error.
    if (isGitError(error)) return undefined
    throw error
  }
}

/** Follows all parents of the base down to the line or below it. Undefined: not in the base, or too far away. */
async function findNewestCommitInBase(
  objects: GitObjectReader,
  base: CommitSha,
  line: readonly CommitSha[],
): Promise<CommitSha | undefined> {
  const lineAndBelow = new Set(line)
  let [below, belowTime] = [line.at(-1), Infinity]
  const seen = new Set<CommitSha>()
  const open = [base]
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (seen.has(at)) continue
    seen.add(at)
    if (seen.size > maxMovedBaseCommits) return undefined
    const { parents, time } = await readCachedCommit(objects, at)
    // A wrong time costs reads, and changes no result.
    while (below !== undefined && belowTime > time && lineAndBelow.size < maxMovedBaseCommits) {
      lineAndBelow.add(below)
      const commit: CommitMetadata = await readCachedCommit(objects, below)
      belowTime = commit.time
      ;[below] = commit.parents
    }
    if (!lineAndBelow.has(at)) open.push(...parents)
  }
  return line.find((commit) => seen.has(commit))
}

/**
 * Reads what a merge makes reachable: the number of commits, workflow edits, closing keywords and oversized files. The
 * cost is bounded, regardless of the length of the history. See GitRepository.readIncomingCommits. Rejects with
 * GitError `missing` when one of the commits is not here.
 */
export async function readIncomingCommits(
  { git, objects, maxFileBytes = maxPushedFileBytes }: IncomingCommitsReaderOptions,
  base: CommitSha,
  head: CommitSha,
): Promise<IncomingCommits> {
  const linear = await readLinearHistory(objects, head, base)
  const links = linear ? buildParentsByCommit(linear) : await readIncomingCommitParents(git, base, head)
  if (links === undefined) return incompleteIncomingCommits
  const edits = await findCommitsEditingWorkflows({ git, objects }, base, links)
  const largeFiles = links.size < 2 ? [] : await findLargeIncomingBlobs(git, base, head, maxFileBytes)
  if (largeFiles === undefined) return incompleteIncomingCommits
  const commits: IncomingCommit[] = []
  for (const id of links.keys()) {
    const object = await catchTooLarge(objects.read(id, maxCommitObjectBytes))
    const fields = object ? parseCommitMessageFields(object.bytes) : { isSigned: false, closes: undefined }
    commits.push({ id, editsWorkflows: edits.has(id), ...fields })
  }
  return { isWhole: true, commits, largeFiles }
}

function buildParentsByCommit({ line, fork }: LinearHistory): ReadonlyMap<CommitSha, readonly CommitSha[]> {
  return new Map(line.map((id, at) => [id, [line[at + 1] ?? fork]]))
}

/** Each commit with its parents, children before them; undefined when there are too many. */
async function readIncomingCommitParents(
  git: GitRunner,
  base: CommitSha,
  head: CommitSha,
): Promise<ReadonlyMap<CommitSha, readonly CommitSha[]> | undefined> {
  const { stdout } = await git([
    'rev-list',
    '--topo-order',
    '--parents',
    `--max-count=${maxIncomingCommits + 1}`,
    head,
    `^${base}`,
  ])
  const lines = splitLines(stdout)
  if (lines.length > maxIncomingCommits) return undefined
  return new Map(
    lines.map((line) => {
      const [id = '', ...parents] = line.split(' ')
      return [toCommitSha(id), parents.map(toCommitSha)]
    }),
  )
}

/**
 * The commits whose workflow files differ from those of the base's commit below them. A merge may only take them from a
 * newer base commit that it brings. Other sources don't show in its first-parent diff.
 */
async function findCommitsEditingWorkflows(
  { git, objects }: Pick<IncomingCommitsReaderOptions, 'git' | 'objects'>,
  base: CommitSha,
  links: ReadonlyMap<CommitSha, readonly CommitSha[]>,
): Promise<ReadonlySet<CommitSha>> {
  const commits = new Set([...links.keys(), ...[...links.values()].flat()])
  const state = await readWorkflowTreeIds(objects, [...commits])
  const edits = new Set<CommitSha>()
  for (const [id, parents] of links) {
    // At the end of a shallow clone, nothing shows what the commit changed.
    if (parents.length === 0 && (await readCommit(objects, id)).parents.length > 0) continue
    // An unrelated history had none before.
    const before = new Set(
      parents.length === 0 ? [absentWorkflowsTreeId] : parents.map((parent) => state.get(parent)),
    )
    // If the parents of a merge differ, its newest commits that are in the base.
    const newest = before.size === 1 ? [] : await findMergeBases({ git, objects }, base, id)
    const allowed =
      before.size === 1 ? before : new Set((await readWorkflowTreeIds(objects, newest)).values())
    if (!allowed.has(state.get(id))) edits.add(id)
  }
  return edits
}

/** The object id at the workflows' path in each commit, or `none`. */
async function readWorkflowTreeIds(
  objects: GitObjectReader,
  commits: readonly CommitSha[],
): Promise<ReadonlyMap<CommitSha, string>> {
  const found = await pLimit(maxConcurrentWorkflowReads).map(commits, async (id) => {
    const { tree } = await readCommit(objects, id)
    return (await findGitObjectAtPath(objects, tree, workflowsPath))?.oid ?? absentWorkflowsTreeId
  })
  return new Map(commits.map((id, at) => [id, found[at] ?? absentWorkflowsTreeId]))
}

/** Skipped for a single commit, whose files are in the merged tree. Undefined: too much to list. */
async function findLargeIncomingBlobs(
  git: GitRunner,
  base: CommitSha,
  head: CommitSha,
  maxFileBytes: number,
): Promise<readonly BlobSha[] | undefined> {
  const filter = [`--filter=blob:limit=${maxFileBytes + 1}`, '--filter-print-omitted']
  const listed = await catchTooLarge(
    git(['rev-list', '--objects', '--no-object-names', ...filter, head, `^${base}`]),
  )
  return (
    listed &&
    splitLines(listed.stdout)
      .filter((line) => line.startsWith('~'))
      .map((line) => toBlobSha(line.slice(1)))
  )
}

export function parseCommitMessageFields(bytes: Buffer): CommitMessageFields {
  const end = bytes.indexOf('\n\n')
  const headers = bytes.subarray(0, end < 0 ? bytes.length : end).toString('latin1')
  const isSigned = /^gpgsig(?:-sha256)? /m.test(headers)
  const encoding = /^encoding (.*)$/m.exec(headers)?.[1] ?? 'utf-8'
  const isReadable = /^(?:utf-?8|us-ascii|ascii|iso-?8859-?1|latin-?1)$/i.test(encoding.trim())
  const message = end < 0 ? '' : bytes.subarray(end + 2).toString('utf8')
  return { isSigned, closes: isReadable ? findClosingIssueReferences(message) : undefined }
}
