// The process that evaluates pull requests. It isolates untrusted bytes from the process that answers deliveries, holds
// no secret, and asks the App for everything but git.
import type { OpenPullSummary } from '../../ports/forge.ts'
import type { PullMemory } from '../../ports/pull-memory.ts'
import { GitError, isGitError } from '../../adapters/git/git-error.ts'
import { createReadOnlyMirrorOpener } from '../../adapters/git/read-only-mirror.ts'
import { openBlobFactsCache } from '../../catalogs/blob-facts-cache.ts'
import { serveWorkerRequests, type SendRequestToParent } from '../../adapters/workers/answer-orders.ts'
import { preventPrototypePollution } from '../../adapters/workers/guarded-process.ts'
import { createCatalogLoader, type CatalogLoader } from '../../catalogs/catalog-loader.ts'
import { evaluateSnapshot } from '../evaluate.ts'
import type { CheckAnswer } from '../../catalogs/gather-answers.ts'
import { TooLargeError } from '../../catalogs/evaluation-budget.ts'
import {
  workerMemoryMethods,
  type EvaluationResponse,
  type WorkerPullMemory,
  type EvaluationRequest,
  type WorkerCallbackRequest,
} from './evaluation-messages.ts'
import { openCatalogFileReaderPool } from '../../catalogs/reader-pool.ts'
import { prepareReport } from './prepare-report.ts'

// Cached between evaluations of one repository. Keyed by object ids only, so no evaluation can influence another.
let sharedLoader: CatalogLoader | undefined
const openReadOnlyMirrorAt = createReadOnlyMirrorOpener()

async function handleEvaluationRequest(
  order: EvaluationRequest,
  callBack: SendRequestToParent,
): Promise<EvaluationResponse> {
  const { snapshot, budget } = order
  const call = (request: WorkerCallbackRequest) => callBack(request)
  const repository = await openReadOnlyMirrorAt(order.mirror, { maxPaths: budget.paths })
  sharedLoader ??= createCatalogLoader(
    openCatalogFileReaderPool(1, { time: budget.time, memory: budget.memory / 2 }),
    openBlobFactsCache(order.facts),
  )
  try {
    const evaluation = await evaluateSnapshot(snapshot, {
      repository,
      loader: sharedLoader,
      ask: async (question) => (await call({ kind: 'ask', question })) as CheckAnswer,
      memory: createRemotePullMemory(call),
      openPulls: async () => (await call({ kind: 'open-pulls' })) as readonly OpenPullSummary[],
      budget,
      ...(order.opm !== undefined && { opm: order.opm }),
    })
    const { configDigest, epoch, commands, carried, described, gate } = evaluation
    return {
      kind: 'seen',
      configDigest,
      epoch,
      commands,
      ...(carried && { carried }),
      described,
      gate,
      report: await prepareReport(evaluation, repository, sharedLoader),
    }
  } catch (error) {
    if (error instanceof TooLargeError) return { kind: 'too-large', why: error.message }
    if (isGitError(error, 'too-large')) return { kind: 'too-large', why: error.message }
    if (error instanceof GitError)
      return { kind: 'git-error', code: error.code, message: error.message, retryable: error.retryable }
    throw error
  }
}

function createRemotePullMemory(call: (request: WorkerCallbackRequest) => Promise<unknown>): PullMemory {
  const remoteMethod = (name: keyof WorkerPullMemory) => [
    name,
    (...args: unknown[]) => call({ kind: 'memory', name, args }),
  ]
  const names = Object.keys(workerMemoryMethods) as (keyof WorkerPullMemory)[]
  const rejectRecording = () => Promise.reject(new Error('an evaluation must not record anything'))
  return {
    ...(Object.fromEntries(names.map(remoteMethod)) as WorkerPullMemory),
    recordShown: rejectRecording,
    recordCommand: rejectRecording,
  }
}

preventPrototypePollution()
serveWorkerRequests(handleEvaluationRequest)
