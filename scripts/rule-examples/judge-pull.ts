// Judges a pull request that is a folder: `base/` is the tree of the base tip, `result/` the tree that would land. The
// App's own journey (examine/examine.ts), with a repository, a GitHub and registries that say what the example says.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { catalogLoader } from '../../src/examine/catalogs/catalog-loader.ts'
import { examine, type Examination } from '../../src/examine/examine.ts'
import { readFile } from '../../src/catalog/load/read-file.ts'
import { pullNumber, userId } from '../../src/change/ids.ts'
import type { Snapshot } from '../../src/change/snapshot.ts'
import type { AnswerTo, Question } from '../../src/checks/questions.ts'
import { compareFindings, type Finding } from '../../src/findings/finding.ts'
import type { CheckId } from '../../src/findings/checks.ts'
import type { DescribedChange, PullMemory } from '../../src/ports/pull-memory.ts'
import { forgetfulCache, forgetfulMemory } from '../../src/examine/forgetful.ts'
import type { CaseSettings, ExampleCase } from './cases.ts'
import { head, openPullsOf } from './example-commits.ts'
import { person } from './example-people.ts'
import { base, repositoryOf } from './example-repository.ts'

type Example = Pick<ExampleCase, 'directory' | 'settings'>

/**
 * What the App's checks find in the pull request. Examples of other rules need not be complete enough to be installed:
 * that check counts where it is the rule's own.
 */
export async function judgePull(example: Example, check: CheckId | undefined): Promise<readonly Finding[]> {
  const { verdict } = await look(example, await shownBefore(example))
  return verdict.outcomes
    .filter((outcome) => outcome.check !== 'install' || check === 'install')
    .flatMap(({ findings }) => findings)
    .sort(compareFindings)
}

function look({ directory, settings }: Example, shown?: DescribedChange): Promise<Examination> {
  return examine(snapshotOf(settings), {
    repository: repositoryOf(directory, settings),
    loader: catalogLoader(
      { read: async (bytes) => readFile(bytes) } as Parameters<typeof catalogLoader>[0],
      forgetfulCache,
    ),
    ask: async (question) => answerTo(question, settings),
    memory: { ...memoryOf(settings), ...(shown && memoryOfShown(shown)) },
    openPulls: async () => openPullsOf(settings),
    demandsSignatures: settings.demandsSignatures ?? false,
  })
}

/** What the same head did when our comment showed it, before anybody reviewed it: the folder `shown/`. */
async function shownBefore({ directory, settings }: Example): Promise<DescribedChange | undefined> {
  const then = join(directory, 'shown')
  if (!existsSync(then)) return undefined
  const { described } = await look({ directory: then, settings: { ...settings, reviews: {} } })
  if (described === undefined) throw new Error(`${then} cannot be judged`)
  return described
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
    case 'install':
      return { kind: 'unknown', reason: 'no example opens it', retryAfter: 60 }
    case 'comment':
      return { kind: 'unedited' }
    case 'branch':
      return { kind: 'no' }
    case 'check-run':
      return { kind: 'missing' }
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
    ...forgetfulMemory,
    firstSeenAccounts: async (_repository, accounts) =>
      new Map([...accounts, ...Object.entries(renamed).map(([login, id]) => [login, userId(id)] as const)]),
  }
}

/** Remembers besides what was shown before the reviews of the example, and what they were for. */
function memoryOfShown(shown: DescribedChange): Partial<PullMemory> {
  const changes = new Map([[shown.id, shown.covers]])
  const approvals = new Map<number, string>()
  return {
    shownHeads: async () => [{ head, epoch: 0, at: '2025-12-31T00:00:00Z', change: shown.id }],
    keepChange: async (_repository, _pull, { id, covers }) => {
      changes.set(id, covers)
    },
    keptChanges: async (_repository, _pull, ids) => new Map([...changes].filter(([id]) => ids.includes(id))),
    firstSeenApprovals: async (_repository, _pull, seen) => {
      for (const [review, id] of seen) if (!approvals.has(review)) approvals.set(review, id)
      return new Map(approvals)
    },
  }
}
