// `install ... --kubeconfig F`: the installation on a cluster, which must reach local catalogs on this machine.
import { networkInterfaces } from 'node:os'
import type { BundleBlob } from '@catalog-bot/fbc/facts/catalog'
import type { BundleContentForInstall } from '../checks/install/install-analysis.ts'
import type { InstallVerdict, InstallTarget } from '../checks/install/install-report.ts'
import type { CatalogUnderTest } from '../checks/install/resolutions.ts'
import type { InstallSimulationPlan } from '../checks/install/simulate-install.ts'
import {
  type ClusterTestCatalogSource,
  planChannelClusterTests,
  type SkippedClusterTest,
  type PlannedClusterTest,
} from '../checks/install/cluster-test/cluster-test-plan.ts'
import {
  type ClusterTestReport,
  combineClusterTestVerdicts,
} from '../checks/install/cluster-test/cluster-test-report.ts'
import { listSupportedInstallTargets } from '../checks/install/cluster-test/cluster-test-driver.ts'
import { systemClock } from '../adapters/system-clock.ts'
import type { Clock } from '../ports/clock.ts'
import { escapeNonPrintableCharacters } from '@catalog-bot/findings/printable'
import { formatElapsedTime, formatClusterTestTitle } from '../report/cluster-test-check.ts'
import { startGrpcServer } from '@catalog-bot/fbc-server/grpc-server'
import { parseAndServeFiles, type LoadedCatalogToInstall } from './install-catalog.ts'
import { printToStderr } from './output.ts'

export interface ClusterInstallOptions {
  readonly kubeconfig?: string
  readonly context?: string
  readonly catalogHost?: string
  readonly installerRole?: string
  readonly forceCleanUp?: true
}

export interface ClusterInstallResult {
  readonly installs: InstallVerdict
  readonly trials: readonly ClusterTestReport[]
  readonly notTried: readonly SkippedClusterTest[]
}

export interface ClusterTestCatalog {
  readonly catalog: LoadedCatalogToInstall
  readonly image?: string
}

export interface ClusterInstallRequest {
  readonly plan: InstallSimulationPlan
  readonly test: CatalogUnderTest
  readonly main: ClusterTestCatalog
  readonly base: ClusterTestCatalog | undefined
  readonly contents: ReadonlyMap<BundleBlob, BundleContentForInstall>
  /** If empty, every target that both the cluster and the bundles support. */
  readonly wanted: readonly InstallTarget[]
  /** The targets with which the package installs in the simulation, by channel. */
  readonly simulated: ReadonlyMap<string, readonly InstallTarget[]>
}

const catalogServerCloseTimeoutMs = 1000

export async function installOnCluster(
  request: ClusterInstallRequest,
  options: ClusterInstallOptions,
  {
    clock = systemClock,
    print = printToStderr,
  }: { readonly clock?: Clock; readonly print?: (line: string) => void } = {},
): Promise<ClusterInstallResult> {
  // Loaded only if needed, because loading is slow and most installs don't use a cluster.
  const { createKubeClusterClient: openCluster } = await import('../cluster-test/cluster/open-cluster.ts')
  const { runClusterTests: runInstallTests } = await import('../cluster-test/cluster/run-cluster-tests.ts')
  const { sweepExpiredClusterTests: sweepCluster } =
    await import('../cluster-test/cluster/run-cluster-tests.ts')
  const cluster = await openCluster({
    file: options.kubeconfig ?? '',
    context: options.context,
    // The kubeconfig belongs to the user, so it may run credential plugins.
    allowsPrograms: true,
    clock,
  })
  const stop = new AbortController()
  const onSignal = () => stop.abort()
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal)
  const closing: (() => Promise<unknown>)[] = [() => cluster.close()]
  const began = clock.now()
  const progress = (message: string) =>
    print(`${formatElapsedTime(began, clock.now()).padStart(6)}  ${escapeNonPrintableCharacters(message)}`)
  try {
    const { trials, notTried } = planRequestedClusterTests(
      request,
      listSupportedInstallTargets(await cluster.discover()),
    )
    const run = {
      cluster,
      clock,
      signal: stop.signal,
      onProgress: progress,
      force: options.forceCleanUp === true,
    }
    for (const { id, leftovers } of await sweepCluster(run))
      print(
        `Removed the remaining objects of the install test ${id}${leftovers.length === 0 ? '' : `, except ${leftovers.join(', ')}`}`,
      )
    const serve = async (one: ClusterTestCatalog): Promise<ClusterTestCatalogSource> => {
      if (one.image !== undefined) return { image: one.image }
      const served = parseAndServeFiles(one.catalog.files)
      if (!served.ok) throw new Error('the catalog cannot be served, so the cluster cannot use it')
      const host = options.catalogHost ?? guessLocalIpAddress()
      const server = await startGrpcServer(served.value, {
        host: isLoopbackHost(host) ? host : '0.0.0.0',
        port: 0,
      })
      closing.unshift(() => server.close(catalogServerCloseTimeoutMs))
      return { address: `${host}:${server.port}` }
    }
    const setup =
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
    const reports = await runInstallTests(trials, {
      ...run,
      environment: setup,
      onAttempt: (planned, attempt) =>
        progress(
          `${formatClusterTestTitle({ ...planned, steps: planned.steps.map(({ root }) => root) })}${attempt > 1 ? `, attempt ${attempt}` : ''}`,
        ),
    })
    const isCut = reports.length < trials.length
    const installs = combineClusterTestVerdicts(reports)
    // An install test covers only its own channel.
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

function planRequestedClusterTests(
  { plan, test, contents, wanted, simulated, main, base }: ClusterInstallRequest,
  present: readonly InstallTarget[],
): { readonly trials: readonly PlannedClusterTest[]; readonly notTried: readonly SkippedClusterTest[] } {
  const tests: PlannedClusterTest[] = []
  const skippedTests: SkippedClusterTest[] = []
  const named = [...plan.request.catalog.bundles, ...(base?.catalog.catalog.bundles ?? [])]
  for (const { resolution } of plan.channels) {
    const { channel } = resolution
    const suitable = wanted.length > 0 ? wanted : (simulated.get(channel) ?? [])
    const targets = suitable.filter(
      (target) => present.includes(target) && (target !== 'OLM v1' || main.image !== undefined),
    )
    for (const target of suitable)
      if (!present.includes(target))
        skippedTests.push({ target, channel, why: 'the cluster does not serve the API of this target' })
      else if (!targets.includes(target))
        skippedTests.push({
          target,
          channel,
          why: 'this target accepts catalogs only as images: specify an image instead of a directory',
        })
    const planned = planChannelClusterTests({
      package: plan.request.package,
      resolution,
      targets,
      test,
      contentOf: (blob) => contents.get(blob),
      blobNamed: (name) => named.find((blob) => blob.name === name),
    })
    tests.push(...planned.tests)
    skippedTests.push(...planned.skipped)
  }
  return { trials: tests, notTried: skippedTests }
}

/** Guesses the address of this machine. The user can override it. */
function guessLocalIpAddress(): string {
  const found = Object.values(networkInterfaces())
    .flatMap((all) => all ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal)
  return found?.address ?? '127.0.0.1'
}

const isLoopbackHost = (host: string): boolean =>
  host === 'localhost' || host.startsWith('127.') || host === '::1'
