// One process of the bot: the real jobs on ports in memory. It can be ended at every call, and another one can be started in its
// place, which has what was on disk and nothing else.
import pino from 'pino'
import type { Publishing } from '../../src/app/publishing/open-publishing.ts'
import type { ReleasePool } from '../../src/examine/release/release-pool.ts'
import type { Trials } from '../../src/app/trials/open-trials.ts'
import { jobsOfDelivery } from '../../src/app/edge/jobs-of-delivery.ts'
import { pushOfDelivery } from '../../src/app/edge/push-of-delivery.ts'
import type { App, JobContext } from '../../src/app/jobs/job-context.ts'
import { runJob } from '../../src/app/jobs/run-job.ts'
import { openTurns } from '../../src/app/jobs/turns.ts'
import { openMetrics } from '../../src/app/metrics.ts'
import { readSettings, type Settings } from '../../src/app/settings.ts'
import { catalogLoader } from '../../src/examine/catalogs/catalog-loader.ts'
import { openReaderPool } from '../../src/examine/catalogs/reader-pool.ts'
import { forgetfulCache } from '../../src/examine/forgetful.ts'
import type { Registries } from '../../src/examine/registries.ts'
import type { Forge } from '../../src/ports/forge.ts'
import type { Job } from '../../src/ports/jobs.ts'
import type { Merging } from '../../src/ports/merging.ts'
import type { Repository } from '../../src/ports/repository.ts'
import type { Store } from '../../src/ports/store.ts'
import type { Process, Scheduler } from '../scheduler.ts'
import { appId, installation, type Delivery } from '../world/server.ts'
import { lookHere } from './look-here.ts'

/** What is read of catalogs is found by its content alone: one memory of it serves all runs. */
const loader = catalogLoader(openReaderPool(1), forgetfulCache)
const metrics = openMetrics()
const log = pino({ level: 'silent' })
const nobodyPublishes: Publishing = {
  order: () => Promise.reject(new Error('nothing is published here')),
  close: () => Promise.resolve(),
}
const nobodyTries: Trials = {
  isAllowed: false,
  order: () => Promise.reject(new Error('nothing is tried here')),
  serving: () => Promise.reject(new Error('nothing is tried here')),
  close: () => Promise.resolve(),
}

const nobodyReleases: ReleasePool = {
  workOut: () => Promise.reject(new Error('nothing is released here')),
  close: () => Promise.resolve(),
}

/** A webhook's secret and a private key that no run needs. */
const credentials = { appId, privateKey: 'none', webhookSecret: 'none' }

export const simulatedSettings: Settings = {
  ...readSettings({
    PAGES: 'off',
    DATA_DIR: 'data',
    SCAN_SECONDS: '0',
    SWEEP_SECONDS: '600',
    LEASE_SECONDS: '60',
  }),
  credentials,
}

export interface Ports {
  readonly store: Store
  readonly forge: Forge
  readonly merging: Merging
  readonly repository: Repository
  readonly registries: Registries
}

export interface Instance {
  readonly process: Process
  /** Does a job to its end. Rejects with failures of ours alone. */
  run(job: Job): Promise<void>
  receive(delivery: Delivery): Promise<void>
}

export function startInstance(process: Process, scheduler: Scheduler, ports: Ports): Instance {
  const { store, forge, merging, repository, registries } = ports
  const clock = scheduler.clockOf(process)
  const app: App<Store> = {
    settings: simulatedSettings,
    store,
    registries,
    publishing: nobodyPublishes,
    trials: nobodyTries,
    loader,
    looks: lookHere(repository, loader),
    releases: nobodyReleases,
    turns: openTurns(clock),
    metrics,
    clock,
    log,
  }
  const context: JobContext<Store> = { app, installation, forge, merging, repository, mirror: '/nowhere' }
  return {
    process,
    run: (job) =>
      runJob(job, {
        app,
        openJobContext: () => Promise.resolve(context),
        isInstalled: () => Promise.resolve(true),
        onDone: () => undefined,
      }),
    receive: async ({ guid, event, payload }) => {
      const body = Buffer.from(JSON.stringify(payload))
      const delivered: unknown = JSON.parse(body.toString())
      const push = pushOfDelivery(event, delivered)
      await store.accept({ guid, event, body }, jobsOfDelivery(event, delivered, appId), push)
    },
  }
}
