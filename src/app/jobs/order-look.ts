// Starts an evaluation process and answers its questions.
import { join, resolve } from 'node:path'
import type { Snapshot } from '../../change/snapshot.ts'
import type { Question } from '../../checks/questions.ts'
import { answerQuestions, type Answer, type Ask } from '../../examine/gather-answers.ts'
import {
  memoryCalls,
  type LookAnswer,
  type LookMemory,
  type LookRequest,
} from '../../examine/looks/look-order.ts'
import type { AnswerLook, LookHints } from '../../examine/looks/look-pool.ts'
import { GitError } from '../../git/git-error.ts'
import type { Cache } from '../../ports/cache.ts'
import type { OpenPull } from '../../ports/forge.ts'
import type { JobContext } from './job-context.ts'

export interface LookedUp {
  readonly memory: Required<LookMemory>
  readonly openPulls: () => Promise<readonly OpenPull[]>
  readonly hints?: LookHints | undefined
  /** Answers questions from memory instead of sending requests. */
  readonly ask?: Ask | undefined
  readonly onAnswer?: ((question: Question, answer: Answer) => void) | undefined
}

/** Rejects with a GitError or StoreError. A corrupt mirror is fetched again by the next caller. */
export async function orderLook(
  snapshot: Snapshot,
  { app, forge, repository, mirror }: JobContext<Cache>,
  told: LookedUp,
): Promise<Exclude<LookAnswer, { kind: 'git-error' }>> {
  const { dataDirectory, budget, opm } = app.settings
  const facts = join(resolve(dataDirectory), 'facts')
  const world = told.ask ?? answerQuestions(forge, app.registries.forOneLook(), app.store)
  const ask: Ask = async (question) => {
    const answer = await world(question)
    told.onAnswer?.(question, answer)
    return answer
  }
  const order = { snapshot, mirror, facts, budget, ...(opm !== undefined && { opm }) }
  const answer = await app.looks.look(order, answersFrom(ask, told), told.hints)
  if (answer.kind !== 'git-error') return answer
  if (answer.code === 'corrupt' || answer.code === 'missing') repository.distrust?.(answer.code)
  throw new GitError(answer.code, answer.message, { retryable: answer.retryable })
}

type Reading = (this: unknown, ...args: unknown[]) => Promise<unknown>

function answersFrom(ask: Ask, { memory, openPulls }: LookedUp): AnswerLook {
  return async (request: LookRequest) => {
    if (request.kind === 'ask') return ask(request.question)
    if (request.kind === 'open-pulls') return openPulls()
    if (!Object.hasOwn(memoryCalls, request.name)) throw new Error(`a look does not ask for ${request.name}`)
    const readings: Readonly<Record<string, unknown>> = memory
    return (readings[request.name] as Reading).apply(memory, request.args)
  }
}
