// Judges a pull request that is a folder: `base/` is the tree of the base tip, `result/` the tree that would land. The
// App's own journey (examine/examine.ts), with a repository, a GitHub and registries that say what the example says.
import { createHash } from 'node:crypto'
import { lstatSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { catalogLoader } from '../../src/examine/catalogs/catalog-loader.ts'
import { examine } from '../../src/examine/examine.ts'
import { readFile } from '../../src/catalog/load/read-file.ts'
import {
  blobSha,
  commitSha,
  pullNumber,
  treeSha,
  userId,
  type BlobSha,
  type TreeSha,
} from '../../src/change/ids.ts'
import type { PathChange, TreeEntry } from '../../src/change/path-change.ts'
import type { Person, Snapshot } from '../../src/change/snapshot.ts'
import type { AnswerTo, Question } from '../../src/checks/questions.ts'
import { compareFindings, type Finding } from '../../src/findings/finding.ts'
import type { PullMemory } from '../../src/ports/pull-memory.ts'
import type { Repository } from '../../src/ports/repository.ts'
import { filesBelow, type CaseSettings, type ExampleCase } from './cases.ts'

const base = commitSha('b'.repeat(40))
const head = commitSha('a'.repeat(40))
const baseTree = treeSha('1'.repeat(40))
const resultTree = treeSha('2'.repeat(40))

/** What the App's checks find in the pull request. */
export async function judgePull({ directory, settings }: ExampleCase): Promise<readonly Finding[]> {
  const { verdict } = await examine(snapshotOf(settings), {
    repository: repositoryOf(directory, settings),
    loader: catalogLoader({ read: async (bytes) => readFile(bytes) } as Parameters<typeof catalogLoader>[0], {
      getCached: async () => new Map(),
      putCached: async () => undefined,
    }),
    ask: async (question) => answerTo(question, settings),
    memory: memoryOf(settings),
  })
  return verdict.outcomes.flatMap(({ findings }) => findings).sort(compareFindings)
}

/** Everybody's account has the number that their login says. */
function person(login: string): Person {
  const id = createHash('sha256').update(login).digest().readUInt16BE() + 1
  return { id: userId(id), login, kind: 'user' }
}

function snapshotOf({ author = 'alice', pusher, reviews = {} }: CaseSettings): Snapshot {
  return {
    repository: { owner: 'example', name: 'catalog' },
    pull: pullNumber(1),
    state: 'open',
    draft: false,
    title: 'An example',
    author: person(author),
    head,
    baseRef: 'main',
    base,
    headRepository: { owner: author, name: 'catalog' },
    labels: [],
    reviews: Object.entries(reviews).map(([login, state], index) => ({
      id: index + 1,
      author: person(login),
      state,
      commit: head,
      submittedAt: `2026-01-01T00:00:0${index}Z`,
    })),
    comments: [],
    ...(pusher !== undefined && { pusher: person(pusher) }),
    stacked: false,
  }
}

type Listed = { readonly path: string } & TreeEntry

/** The two trees of an example as a repository that merges without conflict. */
function repositoryOf(directory: string, settings: CaseSettings): Repository {
  const blobs = new Map<BlobSha, Uint8Array>()
  const treeOf = (side: 'base' | 'result'): readonly Listed[] =>
    filesBelow(join(directory, side)).map((path) => {
      const file = join(directory, side, path)
      const isLink = lstatSync(file).isSymbolicLink()
      const bytes = isLink ? new TextEncoder().encode(readlinkSync(file)) : new Uint8Array(readFileSync(file))
      const oid = blobSha(createHash('sha1').update(bytes).digest('hex'))
      blobs.set(oid, bytes)
      const mode = (side === 'result' && settings.modes?.[path]) || (isLink ? '120000' : '100644')
      return { path, mode, oid }
    })
  const trees = new Map<TreeSha, readonly Listed[]>([
    [baseTree, treeOf('base')],
    [resultTree, treeOf('result')],
  ])
  const entriesOf = (tree: TreeSha) => trees.get(tree) ?? []
  const notHere = async (): Promise<never> => {
    throw new Error('an example neither fetches nor lands')
  }
  return {
    fetch: notHere,
    tip: notHere,
    pullHead: notHere,
    contains: notHere,
    land: notHere,
    merge: async () => ({ kind: 'clean', commit: commitSha('c'.repeat(40)), tree: resultTree }),
    treeOf: async (commit) => (commit === base ? baseTree : resultTree),
    diff: async (before, after) => changesBetween(entriesOf(before), entriesOf(after)),
    list: async (tree, prefix = '') =>
      entriesOf(tree).filter(({ path }) => prefix === '' || path.startsWith(`${prefix}/`)),
    entry: async (tree, path) => entriesOf(tree).find((one) => one.path === path),
    read: async (blob) => {
      const bytes = blobs.get(blob)
      if (bytes === undefined) throw new Error(`no blob ${blob}`)
      return bytes
    },
  }
}

function changesBetween(before: readonly Listed[], after: readonly Listed[]): readonly PathChange[] {
  const entryIn = (side: readonly Listed[], path: string): TreeEntry | undefined => {
    const found = side.find((one) => one.path === path)
    return found && { mode: found.mode, oid: found.oid }
  }
  return [...new Set([...before, ...after].map(({ path }) => path))].sort().flatMap((path) => {
    const old = entryIn(before, path)
    const now = entryIn(after, path)
    if (old?.oid === now?.oid && old?.mode === now?.mode) return []
    return [{ path, ...(old && { before: old }), ...(now && { after: now }) }]
  })
}

function answerTo(question: Question, settings: CaseSettings): AnswerTo[Question['kind']] {
  switch (question.kind) {
    case 'user':
      return settings.nobody?.includes(question.login)
        ? { kind: 'nobody' }
        : { kind: 'person', person: person(question.login) }
    case 'team-member':
      return { kind: 'no' }
    case 'role':
      return { kind: 'role', role: 'read' }
    case 'image':
      return (
        (settings.images?.[question.reference] as AnswerTo['image'] | undefined) ??
        thereAs(question.reference)
      )
    case 'bundle':
      return (
        (settings.bundles?.[question.reference] as AnswerTo['bundle'] | undefined) ?? {
          kind: 'unknown',
          reason: 'no example opens it',
          retryAfter: 60,
        }
      )
  }
}

/** An image that is there, under the digest that names it. */
function thereAs(reference: string): AnswerTo['image'] {
  const digest = /@(?<digest>sha256:[0-9a-f]{64})$/.exec(reference)?.groups?.digest
  return {
    kind: 'ok',
    digest: digest ?? `sha256:${'d'.repeat(64)}`,
    mediaType: 'application/vnd.oci.image.index.v1+json',
    size: 1000,
    platforms: ['linux/amd64'],
  }
}

/** Remembers nothing but the accounts that the example renamed. */
function memoryOf({ renamed = {} }: CaseSettings): PullMemory {
  return {
    observe: async () => 0,
    recordShown: async () => undefined,
    shownHeads: async () => [],
    recordCommand: async () => 'new',
    commands: async () => [],
    firstSeenReviews: async (_repository, _pull, epoch, reviews) => new Map(reviews.map((id) => [id, epoch])),
    firstSeenAccounts: async (_repository, accounts) =>
      new Map([...accounts, ...Object.entries(renamed).map(([login, id]) => [login, userId(id)] as const)]),
  }
}
