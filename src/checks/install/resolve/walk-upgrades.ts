// A namespace over time: what a Subscription installs first, and every step that OLM takes from there until nothing
// changes any more. Each state is resolved once, however many versions lead through it. Knows no cluster.
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

/** The Operators of a namespace, with their Subscriptions. The first is the one that somebody asked for. */
export interface NamespaceState {
  readonly operators: readonly { readonly entry: OperatorEntry; readonly subscription: Subscription }[]
}

type Failure = Exclude<Resolution, { readonly kind: 'resolved' }>

export type FreshInstall =
  | { readonly kind: 'installed'; readonly state: NamespaceState; readonly bundles: readonly ChosenBundle[] }
  | Failure

export interface UpgradePath {
  readonly from: string
  /** The versions that come one after the other, without the first. */
  readonly hops: readonly string[]
  /** What each of OLM's InstallPlans on the way names: also those that only move what comes along. */
  readonly plans: readonly (readonly string[])[]
  readonly end:
    | { readonly kind: 'settled'; readonly at: string }
    /** It goes round for ever. */
    | { readonly kind: 'circle' }
    | Failure
}

/** More hops than any channel has; a state that comes again ends the walk anyway. */
const mostHops = 5000

export class UpgradeWalk {
  private readonly catalogs: readonly CatalogSource[]
  private readonly next = new Map<string, NamespaceState | Failure | undefined>()

  /** The first of the catalogs is the one that Subscriptions name. */
  constructor(catalogs: readonly CatalogSource[]) {
    this.catalogs = catalogs
  }

  /** What a new Subscription installs; '' for any channel, and for no version in particular. */
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

  /** Where OLM leads a namespace, step by step. */
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

  /** Undefined where everything stays as it is. */
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
    // OLM makes no step for a bundle that the Subscription has already.
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

/** Everything that OLM looks at: what is installed, and what each Subscription asks for. */
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

/** The namespace once the bundles are installed: OLM makes a Subscription for each that nobody asked for. */
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
  // The one that somebody asked for stays in front.
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
