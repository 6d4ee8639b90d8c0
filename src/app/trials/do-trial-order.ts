// Runs one order on the cluster that the operator assigned to the repository.
import { usualDeadlines, type Deadlines } from '../../checks/install/trial/deadlines.ts'
import { targetsOn } from '../../checks/install/trial/try-on-cluster.ts'
import { closedNetwork } from '../../cluster/closed-network.ts'
import { awaitConfinement } from '../../cluster/confinement.ts'
import { ClusterError } from '../../cluster/cluster-error.ts'
import type { Cluster } from '../../cluster/cluster.ts'
import type { TrialPlace } from '../../cluster/complete-plan.ts'
import { sweepCluster } from '../../cluster/janitor.ts'
import { cleanUp, type RunOptions } from '../../cluster/run-trial.ts'
import { tryTrials } from '../../cluster/try-trials.ts'
import type { Clock } from '../../ports/clock.ts'
import { clusterFor, slotOf, type ClusterTarget } from './cluster-targets.ts'
import type { NewsAnswer, TrialAnswer, TrialNews, TrialOrder } from './trial-order.ts'

export interface TrialRoom {
  readonly targets: readonly ClusterTarget[]
  readonly open: (target: ClusterTarget) => Promise<Cluster>
  readonly clock: Clock
}

/** Minimum milliseconds between progress reports, which also ask whether to continue. */
const newsEvery = 5000

export async function doTrialOrder(
  order: TrialOrder,
  room: TrialRoom,
  tell: (news: TrialNews) => Promise<NewsAnswer>,
): Promise<TrialAnswer> {
  const target = clusterFor(room.targets, order)
  if (!target)
    return {
      kind: 'refused',
      why: `the operator of the App gives no cluster to ${order.github.owner}/${order.github.name}`,
    }
  if (order.kind === 'prepare')
    return {
      kind: 'prepared',
      slot: slotOf(target),
      servesCatalogs: target.catalogHost !== undefined,
      ...(target.catalogPorts && { ports: target.catalogPorts }),
    }
  let cluster: Cluster | undefined
  try {
    cluster = await room.open(target)
    return await tryOn(cluster, order, target, room, tell)
  } catch (error) {
    if (error instanceof ClusterError) return { kind: 'failed', why: error.message }
    throw error
  } finally {
    await cluster?.close()
  }
}

async function tryOn(
  cluster: Cluster,
  order: Extract<TrialOrder, { kind: 'try' }>,
  target: ClusterTarget,
  { clock }: TrialRoom,
  tell: (news: TrialNews) => Promise<NewsAnswer>,
): Promise<TrialAnswer> {
  const { trial } = order
  const stop = new AbortController()
  let last = -Infinity
  let said = ''
  const news = async (says: string, id?: string): Promise<void> => {
    last = clock.now()
    said = says
    if ((await tell({ kind: 'news', says, ...(id !== undefined && { id }) })) === 'stop') stop.abort()
  }
  // Repeat progress during long waits, or the App assumes that the trial died.
  const patient: Clock = {
    now: () => clock.now(),
    sleep: async (milliseconds, signal) => {
      await clock.sleep(milliseconds, signal)
      if (clock.now() - last >= newsEvery) await news(said)
    },
  }
  const deadlines: Deadlines = { ...usualDeadlines, whole: target.minutes * 60_000 }
  const run: RunOptions = {
    cluster,
    clock: patient,
    deadlines,
    signal: stop.signal,
    force: target.forceCleanUp,
    every: target.lookSeconds * 1000,
    onProgress: (says) => (said = says),
  }
  const open = target.confined ? await awaitConfinement(cluster, patient, deadlines.unreachable) : undefined
  if (open !== undefined)
    return { kind: 'failed', why: `the policies of cluster-rights.yaml do not hold this account: ${open}` }
  for (const id of order.abandoned) await cleanUp(id, run)
  await sweepCluster(run)
  if (!targetsOn(await cluster.discover()).includes(trial.target))
    return { kind: 'not-tried', why: `the cluster has no API for ${trial.target}` }
  const places = placesFor(order, target)
  if ('why' in places) return { kind: 'not-tried', why: places.why }
  const { open: isOpen, reaches } = target.network
  const network = isOpen ? undefined : await closedNetwork(cluster, reaches)
  if (network?.kind === 'unknown') return { kind: 'not-tried', why: network.why }
  const [report] = await tryTrials([trial], {
    ...run,
    place: {
      ...places,
      network: network?.network,
      installerRole: target.installerRole,
      quota: target.quota,
    },
    onPlan: ({ id }) => news('the trial begins', id),
  })
  return report
    ? { kind: 'tried', report }
    : { kind: 'failed', why: 'the trial was told to stop before it began' }
}

/** Catalog sources: our ports for OLM v0, images for OLM v1, none for RukPak. */
function placesFor(
  { trial, catalogs, images }: Extract<TrialOrder, { kind: 'try' }>,
  { catalogHost }: ClusterTarget,
): Pick<TrialPlace, 'catalog' | 'base'> | { readonly why: string } {
  if (trial.target === 'OLM v1') {
    if (!images) return { why: 'OLM v1 takes catalogs from images, and this pull request has none' }
    if ('why' in images) return images
    if (trial.isUpgrade && images.base === undefined)
      return { why: 'no published image holds the catalog as it is before the change' }
    return {
      catalog: { image: images.head },
      ...(images.base !== undefined && { base: { image: images.base } }),
    }
  }
  if (trial.target !== 'OLM v0') return { catalog: { image: '' } }
  if (!catalogs || catalogHost === undefined)
    return { why: 'the operator does not say how the cluster reaches the catalogs of the App' }
  const at = (port: number) => ({ address: `${catalogHost}:${port}` })
  return { catalog: at(catalogs.head), ...(catalogs.base !== undefined && { base: at(catalogs.base) }) }
}
