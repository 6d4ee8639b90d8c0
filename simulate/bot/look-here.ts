// Looks at pull requests in this process: the same examination that the App's own processes make, over the same requests.
import { examine } from '../../src/examine/examine.ts'
import { forgetfulMemory } from '../../src/examine/forgetful.ts'
import type { Answer } from '../../src/examine/gather-answers.ts'
import type { CatalogLoader } from '../../src/examine/catalogs/catalog-loader.ts'
import { TooLarge } from '../../src/examine/looks/look-budget.ts'
import {
  memoryCalls,
  type LookAnswer,
  type LookMemory,
  type LookRequest,
} from '../../src/examine/looks/look-order.ts'
import type { AnswerLook, LookPool } from '../../src/examine/looks/look-pool.ts'
import { whatToTell } from '../../src/examine/looks/what-to-tell.ts'
import { GitError } from '../../src/git/git-error.ts'
import type { OpenPull } from '../../src/ports/forge.ts'
import type { PullMemory } from '../../src/ports/pull-memory.ts'
import type { Repository } from '../../src/ports/repository.ts'

export function lookHere(repository: Repository, loader: CatalogLoader): LookPool {
  return {
    isSmall: () => true,
    close: () => Promise.resolve(),
    look: async ({ snapshot, budget }, call): Promise<LookAnswer> => {
      try {
        const seen = await examine(snapshot, {
          repository,
          loader,
          ask: async (question) => (await call({ kind: 'ask', question })) as Answer,
          memory: memoryOf(call),
          openPulls: async () => (await call({ kind: 'open-pulls' })) as readonly OpenPull[],
          budget,
        })
        const { configDigest, epoch, commands, carried, described, gate } = seen
        // Between processes everything is copied.
        return structuredClone<LookAnswer>({
          kind: 'seen',
          configDigest,
          epoch,
          commands,
          ...(carried && { carried }),
          described,
          gate,
          told: await whatToTell(seen, repository),
        })
      } catch (error) {
        if (error instanceof TooLarge) return { kind: 'too-large', why: error.message }
        if (error instanceof GitError)
          return { kind: 'git-error', code: error.code, message: error.message, retryable: error.retryable }
        throw error
      }
    },
  }
}

function memoryOf(call: AnswerLook): PullMemory {
  const names = Object.keys(memoryCalls) as (keyof LookMemory)[]
  const asking = names.map((name) => [
    name,
    (...args: unknown[]) => call({ kind: 'memory', name, args } satisfies LookRequest),
  ])
  return { ...forgetfulMemory, ...(Object.fromEntries(asking) as LookMemory) }
}
