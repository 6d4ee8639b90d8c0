// Opens pull requests while instances die, and checks the final invariants, for `npm run chaos` and for a small story.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { verifyPublishedImages } from '../../../sandbox/demo/run-demo.ts'
import { SeededRandom } from '../../../simulate/seeded-random.ts'
import { openChaosPlanPulls, type ChaosPlanKind, type ChaosPullPlan } from './plans.ts'
import { startTwoBotsEnvironment, type TwoBotsEnvironment } from './two-bots.ts'
import {
  causeProcessDisruption,
  findOrphanProcesses,
  type ProcessDisruptionRecord,
  type ProcessDisruptionKind,
} from './kill-instances.ts'
import { findInvariantViolations, findInvalidCatalogStates, findMissingImages } from './final-invariants.ts'

export interface ChaosOptions {
  readonly databaseUrl: string
  readonly seed: number
  /** The kinds to open, each in a separate package. */
  readonly kinds: readonly ChaosPlanKind[]
  readonly kills: number
  readonly publishes: boolean
  /** Longest pause between two deaths, in milliseconds. */
  readonly pauseUpTo: number
  readonly leaseSeconds: number
  readonly stillSeconds: readonly [number, number]
  /** From the last death until everything must be correct. */
  readonly settleSeconds: number
  readonly deaths?: readonly ProcessDisruptionKind[]
  readonly log?: (line: string) => void
}

export interface ChaosResult {
  readonly faults: readonly string[]
  readonly seconds: number
  readonly secondsToSettle: number
  readonly deaths: readonly ProcessDisruptionRecord[]
  readonly plans: readonly ChaosPullPlan[]
  readonly requests: number
  /** Of both instances. */
  readonly log: readonly string[]
}

export async function runChaos(options: ChaosOptions): Promise<ChaosResult> {
  const { seed, kinds, kills, log = () => undefined } = options
  const dice = new SeededRandom(seed)
  const packages = kinds.map((_, index) => `package-${index}`)
  const bots = await startTwoBotsEnvironment({
    packages,
    databaseUrl: options.databaseUrl,
    publishes: options.publishes,
    sweepSeconds: 5,
    environment: {
      LEASE_SECONDS: String(options.leaseSeconds),
      STOP_SECONDS: '10',
      PUBLISH_RETRY_SECONDS: '2',
    },
  })
  const scratch = mkdtempSync(join(tmpdir(), 'chaos-'))
  const started = performance.now()
  const plans: ChaosPullPlan[] = []
  const deaths: ProcessDisruptionRecord[] = []
  try {
    await Promise.all(bots.instances.map((seat) => bots.start(seat)))
    const people = actAtRandomTimes()
    let opened = 0
    for (let round = 0; round < kills; round++) {
      // The last ones are opened well before the last deaths.
      const due = Math.min(kinds.length, Math.ceil(((round + 1) * kinds.length) / Math.max(1, kills * 0.9)))
      for (; opened < due; opened++) {
        const [kind, name] = [kinds[opened], packages[opened]]
        if (kind !== undefined && name !== undefined)
          plans.push(...(await openChaosPlanPulls(kind, name, bots)))
      }
      await people.act(round)
      await pause(dice.between(0, options.pauseUpTo))
      const died = await causeProcessDisruption(bots, {
        dice,
        stillSeconds: options.stillSeconds,
        ...(options.deaths && { only: options.deaths }),
      })
      deaths.push(died)
      log(
        `${((performance.now() - started) / 1000).toFixed(0)} s: ${died.description}; ${merged()} merged of ${plans.length}`,
      )
    }
    const settling = performance.now()
    while ((await people.act(Infinity)) > 0 && performance.now() - settling < options.settleSeconds * 1000)
      await pause(500)
    const faults = await waitUntilBotsSettled(bots, plans, options)
    return {
      faults: [
        ...faults,
        ...findOrphanProcesses(deaths),
        ...(await findInvalidCatalogStates(bots, scratch)),
        ...(await findMissingImages(plans, bots)),
        ...(options.publishes ? await findUnpublishedImages(bots) : []),
      ],
      seconds: (performance.now() - started) / 1000,
      secondsToSettle: (performance.now() - settling) / 1000,
      deaths,
      plans,
      requests: bots.github.requests.length,
      log: bots.instances.flatMap(({ name, log }) => log.map((line) => `${name} ${line}`)),
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
    await bots.close()
  }

  function merged(): number {
    return plans.filter(({ pull }) => pull.merged !== null).length
  }
  function actAtRandomTimes() {
    let due: { readonly at: number; readonly plan: ChaosPullPlan }[] = []
    let known = 0
    return {
      /** What users do until this round. */
      async act(round: number) {
        for (; known < plans.length; known++) {
          const plan = plans[known]
          if (plan?.later !== undefined) due.push({ at: round + dice.between(0, 8), plan })
        }
        const ready = due.filter(({ at, plan }) => at <= round && plan.isReadyForLater?.() !== false)
        due = due.filter((one) => !ready.includes(one))
        for (const { plan } of ready) await plan.later?.()
        return due.length
      },
    }
  }
}

/** The violations that are left when nothing changes any more, or when the time is over. */
async function waitUntilBotsSettled(
  bots: TwoBotsEnvironment,
  plans: readonly ChaosPullPlan[],
  { settleSeconds }: ChaosOptions,
): Promise<readonly string[]> {
  const end = performance.now() + settleSeconds * 1000
  let quiet = 0
  let faults: readonly string[] = []
  while (performance.now() < end) {
    const before = countGitHubWriteRequests(bots)
    await pause(500)
    faults = await findInvariantViolations(plans, bots)
    const wrote = countGitHubWriteRequests(bots) > before
    quiet = faults.length === 0 && !wrote ? quiet + 1 : 0
    // A sweep or two run in between, so that their effects show.
    if (quiet >= 14) return []
  }
  return faults.length > 0 ? faults : ['it goes on writing to GitHub']
}

const countGitHubWriteRequests = ({ github }: TwoBotsEnvironment) =>
  github.requests.reduce(
    (sum, { writes = 0, path }) => sum + (path.endsWith('/access_tokens') ? 0 : writes),
    0,
  )

async function findUnpublishedImages(bots: TwoBotsEnvironment): Promise<readonly string[]> {
  const { isGood, lines } = await verifyPublishedImages(bots, 60_000)
  return isGood ? [] : lines.filter((line) => line.includes('NOT'))
}
