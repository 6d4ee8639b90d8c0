// Looks at the tree of several pull requests together, as if one had made all of it. Who may make each of them is their own
// matter, judged for each; what they make together must be valid.
import { join, resolve } from 'node:path'
import type { CommitSha, PullNumber } from '../../change/ids.ts'
import type { Snapshot } from '../../change/snapshot.ts'
import type { CheckId } from '../../findings/checks.ts'
import { answerQuestions } from '../../examine/gather-answers.ts'
import { memoryCalls, type LookMemory, type LookRequest } from '../../examine/looks/look-order.ts'
import { GitError } from '../../git/git-error.ts'
import type { Store } from '../../ports/store.ts'
import type { JobContext } from './job-context.ts'

export type WholeVerdict =
  { readonly kind: 'valid' } | { readonly kind: 'invalid' | 'unknown'; readonly reasons: readonly string[] }

export interface Whole {
  /** Whose budget it is looked at with. */
  readonly pull: PullNumber
  readonly base: CommitSha
  /** Holds all of them; made here, and on no branch. */
  readonly head: CommitSha
  readonly baseRef: string
}

/** People's business, which was judged for each pull request. */
const ofEach: readonly CheckId[] = ['ownership']

/** Rejects with a GitError. */
export async function judgeWhole(
  { pull, base, head, baseRef }: Whole,
  place: JobContext<Store>,
): Promise<WholeVerdict> {
  const { app, forge, mirror } = place
  const snapshot: Snapshot = {
    repository: forge.repository,
    pull,
    state: 'open',
    draft: false,
    title: '',
    author: null,
    head,
    baseRef,
    base,
    headRepository: null,
    labels: [],
    reviews: [],
    comments: [],
    stacked: false,
  }
  const facts = join(resolve(app.settings.dataDirectory), 'facts')
  const order = { snapshot, mirror, facts, budget: app.settings.budget }
  const answer = await app.looks.look(order, answersFor(place))
  switch (answer.kind) {
    case 'too-large':
      return { kind: 'invalid', reasons: [`together they are too large to check: ${answer.why}`] }
    case 'git-error':
      throw new GitError(answer.code, answer.message, { retryable: answer.retryable })
    case 'seen':
      break
  }
  const outcomes = answer.gate.outcomes.filter(({ check }) => !ofEach.includes(check))
  if (outcomes.length === 0) return { kind: 'invalid', reasons: ['together they cannot be checked'] }
  const errors = outcomes.flatMap(({ check, findings }) =>
    findings
      .filter(({ severity }) => severity === 'error')
      .map(({ rule, at }) => `together, ${check}: ${rule}${at === undefined ? '' : ` in ${at.file}`}`),
  )
  if (errors.length > 0) return { kind: 'invalid', reasons: errors }
  const open = outcomes.flatMap(({ unanswered }) =>
    unanswered.map(({ question, reason }) => `${question}: ${reason}`),
  )
  return open.length > 0 ? { kind: 'unknown', reasons: open } : { kind: 'valid' }
}

/** No memory: nothing of this look is a pull request's past. */
const nothing: Readonly<Record<keyof LookMemory, (args: readonly unknown[]) => unknown>> = {
  observe: () => 0,
  shownHeads: () => [],
  commands: () => [],
  firstSeenReviews: () => new Map(),
  firstSeenApprovals: () => new Map(),
  keepChange: () => undefined,
  keptChanges: () => new Map(),
  firstSeenAccounts: (args) => args[1],
  pushersOf: () => [],
  hasSeenPushes: () => false,
  recentCommands: () => new Map(),
}

function answersFor({ app, forge }: JobContext<Store>) {
  const ask = answerQuestions(forge, app.registries.forOneLook(), app.store)
  return async (request: LookRequest): Promise<unknown> => {
    if (request.kind === 'ask') return ask(request.question)
    if (request.kind === 'open-pulls') return []
    if (!Object.hasOwn(memoryCalls, request.name)) throw new Error(`a look does not ask for ${request.name}`)
    return nothing[request.name](request.args)
  }
}
