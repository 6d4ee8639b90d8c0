// A process that looks at pull requests: all bytes of strangers are read and judged here, never in the process that
// answers deliveries. What it needs of the world it asks of that one; it has no secret, and reads git by itself.
import { stat } from 'node:fs/promises'
import type { OpenPull } from '../../ports/forge.ts'
import type { PullMemory } from '../../ports/pull-memory.ts'
import { GitError, isGitError } from '../../git/git-error.ts'
import { openMirror, type Mirror } from '../../git/mirror.ts'
import { openKeptFacts } from '../catalogs/kept-facts.ts'
import { answerOrders, type CallBack } from '../../workers/answer-orders.ts'
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

// What this process keeps from one look to the next, all of one repository: it is found by object ids alone, so that
// nothing of it depends on whose look it was read for.
let loader: CatalogLoader | undefined
let mirror: { readonly folder: string; readonly repository: Mirror } | undefined

/** The mirror's owner says where it is from; a guest asks no server. */
async function mirrorAt({ mirror: directory, budget }: LookOrder): Promise<Mirror> {
  // A mirror that was made anew has its old path: what is open of the one before reads nothing that came since.
  const folder = `${directory} ${(await stat(directory, { bigint: true })).ino}`
  if (mirror?.folder === folder) return mirror.repository
  await mirror?.repository.close()
  const repository = await openMirror({
    directory,
    url: 'https://mirror.invalid',
    credential: () => Promise.resolve(undefined),
    isGuest: true,
    mostPaths: budget.paths,
  })
  mirror = { folder, repository }
  return repository
}

async function look(order: LookOrder, callBack: CallBack): Promise<LookAnswer> {
  const { snapshot, budget } = order
  const call = (request: LookRequest) => callBack(request)
  const repository = await mirrorAt(order)
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
      told: whatToTell(seen),
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

// A key such as `__proto__` that is taken for a place to write to writes nothing that all objects then have. They are sealed,
// not frozen: libraries give objects of their own what shared ones have, by assignment.
const shared: readonly { readonly prototype: object }[] = [Object, Array, Function, String, Number, Map, Set]
for (const { prototype } of shared) Object.seal(prototype)
process.on('disconnect', () => process.exit())
answerOrders(look)
