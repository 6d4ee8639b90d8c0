// Starts an evaluation process and answers its questions.
import { join, resolve } from 'node:path'
import type { PullSnapshot } from '../pull-request/snapshot.ts'
import type { CheckQuestion } from '../checks/questions.ts'
import {
  createCheckQuestionAnswerer,
  type CheckQuestionAnswer,
  type CheckQuestionAnswerer,
} from '../catalogs/gather-answers.ts'
import {
  workerPullHistoryMethods,
  type EvaluationResponse,
  type WorkerPullHistoryStore,
  type WorkerCallbackRequest,
} from './worker/evaluation-messages.ts'
import type { WorkerCallbackHandler, EvaluationSchedulingHints } from './worker/evaluation-pool.ts'
import { GitError } from '../adapters/git/git-error.ts'
import type { Cache } from '../ports/cache.ts'
import type { OpenPullSummary } from '../ports/forge.ts'
import type { JobContext } from '../jobs/job-context.ts'

export interface EvaluationInputs {
  readonly memory: Required<WorkerPullHistoryStore>
  readonly openPulls: () => Promise<readonly OpenPullSummary[]>
  readonly hints?: EvaluationSchedulingHints | undefined
  /** Answers questions from memory instead of sending requests. */
  readonly ask?: CheckQuestionAnswerer | undefined
  readonly onAnswer?: ((question: CheckQuestion, answer: CheckQuestionAnswer) => void) | undefined
}

/** Rejects with a GitError or StoreError. A corrupt mirror is fetched again by the next caller. */
export async function requestEvaluation(
  snapshot: PullSnapshot,
  { app, forge, repository, mirror }: JobContext<Cache>,
  inputs: EvaluationInputs,
): Promise<Exclude<EvaluationResponse, { kind: 'git-error' }>> {
  const { dataDirectory, budget, opm } = app.settings
  const facts = join(resolve(dataDirectory), 'facts')
  const answerFromSources =
    inputs.ask ?? createCheckQuestionAnswerer(forge, app.registries.forEvaluation(), app.store)
  const answerAndNotify: CheckQuestionAnswerer = async (question) => {
    const answer = await answerFromSources(question)
    inputs.onAnswer?.(question, answer)
    return answer
  }
  const order = { snapshot, mirror, facts, budget, ...(opm !== undefined && { opm }) }
  const answer = await app.evaluationPool.evaluate(
    order,
    createWorkerRequestHandler(answerAndNotify, inputs),
    inputs.hints,
  )
  if (answer.kind !== 'git-error') return answer
  if (answer.code === 'corrupt' || answer.code === 'missing') repository.markCorrupt?.(answer.code)
  throw new GitError(answer.code, answer.message, { retryable: answer.retryable })
}

type PullHistoryStoreMethod = (this: unknown, ...args: unknown[]) => Promise<unknown>

function createWorkerRequestHandler(
  answerQuestion: CheckQuestionAnswerer,
  { memory, openPulls }: EvaluationInputs,
): WorkerCallbackHandler {
  return async (request: WorkerCallbackRequest) => {
    if (request.kind === 'ask') return answerQuestion(request.question)
    if (request.kind === 'open-pulls') return openPulls()
    if (!Object.hasOwn(workerPullHistoryMethods, request.name))
      throw new Error(`an evaluation cannot call ${request.name}`)
    const readings: Readonly<Record<string, unknown>> = memory
    return (readings[request.name] as PullHistoryStoreMethod).apply(memory, request.args)
  }
}
