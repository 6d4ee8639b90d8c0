// Evaluates pull requests in this process, with the same evaluation and the same requests as the App's worker
// processes.
import { evaluateSnapshot } from '../../src/evaluate/evaluate.ts'
import { noopPullMemory } from '../../src/catalogs/null-store.ts'
import type { CheckAnswer } from '../../src/catalogs/gather-answers.ts'
import type { CatalogLoader } from '../../src/catalogs/catalog-loader.ts'
import { TooLargeError } from '../../src/catalogs/evaluation-budget.ts'
import {
  workerMemoryMethods,
  type EvaluationResponse,
  type WorkerPullMemory,
  type WorkerCallbackRequest,
} from '../../src/evaluate/worker/evaluation-messages.ts'
import type { AnswerWorkerCallback, EvaluationPool } from '../../src/evaluate/worker/evaluation-pool.ts'
import { prepareReport } from '../../src/evaluate/worker/prepare-report.ts'
import { GitError } from '../../src/adapters/git/git-error.ts'
import type { OpenPullSummary } from '../../src/ports/forge.ts'
import type { PullMemory } from '../../src/ports/pull-memory.ts'
import type { GitRepository } from '../../src/ports/repository.ts'

export function createInProcessEvaluator(repository: GitRepository, loader: CatalogLoader): EvaluationPool {
  return {
    isSmall: () => true,
    close: () => Promise.resolve(),
    evaluate: async ({ snapshot, budget }, call): Promise<EvaluationResponse> => {
      try {
        const evaluation = await evaluateSnapshot(snapshot, {
          repository,
          loader,
          ask: async (question) => (await call({ kind: 'ask', question })) as CheckAnswer,
          memory: createPullMemory(call),
          openPulls: async () => (await call({ kind: 'open-pulls' })) as readonly OpenPullSummary[],
          budget,
        })
        const { configDigest, epoch, commands, carried, described, gate } = evaluation
        // Data is copied as it would be between processes.
        return structuredClone<EvaluationResponse>({
          kind: 'seen',
          configDigest,
          epoch,
          commands,
          ...(carried && { carried }),
          described,
          gate,
          report: await prepareReport(evaluation, repository, loader),
        })
      } catch (error) {
        if (error instanceof TooLargeError) return { kind: 'too-large', why: error.message }
        if (error instanceof GitError)
          return { kind: 'git-error', code: error.code, message: error.message, retryable: error.retryable }
        throw error
      }
    },
  }
}

function createPullMemory(call: AnswerWorkerCallback): PullMemory {
  const names = Object.keys(workerMemoryMethods) as (keyof WorkerPullMemory)[]
  const methods = names.map((name) => [
    name,
    (...args: unknown[]) => call({ kind: 'memory', name, args } satisfies WorkerCallbackRequest),
  ])
  return { ...noopPullMemory, ...(Object.fromEntries(methods) as WorkerPullMemory) }
}
