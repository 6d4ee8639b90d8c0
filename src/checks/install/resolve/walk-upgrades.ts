// Follows a namespace from the first install through every OLM step until nothing changes. Resolves each state once.
import { type CatalogEntries } from './catalog-entries.ts'
import { type OperatorEntry } from './operator-entry.ts'
import { asInstalled } from './operator-facts.ts'
import {
  resolve,
  type CatalogSource,
  type ChosenBundle,
  type Installed,
  type Resolution,
  type Subscription,
} from './resolve.ts'

/** The first Operator is the one that the user asked for. */
export interface NamespaceState {
  readonly operators: readonly { readonly entry: OperatorEntry; readonly subscription: Subscription }[]
}

type Failure = Exclude<Resolution, { readonly kind: 'resolved' }>

export type FreshInstall =
  | { readonly kind: 'installed'; readonly state: NamespaceState; readonly bundles: readonly ChosenBundle[] }
  | Failure

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
    | Failure
}

/** More than any channel has. A repeated state also ends the walk. */
const mostHops = 5000

export class UpgradeWalk {
  private readonly catalogs: readonly CatalogSource[]
  private readonly next = new Map<string, NamespaceState | Failure | undefined>()

  /** Subscriptions name the first catalog. */
  constructor(catalogs: readonly CatalogSource[]) {
    this.catalogs = catalogs
  }

  /** Empty `channel`: any channel. Empty `startingCsv`: no particular version. */
  install(packageName: string, channel: string, startingCsv = ''): FreshInstall {
    const subscription: Subscription = {
      name: packageName,
      package: packageName,
      channel,
      catalog: this.main.name,
      startingCsv,
      installedCsv: '',
    }
    const resolution = resolve({ catalogs: this.catalogs, installed: [], subscriptions: [subscription] })
    if (resolution.kind !== 'resolved') return resolution
    const state = applied({ operators: [] }, [subscription], resolution.bundles)
    return { kind: 'installed', state, bundles: resolution.bundles }
  }

  follow(from: NamespaceState): UpgradePath {
    const start = rootOf(from)
    const hops: string[] = []
    const plans: string[][] = []
    const seen = new Set<string>()
    let state = from
    for (;;) {
      const key = keyOf(state)
      if (seen.has(key) || hops.length > mostHops)
        return { from: start, hops, plans, end: { kind: 'circle' } }
      seen.add(key)
      const next = this.after(state, key)
      if (next === undefined) return { from: start, hops, plans, end: { kind: 'settled', at: rootOf(state) } }
      if ('kind' in next) return { from: start, hops, plans, end: next }
      if (rootOf(next) !== rootOf(state)) hops.push(rootOf(next))
      plans.push(addedBy(next, state))
      state = next
    }
  }

  /** Undefined if nothing changes. */
  private after(state: NamespaceState, key: string): NamespaceState | Failure | undefined {
    if (!this.next.has(key)) this.next.set(key, this.resolveAfter(state))
    return this.next.get(key)
  }

  private resolveAfter({ operators }: NamespaceState): NamespaceState | Failure | undefined {
    const subscriptions = operators.map(({ subscription }) => subscription)
    const installed = operators.map(({ entry }): Installed => ({
      entry: asInstalled(entry),
      isSubscribed: true,
    }))
    const resolution = resolve({ catalogs: this.catalogs, installed, subscriptions })
    if (resolution.kind !== 'resolved') return resolution
    // OLM makes no step for a bundle that the Subscription already has.
    const bundles = resolution.bundles.filter(
      ({ entry }) => !subscriptions.some((its) => isFor(its, entry) && its.installedCsv === entry.name),
    )
    return bundles.length === 0 ? undefined : applied({ operators }, subscriptions, bundles)
  }

  private get main(): CatalogEntries {
    const [first] = this.catalogs
    if (first === undefined) throw new Error('a walk needs a catalog')
    return first.entries
  }
}

function addedBy(next: NamespaceState, before: NamespaceState): string[] {
  const known = new Set(before.operators.map(({ entry }) => entry.name))
  return next.operators.map(({ entry }) => entry.name).filter((name) => !known.has(name))
}

function rootOf({ operators }: NamespaceState): string {
  return operators[0]?.entry.name ?? ''
}

/** A key of everything that OLM's resolution depends on. */
function keyOf({ operators }: NamespaceState): string {
  return operators
    .map(({ entry, subscription }) =>
      [entry.name, subscription.package, subscription.channel, subscription.catalog].join(' '),
    )
    .sort()
    .join('\n')
}

function isFor({ package: packageName, channel, catalog }: Subscription, entry: OperatorEntry): boolean {
  return (
    packageName === entry.package &&
    (channel === '' || channel === entry.channel) &&
    catalog === entry.catalog
  )
}

/** The namespace after installation: OLM adds a Subscription for each bundle without one. */
function applied(
  before: NamespaceState,
  subscriptions: readonly Subscription[],
  bundles: readonly ChosenBundle[],
): NamespaceState {
  const replaced = new Set(bundles.map(({ replaces }) => replaces))
  const kept = before.operators.filter(({ entry }) => !replaced.has(entry.name))
  const added = bundles.map(({ entry }) => {
    const asked = subscriptions.find((its) => isFor(its, entry)) ?? generated(entry)
    return { entry, subscription: { ...asked, installedCsv: entry.name } }
  })
  // The user's Subscription stays first.
  const root = subscriptions[0]?.name
  return {
    operators: [...kept, ...added].sort(
      (a, b) => Number(b.subscription.name === root) - Number(a.subscription.name === root),
    ),
  }
}

function generated(entry: OperatorEntry): Subscription {
  return {
    name: `${entry.package}-${entry.channel}-${entry.catalog}`,
    package: entry.package,
    channel: entry.channel,
    catalog: entry.catalog ?? '',
    startingCsv: entry.name,
    installedCsv: '',
  }
}
