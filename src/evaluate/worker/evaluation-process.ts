// The process that evaluates pull requests. This process isolates untrusted bytes from the process that responds to
// deliveries, holds no secrets, and asks the App for everything except Git content.
import type { OpenPullSummary } from '../../ports/forge.ts'
import type { PullHistoryStore } from '../../ports/pull-history.ts'
import { GitError, isGitError, toGitErrorResponse } from '../../adapters/git/git-error.ts'
import { createReadOnlyMirrorOpener } from '../../adapters/git/mirror.ts'
import { createContentAddressedCache } from '../../catalogs/parsed-file-cache.ts'
import {
  serveWorkerRequests,
  type ParentProcessRequestSender,
  preventPrototypePollution,
} from '../../adapters/workers/answer-orders.ts'
import { createCatalogLoader, type CatalogLoader } from '../../catalogs/catalog-loader.ts'
import { isRunCommand } from '../../policy/command-records.ts'
import { evaluatePullSnapshot } from '../evaluate.ts'
import type { LookupResult } from '../../catalogs/gather-lookup-results.ts'
import { createCatalogFileReaderPool, ChangeTooLargeError } from '../../catalogs/reader-pool.ts'
import {
  workerPullHistoryMethods,
  type EvaluationResponse,
  type WorkerPullHistoryStore,
  type EvaluationRequest,
  type WorkerCallbackRequest,
} from '../pull-evaluation.ts'
import { prepareEvaluationReport } from './prepare-report.ts'

// Cached between evaluations of one repository. Keyed by object ids only, so no evaluation can influence another.
let sharedCatalogLoader: CatalogLoader | undefined
const openReadOnlyGitMirror = createReadOnlyMirrorOpener()

async function handleEvaluationRequest(
  order: EvaluationRequest,
  callBack: ParentProcessRequestSender,
): Promise<EvaluationResponse> {
  const { snapshot, budget, demandsSignatures } = order
  const call = (request: WorkerCallbackRequest) => callBack(request)
  const repository = await openReadOnlyGitMirror(order.mirror, { maxPaths: budget.paths })
  sharedCatalogLoader ??= createCatalogLoader(
    createCatalogFileReaderPool(1, { time: budget.time, memory: budget.memory / 2 }),
    createContentAddressedCache(order.facts),
  )
  try {
    const evaluation = await evaluatePullSnapshot(snapshot, {
      repository,
      loader: sharedCatalogLoader,
      ask: async (question) => (await call({ kind: 'ask', question })) as LookupResult,
      memory: createPullHistoryStoreProxy(call),
      openPulls: async () => (await call({ kind: 'open-pulls' })) as readonly OpenPullSummary[],
      budget,
      demandsSignatures,
      ...(order.opm !== undefined && { opm: order.opm }),
    })
    const { configDigest, epoch, commands, records, incoming, described, verdictInput } = evaluation
    return {
      kind: 'seen',
      configDigest,
      epoch,
      commands,
      ...(incoming && { incoming }),
      described,
      verdictInput,
      runCommands: records.filter(isRunCommand),
      report: await prepareEvaluationReport(evaluation, repository, sharedCatalogLoader),
    }
  } catch (error) {
    if (error instanceof ChangeTooLargeError || isGitError(error, 'too-large'))
      return { kind: 'too-large', why: error.message }
    if (error instanceof GitError) return toGitErrorResponse(error)
    throw error
  }
}

function createPullHistoryStoreProxy(
  call: (request: WorkerCallbackRequest) => Promise<unknown>,
): PullHistoryStore {
  const remoteMethod = (name: keyof WorkerPullHistoryStore) => [
    name,
    (...args: unknown[]) => call({ kind: 'memory', name, args }),
  ]
  const names = Object.keys(workerPullHistoryMethods) as (keyof WorkerPullHistoryStore)[]
  const rejectRecording = () => Promise.reject(new Error('an evaluation must not record anything'))
  return {
    ...(Object.fromEntries(names.map(remoteMethod)) as WorkerPullHistoryStore),
    recordShown: rejectRecording,
    recordCommand: rejectRecording,
  }
}

preventPrototypePollution()
serveWorkerRequests(handleEvaluationRequest)
