// `install ... --kubeconfig F`: after the simulation, the same on a cluster. Catalogs on this disk are served from here for as
// long as the trials last; the cluster has to get to this machine for it.
import { networkInterfaces } from 'node:os'
import type { BundleBlob } from '../catalog/facts/catalog.ts'
import type { BundleContent } from '../checks/install/bundle-content.ts'
import type { Installs } from '../checks/install/install-report.ts'
import type { CatalogUnderTest } from '../checks/install/resolutions.ts'
import type { InstallPlan } from '../checks/install/simulate-install.ts'
import type { Target } from '../checks/install/targets.ts'
import { planTrials, type NotTried, type PlannedTrial } from '../checks/install/trial/plan-trials.ts'
import type { CatalogAt } from '../checks/install/trial/trial-plan.ts'
import type { TrialReport } from '../checks/install/trial/trial-report.ts'
import { targetsOn } from '../checks/install/trial/try-on-cluster.ts'
import { verdictOfTrials } from '../checks/install/trial/trial-verdict.ts'
import { systemClock } from '../examine/system-clock.ts'
import type { Clock } from '../ports/clock.ts'
import { printable } from '../findings/printable.ts'
import { elapsed, whatWasTried } from '../messages/describe-trials.ts'
import { openGrpcServer } from '../serving/grpc-server.ts'
import type { InstallCatalog } from './install-catalog.ts'
import { say } from './output.ts'

export interface ClusterOptions {
  readonly kubeconfig?: string
  readonly context?: string
  readonly catalogHost?: string
  readonly installerRole?: string
  readonly forceCleanUp?: true
}

export interface ClusterInstall {
  readonly installs: Installs
  readonly trials: readonly TrialReport[]
  readonly notTried: readonly NotTried[]
}

export interface TriedCatalog {
  readonly catalog: InstallCatalog
  readonly image?: string
}

export interface ClusterRequest {
  readonly plan: InstallPlan
  readonly test: CatalogUnderTest
  readonly main: TriedCatalog
  readonly base: TriedCatalog | undefined
  readonly contents: ReadonlyMap<BundleBlob, BundleContent>
  /** None named: whatever the cluster has and the bundles are made for. */
  readonly wanted: readonly Target[]
  /** With what it installs in the simulation, by channel. */
  readonly simulated: ReadonlyMap<string, readonly Target[]>
}

const closingTime = 1000

export async function installOnCluster(
  request: ClusterRequest,
  options: ClusterOptions,
  {
    clock = systemClock,
    tell = say,
  }: { readonly clock?: Clock; readonly tell?: (line: string) => void } = {},
): Promise<ClusterInstall> {
  // Loaded on demand because it is slow and most installs need no cluster.
  const { openCluster } = await import('../cluster/open-cluster.ts')
  const { tryTrials } = await import('../cluster/try-trials.ts')
  const { sweepCluster } = await import('../cluster/janitor.ts')
  const cluster = await openCluster({
    file: options.kubeconfig ?? '',
    context: options.context,
    // The cluster belongs to the user.
    allowsPrograms: true,
    clock,
  })
  const stop = new AbortController()
  const onSignal = () => stop.abort()
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal)
  const closing: (() => Promise<unknown>)[] = [() => cluster.close()]
  const began = clock.now()
  const progress = (says: string) => tell(`${elapsed(began, clock.now()).padStart(6)}  ${printable(says)}`)
  try {
    const { trials, notTried } = plannedTrials(request, targetsOn(await cluster.discover()))
    const run = {
      cluster,
      clock,
      signal: stop.signal,
      onProgress: progress,
      force: options.forceCleanUp === true,
    }
    for (const { id, leftovers } of await sweepCluster(run))
      tell(
        `removed what the trial ${id} left${leftovers.length === 0 ? '' : `, but ${leftovers.join(', ')}`}`,
      )
    const serve = async (one: TriedCatalog): Promise<CatalogAt> => {
      if (one.image !== undefined) return { image: one.image }
      const served = one.catalog.served()
      if (!served) throw new Error('the catalog cannot be served, so no cluster can be given it')
      const host = options.catalogHost ?? ownAddress()
      const server = await openGrpcServer(served, { host: isLoopback(host) ? host : '0.0.0.0', port: 0 })
      closing.unshift(() => server.close(closingTime))
      return { address: `${host}:${server.port}` }
    }
    const place =
      trials.length === 0
        ? { catalog: { image: '' } }
        : {
            catalog: await serve(request.main),
            base:
              trials.some(({ isUpgrade }) => isUpgrade) && request.base
                ? await serve(request.base)
                : undefined,
            installerRole: options.installerRole,
          }
    const reports = await tryTrials(trials, {
      ...run,
      place,
      onTrial: (planned, attempt) =>
        progress(
          `${whatWasTried({ ...planned, steps: planned.steps.map(({ root }) => root) })}${attempt > 1 ? `, attempt ${attempt}` : ''}`,
        ),
    })
    const isCut = reports.length < trials.length
    const installs = verdictOfTrials(reports)
    // A trial proves only its own channel.
    const isWhole = request.plan.channels.every(({ resolution }) =>
      trials.some(({ channel }) => channel === resolution.channel),
    )
    return {
      installs:
        installs === 'yes' && (isCut || !isWhole || (request.wanted.length > 0 && notTried.length > 0))
          ? 'unknown'
          : installs,
      trials: reports,
      notTried,
    }
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal)
    for (const close of closing) await close()
  }
}

function plannedTrials(
  { plan, test, contents, wanted, simulated, main, base }: ClusterRequest,
  present: readonly Target[],
): { readonly trials: readonly PlannedTrial[]; readonly notTried: readonly NotTried[] } {
  const trials: PlannedTrial[] = []
  const notTried: NotTried[] = []
  const named = [...plan.request.catalog.bundles, ...(base?.catalog.catalog.bundles ?? [])]
  for (const { resolution } of plan.channels) {
    const { channel } = resolution
    const suitable = wanted.length > 0 ? wanted : (simulated.get(channel) ?? [])
    const targets = suitable.filter(
      (target) => present.includes(target) && (target !== 'OLM v1' || main.image !== undefined),
    )
    for (const target of suitable)
      if (!present.includes(target)) notTried.push({ target, channel, why: 'the cluster has no API for it' })
      else if (!targets.includes(target))
        notTried.push({
          target,
          channel,
          why: 'it takes catalogs from images alone: give the image instead of a directory',
        })
    const planned = planTrials({
      package: plan.request.package,
      resolution,
      targets,
      test,
      contentOf: (blob) => contents.get(blob),
      blobNamed: (name) => named.find((blob) => blob.name === name),
    })
    trials.push(...planned.trials)
    notTried.push(...planned.notTried)
  }
  return { trials, notTried }
}

/** A guess at this machine's address, which the user can override. */
function ownAddress(): string {
  const found = Object.values(networkInterfaces())
    .flatMap((all) => all ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal)
  return found?.address ?? '127.0.0.1'
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host.startsWith('127.') || host === '::1'
