// Reads what a landing makes reachable: the number of commits, workflow edits, closing keywords and oversized files.
// Bounded, however long the history.
import { blobSha, commitSha, type BlobSha, type CommitSha } from '../change/ids.ts'
import {
  largestCommit,
  largestPushed,
  mostCarried,
  type CarriedCommit,
  type CarriedCommits,
} from '../change/carried-commits.ts'
import { readCommit } from './commits.ts'
import { readDirectory } from './compare-tree-objects.ts'
import { lineTo } from './line-to.ts'
import { closedByWords } from '../change/closing-words.ts'
import { GitError, isGitError } from './git-error.ts'
import type { LocalGit } from './local-git.ts'
import type { Objects } from './object-reader.ts'

export interface CarriedTools {
  readonly git: LocalGit
  readonly objects: Objects
  /** Files above this many bytes are named. Default: GitHub's limit. */
  readonly largest?: number
}

/** See Repository.carried. Rejects with GitError `missing` when one of the commits is not here. */
export async function readCarried(
  { git, objects, largest = largestPushed }: CarriedTools,
  base: CommitSha,
  head: CommitSha,
): Promise<CarriedCommits> {
  const line = await lineTo(objects, head, base)
  const links = line ? linksOf(line, base) : await parentsOf(git, base, head)
  if (links === undefined) return tooMuch
  const edits = await findWorkflowEdits({ git, objects }, base, links)
  const largeFiles = links.size < 2 ? [] : await findLargeFiles(git, base, head, largest)
  if (largeFiles === undefined) return tooMuch
  const commits: CarriedCommit[] = []
  for (const id of links.keys())
    commits.push({ id, editsWorkflows: edits.has(id), ...(await readMessage(objects, id)) })
  return { isWhole: true, commits, largeFiles }
}

const tooMuch: CarriedCommits = { isWhole: false, commits: [], largeFiles: [] }

function linksOf(line: readonly CommitSha[], base: CommitSha): ReadonlyMap<CommitSha, readonly CommitSha[]> {
  return new Map(line.map((id, at) => [id, [line[at + 1] ?? base]]))
}

/** Each commit with its parents, children before them; undefined when there are too many. */
async function parentsOf(
  git: LocalGit,
  base: CommitSha,
  head: CommitSha,
): Promise<ReadonlyMap<CommitSha, readonly CommitSha[]> | undefined> {
  const { stdout } = await git([
    'rev-list',
    '--topo-order',
    '--parents',
    `--max-count=${mostCarried + 1}`,
    head,
    `^${base}`,
  ])
  const lines = stdout.toString('latin1').split('\n').filter(Boolean)
  if (lines.length > mostCarried) return undefined
  return new Map(
    lines.map((line) => {
      const [id = '', ...parents] = line.split(' ')
      return [commitSha(id), parents.map(commitSha)]
    }),
  )
}

/** GitHub requires a separate permission of Apps that push commits with changes here. */
const workflows = '.github/workflows'

/**
 * The commits whose workflow files differ from those of the base's commit below them. A merge may only take them from a
 * newer base commit that it brings. Other sources don't show in its first-parent diff.
 */
async function findWorkflowEdits(
  { git, objects }: Pick<CarriedTools, 'git' | 'objects'>,
  base: CommitSha,
  links: ReadonlyMap<CommitSha, readonly CommitSha[]>,
): Promise<ReadonlySet<CommitSha>> {
  const commits = new Set([...links.keys(), ...[...links.values()].flat()])
  const state = (await workflowsIn(objects, commits)) ?? (await workflowsAt(git, commits))
  const edits = new Set<CommitSha>()
  for (const [id, parents] of links) {
    // An unrelated history had none before.
    const before = new Set(parents.length === 0 ? [none] : parents.map((parent) => state.get(parent)))
    const allowed = before.size === 1 ? before : await workflowsOfBase(git, base, id)
    if (!allowed.has(state.get(id))) edits.add(id)
  }
  return edits
}

const none = 'none'

