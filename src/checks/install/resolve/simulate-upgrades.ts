// Follows a namespace from the first install through every OLM step until nothing changes. Resolves each state once.
import type { CatalogOperatorEntries } from './catalog-entries.ts'
import { type OperatorEntry, toInstalledOperatorEntry } from './operator-properties.ts'
import {
  resolveNamespace,
  type CatalogSource,
  type BundleToInstall,
  type InstalledOperator,
  type NamespaceResolution,
  type Subscription,
} from './resolve-namespace.ts'

/** The first Operator is the one that the user asked for. */
interface SimulatedNamespaceState {
  readonly operators: readonly { readonly entry: OperatorEntry; readonly subscription: Subscription }[]
}

type FailedNamespaceResolution = Exclude<NamespaceResolution, { readonly kind: 'resolved' }>

type FreshInstallResult =
  | {
      readonly kind: 'installed'
      readonly state: SimulatedNamespaceState
      readonly bundles: readonly BundleToInstall[]
    }
  | FailedNamespaceResolution

export interface UpgradePath {
  readonly from: string
  /** Versions after the first, in order. */
  readonly hops: readonly string[]
  /** Bundle names of each InstallPlan, including plans that only update companions. */
  readonly plans: readonly (readonly string[])[]
  readonly end:
    | { readonly kind: 'settled'; readonly at: string }
    /** The upgrade repeats for ever. */
    | { readonly kind: 'circle' }
    | FailedNamespaceResolution
}

/** More steps than any channel needs. A repeated state also ends the simulation. */
const maxUpgradeSteps = 5000

export class UpgradeSimulation {
  private readonly catalogs: readonly CatalogSource[]
  private readonly next = new Map<string, SimulatedNamespaceState | FailedNamespaceResolution | undefined>()

  /** Subscriptions name the first catalog. */
  constructor(catalogs: readonly CatalogSource[]) {
    this.catalogs = catalogs
  }

  /** Empty `channel`: any channel. Empty `startingCsv`: no particular version. */
  install(packageName: string, channel: string, startingCsv = ''): FreshInstallResult {
    const subscription: Subscription = {
      name: packageName,
      package: packageName,
      channel,
      catalog: this.main.name,
      startingCsv,
      installedCsv: '',
    }
    const resolution = resolveNamespace({
      catalogs: this.catalogs,
      installed: [],
      subscriptions: [subscription],
    })
    if (resolution.kind !== 'resolved') return resolution
    const state = installBundlesInNamespace({ operators: [] }, [subscription], resolution.bundles)
    return { kind: 'installed', state, bundles: resolution.bundles }
  }

  follow(from: SimulatedNamespaceState): UpgradePath {
    const start = getRequestedOperatorName(from)
    const hops: string[] = []
    const plans: string[][] = []
    const seen = new Set<string>()
    let state = from
    for (;;) {
      const key = toNamespaceStateKey(state)
      if (seen.has(key) || hops.length > maxUpgradeSteps)
        return { from: start, hops, plans, end: { kind: 'circle' } }
      seen.add(key)
      const next = this.after(state, key)
      if (next === undefined)
        return { from: start, hops, plans, end: { kind: 'settled', at: getRequestedOperatorName(state) } }
      if ('kind' in next) return { from: start, hops, plans, end: next }
      if (getRequestedOperatorName(next) !== getRequestedOperatorName(state))
        hops.push(getRequestedOperatorName(next))
      plans.push(listAddedOperatorNames(next, state))
      state = next
    }
  }

  /** Returns undefined if nothing changes. */
  private after(state: SimulatedNamespaceState, key: string) {
    if (!this.next.has(key)) this.next.set(key, this.resolveAfter(state))
    return this.next.get(key)
  }

  private resolveAfter({
    operators,
  }: SimulatedNamespaceState): SimulatedNamespaceState | FailedNamespaceResolution | undefined {
    const subscriptions = operators.map(({ subscription }) => subscription)
    const installed = operators.map(({ entry }): InstalledOperator => ({
      entry: toInstalledOperatorEntry(entry),
      isSubscribed: true,
    }))
    const resolution = resolveNamespace({ catalogs: this.catalogs, installed, subscriptions })
    if (resolution.kind !== 'resolved') return resolution
    // OLM does not create a step for a bundle that the Subscription already has.
    const bundles = resolution.bundles.filter(
      ({ entry }) =>
        !subscriptions.some(
          (its) => isSubscriptionForOperator(its, entry) && its.installedCsv === entry.name,
        ),
    )
    return bundles.length === 0 ? undefined : installBundlesInNamespace({ operators }, subscriptions, bundles)
  }

  private get main(): CatalogOperatorEntries {
    const [first] = this.catalogs
    if (first === undefined) throw new Error('an upgrade simulation needs a catalog')
    return first.entries
  }
}

function listAddedOperatorNames(next: SimulatedNamespaceState, before: SimulatedNamespaceState): string[] {
  const known = new Set(before.operators.map(({ entry }) => entry.name))
  return next.operators.map(({ entry }) => entry.name).filter((name) => !known.has(name))
}

function getRequestedOperatorName({ operators }: SimulatedNamespaceState): string {
  return operators[0]?.entry.name ?? ''
}

/** A key of everything that OLM's resolution depends on. */
function toNamespaceStateKey({ operators }: SimulatedNamespaceState): string {
  return operators
    .map(({ entry, subscription }) =>
      [entry.name, subscription.package, subscription.channel, subscription.catalog].join(' '),
    )
    .sort()
    .join('\n')
}

function isSubscriptionForOperator(
  { package: packageName, channel, catalog }: Subscription,
  entry: OperatorEntry,
): boolean {
  return (
    packageName === entry.package &&
    (channel === '' || channel === entry.channel) &&
    catalog === entry.catalog
  )
}

/** The namespace after installation: OLM adds a Subscription for each bundle without one. */
function installBundlesInNamespace(
  before: SimulatedNamespaceState,
  subscriptions: readonly Subscription[],
  bundles: readonly BundleToInstall[],
): SimulatedNamespaceState {
  const replaced = new Set(bundles.map(({ replaces }) => replaces))
  const remaining = before.operators.filter(({ entry }) => !replaced.has(entry.name))
  const added = bundles.map(({ entry }) => {
    const existing =
      subscriptions.find((its) => isSubscriptionForOperator(its, entry)) ??
      createDependencySubscription(entry)
    return { entry, subscription: { ...existing, installedCsv: entry.name } }
  })
  // The user's Subscription stays first.
  const root = subscriptions[0]?.name
  return {
    operators: [...remaining, ...added].sort(
      (a, b) => Number(b.subscription.name === root) - Number(a.subscription.name === root),
    ),
  }
}

function createDependencySubscription(entry: OperatorEntry): Subscription {
  return {
    name: `${entry.package}-${entry.channel}-${entry.catalog}`,
    package: entry.package,
    channel: entry.channel,
    catalog: entry.catalog ?? '',
    startingCsv: entry.name,
    installedCsv: '',
  }
}
