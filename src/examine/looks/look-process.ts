// The process that looks at pull requests. It isolates untrusted bytes from the process that answers deliveries, holds
// no secret, and asks the App for everything but git.
import type { OpenPull } from '../../ports/forge.ts'
import type { PullMemory } from '../../ports/pull-memory.ts'
import { GitError, isGitError } from '../../git/git-error.ts'
import { openGuestMirrors } from '../../git/guest-mirror.ts'
import { openKeptFacts } from '../catalogs/kept-facts.ts'
import { answerOrders, type CallBack } from '../../workers/answer-orders.ts'
import { guardProcess } from '../../workers/guarded-process.ts'
import { catalogLoader, type CatalogLoader } from '../catalogs/catalog-loader.ts'
import { examine } from '../examine.ts'
import type { Answer } from '../gather-answers.ts'
import { TooLarge } from './look-budget.ts'
import {
  memoryCalls,
  type LookAnswer,
  type LookMemory,
  type LookOrder,
  type LookRequest,
} from './look-order.ts'
import { openReaderPool } from '../catalogs/reader-pool.ts'
import { whatToTell } from './what-to-tell.ts'

// Kept between looks at one repository. Keyed by object ids only, so no look can influence another.
let loader: CatalogLoader | undefined
const mirrorAt = openGuestMirrors()

async function look(order: LookOrder, callBack: CallBack): Promise<LookAnswer> {
  const { snapshot, budget } = order
  const call = (request: LookRequest) => callBack(request)
  const repository = await mirrorAt(order.mirror, { mostPaths: budget.paths })
  loader ??= catalogLoader(
    openReaderPool(1, { time: budget.time, memory: budget.memory / 2 }),
    openKeptFacts(order.facts),
  )
  try {
    const seen = await examine(snapshot, {
      repository,
      loader,
      ask: async (question) => (await call({ kind: 'ask', question })) as Answer,
      memory: memoryOf(call),
      openPulls: async () => (await call({ kind: 'open-pulls' })) as readonly OpenPull[],
      budget,
      ...(order.opm !== undefined && { opm: order.opm }),
    })
    const { configDigest, epoch, commands, carried, described, gate } = seen
    return {
      kind: 'seen',
      configDigest,
      epoch,
      commands,
      ...(carried && { carried }),
      described,
      gate,
      told: await whatToTell(seen, repository),
    }
  } catch (error) {
    if (error instanceof TooLarge) return { kind: 'too-large', why: error.message }
    if (isGitError(error, 'too-large')) return { kind: 'too-large', why: error.message }
    if (error instanceof GitError)
      return { kind: 'git-error', code: error.code, message: error.message, retryable: error.retryable }
    throw error
  }
}

function memoryOf(call: (request: LookRequest) => Promise<unknown>): PullMemory {
  const asking = (name: keyof LookMemory) => [
    name,
    (...args: unknown[]) => call({ kind: 'memory', name, args }),
  ]
  const names = Object.keys(memoryCalls) as (keyof LookMemory)[]
  const nothing = () => Promise.reject(new Error('a look records nothing'))
  return {
    ...(Object.fromEntries(names.map(asking)) as LookMemory),
    recordShown: nothing,
    recordCommand: nothing,
  }
}

guardProcess()
answerOrders(look)