/** `workflowsAt` for a few commits without starting git. Undefined: only git can tell. */
async function workflowsIn(
  objects: Objects,
  commits: ReadonlySet<CommitSha>,
): Promise<ReadonlyMap<CommitSha, string> | undefined> {
  if (commits.size > mostWithoutGit) return undefined
  const found = await Promise.all(
    [...commits].map(async (id) => [id, await workflowsOf(objects, id)] as const),
  )
  const state = new Map<CommitSha, string>()
  for (const [id, its] of found) {
    if (its === undefined) return undefined
    state.set(id, its)
  }
  return state
}

const mostWithoutGit = 40

async function workflowsOf(objects: Objects, commit: CommitSha): Promise<string | undefined> {
  try {
    let at: { readonly mode: string; readonly oid: string } | undefined = {
      mode: folderMode,
      oid: (await readCommit(objects, commit)).tree,
    }
    for (const name of workflows.split('/')) {
      if (at?.mode !== folderMode) return none
      const directory = await readDirectory(objects, at.oid)
      if (directory === undefined) return undefined
      at = directory.get(name)
    }
    return at?.oid ?? none
  } catch (error) {
    if (isGitError(error)) return undefined
    throw error
  }
}

const folderMode = '040000'

/** The object id at the workflows' path in each commit, or `none`. */
async function workflowsAt(
  git: LocalGit,
  commits: ReadonlySet<CommitSha>,
): Promise<ReadonlyMap<CommitSha, string>> {
  const ids = [...commits]
  const { stdout } = await git(['cat-file', '--batch-check=%(objectname)'], {
    input: ids.map((id) => `${id}:${workflows}\n`).join(''),
  })
  const answers = stdout.toString('latin1').split('\n').slice(0, -1)
  if (answers.length !== ids.length) throw new GitError('failed', 'git cat-file answers otherwise than asked')
  return new Map(ids.map((id, at) => [id, /^[0-9a-f]+$/.exec(answers[at] ?? '')?.[0] ?? none]))
}

/** The states of the newest commits of the base below a merge whose parents differ. */
async function workflowsOfBase(
  git: LocalGit,
  base: CommitSha,
  merge: CommitSha,
): Promise<ReadonlySet<string | undefined>> {
  const { stdout } = await git(['merge-base', '--all', base, merge], { answers: [0, 1] })
  const bases = stdout.toString('latin1').split('\n').filter(Boolean).map(commitSha)
  return new Set((await workflowsAt(git, new Set(bases))).values())
}

/** Skipped for a single commit, whose files are in the tree that lands. Undefined: too much to list. */
async function findLargeFiles(
  git: LocalGit,
  base: CommitSha,
  head: CommitSha,
  largest: number,
): Promise<readonly BlobSha[] | undefined> {
  try {
    const { stdout } = await git([
      'rev-list',
      '--objects',
      '--no-object-names',
      `--filter=blob:limit=${largest + 1}`,
      '--filter-print-omitted',
      head,
      `^${base}`,
    ])
    return stdout
      .toString('latin1')
      .split('\n')
      .filter((line) => line.startsWith('~'))
      .map((line) => blobSha(line.slice(1)))
  } catch (error) {
    if (isGitError(error, 'too-large')) return undefined
    throw error
  }
}

async function readMessage(objects: Objects, id: CommitSha): Promise<FactsOfObject> {
  try {
    const { bytes } = await objects.read(id, largestCommit)
    return factsOfObject(bytes)
  } catch (error) {
    if (isGitError(error, 'too-large')) return { isSigned: false, closes: undefined }
    throw error
  }
}

type FactsOfObject = Pick<CarriedCommit, 'isSigned' | 'closes'>

export function factsOfObject(bytes: Buffer): FactsOfObject {
  const end = bytes.indexOf('\n\n')
  const headers = bytes.subarray(0, end < 0 ? bytes.length : end).toString('latin1')
  const isSigned = /^gpgsig(?:-sha256)? /m.test(headers)
  const encoding = /^encoding (.*)$/m.exec(headers)?.[1] ?? 'utf-8'
  const isReadable = /^(?:utf-?8|us-ascii|ascii|iso-?8859-?1|latin-?1)$/i.test(encoding.trim())
  const message = end < 0 ? '' : bytes.subarray(end + 2).toString('utf8')
  return { isSigned, closes: isReadable ? closedByWords(message) : undefined }
}
