// Follows a namespace from the first install through every OLM step until nothing changes. Resolves each state once.
import { type CatalogOperatorEntries } from './catalog-entries.ts'
import { type OperatorEntry } from './operator-entry.ts'
import { toInstalledOperatorEntry } from './operator-facts.ts'
import {
  resolveNamespace,
  type CatalogSource,
  type ChosenBundle,
  type InstalledOperator,
  type NamespaceResolution,
  type Subscription,
} from './resolve-namespace.ts'

/** The first Operator is the one that the user asked for. */
export interface NamespaceState {
  readonly operators: readonly { readonly entry: OperatorEntry; readonly subscription: Subscription }[]
}

type ResolutionFailure = Exclude<NamespaceResolution, { readonly kind: 'resolved' }>

export type FreshInstallResult =
  | { readonly kind: 'installed'; readonly state: NamespaceState; readonly bundles: readonly ChosenBundle[] }
  | ResolutionFailure

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
    | ResolutionFailure
}

/** More steps than any channel needs. A repeated state also ends the simulation. */
const maxUpgradeSteps = 5000

export class UpgradeSimulation {
  private readonly catalogs: readonly CatalogSource[]
  private readonly next = new Map<string, NamespaceState | ResolutionFailure | undefined>()

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
    const state = addInstalledBundles({ operators: [] }, [subscription], resolution.bundles)
    return { kind: 'installed', state, bundles: resolution.bundles }
  }

  follow(from: NamespaceState): UpgradePath {
    const start = getRootOperatorName(from)
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
        return { from: start, hops, plans, end: { kind: 'settled', at: getRootOperatorName(state) } }
      if ('kind' in next) return { from: start, hops, plans, end: next }
      if (getRootOperatorName(next) !== getRootOperatorName(state)) hops.push(getRootOperatorName(next))
      plans.push(listAddedBundleNames(next, state))
      state = next
    }
  }

  /** Returns undefined if nothing changes. */
  private after(state: NamespaceState, key: string): NamespaceState | ResolutionFailure | undefined {
    if (!this.next.has(key)) this.next.set(key, this.resolveAfter(state))
    return this.next.get(key)
  }

  private resolveAfter({ operators }: NamespaceState): NamespaceState | ResolutionFailure | undefined {
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
        !subscriptions.some((its) => isSubscriptionFor(its, entry) && its.installedCsv === entry.name),
    )
    return bundles.length === 0 ? undefined : addInstalledBundles({ operators }, subscriptions, bundles)
  }

  private get main(): CatalogOperatorEntries {
    const [first] = this.catalogs
    if (first === undefined) throw new Error('an upgrade simulation needs a catalog')
    return first.entries
  }
}

function listAddedBundleNames(next: NamespaceState, before: NamespaceState): string[] {
  const known = new Set(before.operators.map(({ entry }) => entry.name))
  return next.operators.map(({ entry }) => entry.name).filter((name) => !known.has(name))
}

function getRootOperatorName({ operators }: NamespaceState): string {
  return operators[0]?.entry.name ?? ''
}

/** A key of everything that OLM's resolution depends on. */
function toNamespaceStateKey({ operators }: NamespaceState): string {
  return operators
    .map(({ entry, subscription }) =>
      [entry.name, subscription.package, subscription.channel, subscription.catalog].join(' '),
    )
    .sort()
    .join('\n')
}

function isSubscriptionFor(
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
function addInstalledBundles(
  before: NamespaceState,
  subscriptions: readonly Subscription[],
  bundles: readonly ChosenBundle[],
): NamespaceState {
  const replaced = new Set(bundles.map(({ replaces }) => replaces))
  const remaining = before.operators.filter(({ entry }) => !replaced.has(entry.name))
  const added = bundles.map(({ entry }) => {
    const existing =
      subscriptions.find((its) => isSubscriptionFor(its, entry)) ?? createGeneratedSubscription(entry)
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

function createGeneratedSubscription(entry: OperatorEntry): Subscription {
  return {
    name: `${entry.package}-${entry.channel}-${entry.catalog}`,
    package: entry.package,
    channel: entry.channel,
    catalog: entry.catalog ?? '',
    startingCsv: entry.name,
    installedCsv: '',
  }
}
