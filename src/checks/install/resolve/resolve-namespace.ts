// OLM v0's resolution of a namespace, with OLM's problem and wording (OLM: resolver.go, variable_types.go).
import { compareCodeUnits } from '@catalog-bot/findings/finding'
import { isVersionInRange } from '@catalog-bot/fbc/versions/version-range'
import { memoizeOnce, memoizePerObject, getOrCreate } from '@catalog-bot/findings/memoize'
import {
  solveBundleSelection,
  type AppliedConstraint,
  type SolverConstraint,
  type SolverVariable,
} from './choose-bundles.ts'
import {
  ResolverError,
  type OperatorEntry,
  type BundleRequirement,
  CelEvaluationError,
} from './operator-properties.ts'
import {
  compareChannelsByPreference,
  type CatalogOperatorEntries,
  type ChannelOperatorEntries,
  computeChannelEntryOrder,
} from './catalog-entries.ts'

/** A CatalogSource. The simulation puts all of them in one namespace. */
export interface CatalogSource {
  readonly entries: CatalogOperatorEntries
  /** A higher priority is preferred. */
  readonly priority: number
}

export interface Subscription {
  readonly name: string
  readonly package: string
  /** Empty for any channel. In this case, OLM prefers the default channel. */
  readonly channel: string
  readonly catalog: string
  /** Empty if not set. Ignored after a version is installed. */
  readonly startingCsv: string
  /** Empty until a version is installed. */
  readonly installedCsv: string
}

export interface InstalledOperator {
  readonly entry: OperatorEntry
  /** OLM never changes an installed Operator without a Subscription. */
  readonly isSubscribed: boolean
}

export interface ResolverNamespace {
  readonly catalogs: readonly CatalogSource[]
  readonly installed: readonly InstalledOperator[]
  readonly subscriptions: readonly Subscription[]
}

export interface BundleToInstall {
  readonly entry: OperatorEntry
  /** The installed bundle that it replaces. Empty if it replaces none. */
  readonly replaces: string
}

/** The conflict in a form that a reader can act on. */
export type ResolutionConflict =
  /**
   * Each bundle of `unmet` requires something that no catalog provides. `candidates`: what the Subscription may
   * install, newest first.
   */
  | {
      readonly kind: 'unmet'
      readonly candidates: readonly string[]
      readonly unmet: readonly { readonly bundle: string; readonly requirement: string }[]
    }
  /** Bundles that can't be installed together, in OLM's words. */
  | { readonly kind: 'exclusive'; readonly text: string }
  | { readonly kind: 'other' }

export type NamespaceResolution =
  /** Only new bundles. Empty if nothing changes. */
  | { readonly kind: 'resolved'; readonly bundles: readonly BundleToInstall[] }
  /** The conflicting constraints as a chain from the Subscription, and OLM's message. */
  | {
      readonly kind: 'not satisfiable'
      readonly chain: readonly string[]
      readonly message: string
      readonly cause: ResolutionConflict
    }
  /** OLM reports `message` on the Subscription and retries. */
  | { readonly kind: 'error'; readonly message: string }
  /** The simulation cannot determine the result. */
  | { readonly kind: 'unknown'; readonly reason: string }

/** Never throws for bad catalog data. */
export function resolveNamespace(namespace: ResolverNamespace): NamespaceResolution {
  try {
    return new ResolutionSolver(namespace).resolve()
  } catch (error) {
    if (error instanceof ResolverError) return { kind: 'error', message: error.message }
    if (error instanceof CelEvaluationError) return { kind: 'unknown', reason: error.message }
    throw error
  }
}

interface BundleSolverVariable extends SolverVariable {
  readonly entry: OperatorEntry
  readonly constraints: SolverConstraint[]
  replaces: string
}

/** Caches the data that is the same for all namespaces with the same catalogs. */
class RequirementCandidateCache {
  /** Entries from which OLM does not reach any unreadable data. */
  readonly sound = new Set<OperatorEntry>()
  private readonly candidates = new Map<BundleRequirement, Map<string, readonly OperatorEntry[]>>()

  /** Entries that meet a requirement, in the order of preference of the requesting entry. */
  candidatesFor(
    requirement: BundleRequirement,
    { catalog = '' }: OperatorEntry,
    find: () => readonly OperatorEntry[],
  ): readonly OperatorEntry[] {
    const byCatalog = getOrCreate(this.candidates, requirement, () => new Map())
    return getOrCreate(byCatalog, catalog, find)
  }
}

const getRequirementCandidateCache = memoizePerObject(
  (_catalogs: readonly CatalogSource[]) => new RequirementCandidateCache(),
)

class ResolutionSolver {
  private readonly namespace: ResolverNamespace
  private readonly reach: RequirementCandidateCache
  private readonly bundles = new Map<string, BundleSolverVariable>()
  private readonly byEntry = new Map<OperatorEntry, BundleSolverVariable>()
  private readonly subscribed: SolverVariable[] = []

  constructor(namespace: ResolverNamespace) {
    this.namespace = namespace
    this.reach = getRequirementCandidateCache(namespace.catalogs)
  }

  resolve(): NamespaceResolution {
    const installed = this.namespace.installed.map(({ entry }) => entry)
    this.rejectUnsound(installed)
    this.addBundles(installed)
    const problems: string[] = []
    for (const subscription of this.namespace.subscriptions)
      try {
        this.subscribed.push(this.createSubscriptionVariable(subscription))
      } catch (error) {
        if (!(error instanceof ResolverError)) throw error
        problems.push(error.message)
      }
    if (problems.length > 0) throw new ResolverError(joinUniqueErrorMessages(problems))
    const choice = solveBundleSelection([...this.subscribed, ...this.bundles.values(), ...this.invariants()])
    switch (choice.kind) {
      case 'chosen':
        return { kind: 'resolved', bundles: this.newAmong(choice.ids) }
      case 'not satisfiable':
        return createUnsatisfiableResult(choice.constraints)
      case 'error':
        return choice
      case 'gave up':
        return { kind: 'unknown', reason: 'the dependencies are too complex to resolve within the limit' }
    }
  }

  private newAmong(ids: readonly string[]): readonly BundleToInstall[] {
    return ids.flatMap((id) => {
      const bundle = this.bundles.get(id)
      if (bundle === undefined || bundle.entry.catalog === undefined) return []
      if (id.split('/').length !== 4)
        throw new ResolverError(
          `error determining origin of operator: unable to parse identifier ${id} for source info`,
        )
      const count = this.countOf(bundle.entry)
      if (count !== 1) throw new ResolverError(`expected exactly one operator, got ${count}`)
      return [{ entry: bundle.entry, replaces: bundle.replaces }]
    })
  }

  /** Creates a variable that cannot be satisfied if the Subscription names something missing. */
  private createSubscriptionVariable(subscription: Subscription): SolverVariable {
    const current = this.findInstalledEntry(subscription)
    const found = this.listOfferedEntries(subscription, current)
    if ('nothing' in found)
      return {
        id: `subscription:${subscription.name}`,
        constraints: [
          createSubscriptionExistsConstraint(subscription),
          { kind: 'prohibited', text: found.nothing },
        ],
      }
    const preferred = found.channels.flatMap((entries) => sortEntriesInChannelOrder(entries))
    const usable = preferred.filter((entry) => !current || canUpgradeFromCurrentEntry(entry, current))
    const entries = usable.flatMap((entry) => {
      const same = found.byName(entry.name)
      return same.length > 1 ? [entry, ...same.filter((other) => other !== entry)] : same
    })
    this.rejectUnsound(entries)
    const candidates = this.addBundles(entries)
    if (current)
      for (const candidate of new Set(candidates)) {
        candidate.replaces = current.name
        const conflict = toSolverVariableId(current)
        candidate.constraints.push({
          kind: 'conflict',
          id: conflict,
          text: `${candidate.id} conflicts with ${conflict}`,
        })
      }
    const ids = [
      ...candidates.map((candidate) => candidate.id),
      ...(current ? [toSolverVariableId(current)] : []),
    ]
    return {
      id: `subscription:${subscription.name}`,
      constraints: [
        createSubscriptionExistsConstraint(subscription),
        createSubscriptionConstraint(subscription.name, ids),
      ],
    }
  }

  /** @throws ResolverError if the entries lead to something that OLM cannot read or order. */
  private rejectUnsound(entries: readonly OperatorEntry[]): void {
    const { sound } = this.reach
    const open = entries.filter((entry) => !sound.has(entry))
    const seen = new Set<OperatorEntry>()
    for (let entry = open.pop(); entry !== undefined; entry = open.pop()) {
      if (seen.has(entry) || sound.has(entry)) continue
      seen.add(entry)
      for (const requirement of entry.facts.requirements())
        open.push(...this.candidatesFor(requirement, entry))
    }
    for (const entry of seen) if (entry.catalog !== undefined) sound.add(entry)
  }

  /** The entries that match the Subscription's channel and name, or the reason why none do. */
  private listOfferedEntries(
    subscription: Subscription,
    current: OperatorEntry | undefined,
  ):
    | { readonly nothing: string }
    | {
        readonly channels: readonly (ChannelOperatorEntries | readonly OperatorEntry[])[]
        readonly byName: (name: string) => readonly OperatorEntry[]
      } {
    const { name, catalog, channel, startingCsv } = subscription
    const source = this.namespace.catalogs.find(({ entries }) => entries.name === catalog)?.entries
    const hasEntries = (its: ChannelOperatorEntries) => its.entries.length > 0
    const referenced = `referenced by subscription ${name}`
    if (!source || ![...source.packages.values()].some(({ channels }) => channels.some(hasEntries)))
      return {
        nothing: `no operators found from catalog ${catalog} in namespace ${simulatedNamespaceName} ${referenced}`,
      }
    const ofPackage = (source.packages.get(subscription.package)?.channels ?? []).filter(hasEntries)
    if (ofPackage.length === 0)
      return { nothing: `no operators found in package ${subscription.package} in the catalog ${referenced}` }
    const channels = channel === '' ? ofPackage : ofPackage.filter((its) => its.name === channel)
    const inChannel = `in channel ${channel} of package ${subscription.package} in the catalog ${referenced}`
    if (channels.length === 0) return { nothing: `no operators found ${inChannel}` }
    const startsWith = current ? '' : startingCsv
    if (startsWith === '') {
      const byName = memoizeOnce(() =>
        Map.groupBy(
          channels.flatMap((its) => its.entries),
          (entry) => entry.name,
        ),
      )
      return { channels, byName: (named) => byName().get(named) ?? [] }
    }
    const named = channels.map(({ entries }) => entries.filter((entry) => entry.name === startsWith))
    if (named.every(({ length }) => length === 0))
      return { nothing: `no operators found with name ${startsWith} ${inChannel}` }
    return { channels: named, byName: () => named.flat() }
  }

  private findInstalledEntry({ name, installedCsv }: Subscription): OperatorEntry | undefined {
    const matches = this.namespace.installed.filter(({ entry }) => entry.name === installedCsv)
    if (installedCsv === '' || matches.length <= 1) return matches[0]?.entry
    const names = matches.map(({ entry }) => entry.name).join(', ')
    throw new ResolverError(
      `multiple name matches for status.installedCSV of subscription ${simulatedNamespaceName}/${name}: ${names}`,
    )
  }

  private addBundles(entries: readonly OperatorEntry[]): readonly BundleSolverVariable[] {
    const open = [...entries]
    for (let entry = open.pop(); entry !== undefined; entry = open.pop()) {
      if (this.byEntry.has(entry)) continue
      const variable = this.newVariable(entry)
      this.byEntry.set(entry, variable)
      this.bundles.set(variable.id, variable)
      for (const requirement of entry.facts.requirements()) {
        const candidates = this.candidatesFor(requirement, entry)
        variable.constraints.push({
          kind: 'dependency',
          ids: candidates.map(toSolverVariableId),
          text: `bundle ${entry.name} requires an operator ${requirement.text}`,
          requirement: requirement.label,
        })
        open.push(...candidates)
      }
    }
    return entries.map((entry) => this.byEntry.get(entry) as BundleSolverVariable)
  }

  private newVariable(entry: OperatorEntry): BundleSolverVariable {
    const id = toSolverVariableId(entry)
    const constraints: SolverConstraint[] = []
    if (this.namespace.installed.some((one) => one.entry === entry && !one.isSubscribed))
      constraints.push({
        kind: 'mandatory',
        text: `clusterserviceversion ${entry.name} exists and is not referenced by a subscription`,
      })
    if (entry.facts.isDeprecated) constraints.push({ kind: 'prohibited', text: `bundle ${id} is deprecated` })
    return { id, entry, constraints, replaces: '' }
  }

  /**
   * OLM's order of preference: installed bundles, the catalog of the requesting entry, then by priority and name.
   * Within a catalog, default channels come first, and each channel starts at its head.
   */
  private candidatesFor(requirement: BundleRequirement, dependent: OperatorEntry): readonly OperatorEntry[] {
    const found = sortInstalledOperatorEntries(
      this.namespace.installed.map(({ entry }) => entry).filter((entry) => requirement.isMetBy(entry)),
    )
    const offered = this.reach.candidatesFor(requirement, dependent, () =>
      this.catalogsFor(dependent).flatMap(({ entries }) =>
        findEntriesSatisfyingRequirement(entries, requirement),
      ),
    )
    return found.length === 0 ? offered : [...found, ...offered]
  }

  private catalogsFor({ catalog }: OperatorEntry): readonly CatalogSource[] {
    const isOwn = ({ entries }: CatalogSource) => Number(entries.name === catalog)
    return [...this.namespace.catalogs].sort(
      (a, b) =>
        isOwn(b) - isOwn(a) || b.priority - a.priority || compareCodeUnits(a.entries.name, b.entries.name),
    )
  }

  /** At most one bundle of each package and one provider of each API. */
  private *invariants(): Generator<SolverVariable> {
    const byApi = new Map<string, string[]>()
    const byPackage = new Map<string, string[]>()
    for (const { id, entry } of this.bundles.values()) {
      if (!this.isCounted(entry)) continue
      for (const api of entry.facts.provided) getOrCreate(byApi, api, () => []).push(id)
      for (const { name } of entry.facts.packages) getOrCreate(byPackage, name, () => []).push(id)
    }
    for (const [api, ids] of byApi) {
      const [group = '', version = '', kind = ''] = api.split('\0')
      const gvk = `${kind} (${group}/${version})`
      yield createAtMostOneVariable(
        gvk,
        `there can be only one provider of ${gvk}`,
        ids,
        (all) => `${all} provide ${gvk}`,
      )
    }
    for (const [name, ids] of byPackage)
      yield createAtMostOneVariable(
        name,
        `there can be only one operator from package ${name}`,
        ids,
        (all) => `${all} originate from package ${name}`,
      )
  }

  /** OLM ignores entries that it cannot look up by name and channel. */
  private isCounted(entry: OperatorEntry): boolean {
    return !entry.name.includes('/') && !entry.channel.includes('/') && this.countOf(entry) === 1
  }

  private countOf({ catalog, name, channel }: OperatorEntry): number {
    if (catalog === undefined)
      return this.namespace.installed.filter(({ entry }) => entry.name === name).length
    const source = this.namespace.catalogs.find(({ entries }) => entries.name === catalog)
    return source?.entries.countOf(name, channel) ?? 0
  }
}

const simulatedNamespaceName = 'simulation'

function createSubscriptionExistsConstraint({ name }: Subscription): SolverConstraint {
  return { kind: 'mandatory', text: `subscription ${name} exists` }
}

function toSolverVariableId({ catalog, channel, name }: OperatorEntry): string {
  return `${catalog ?? '@existing'}/${simulatedNamespaceName}/${channel}/${name}`
}

function sortEntriesInChannelOrder(entries: ChannelOperatorEntries | readonly OperatorEntry[]) {
  const order = 'order' in entries ? entries.order() : computeChannelEntryOrder(entries)
  if (!order.ok) throw new ResolverError(order.error)
  return order.entries
}

function canUpgradeFromCurrentEntry({ skipRange, replaces, skips }: OperatorEntry, current: OperatorEntry) {
  return (
    (skipRange !== undefined &&
      current.version !== undefined &&
      isVersionInRange(current.version, skipRange)) ||
    replaces === current.name ||
    skips.includes(current.name)
  )
}

/** Installed Operators have no channel: OLM treats those of one package as one channel without edges. */
function sortInstalledOperatorEntries(entries: readonly OperatorEntry[]): OperatorEntry[] {
  const byPackage = Map.groupBy(entries, (entry) => entry.package)
  return [...byPackage.values()]
    .sort(([a], [b]) => compareCodeUnits(a?.package ?? '', b?.package ?? ''))
    .flatMap(sortEntriesInChannelOrder)
}

function findEntriesSatisfyingRequirement(catalog: CatalogOperatorEntries, requirement: BundleRequirement) {
  const { only } = requirement
  const packages =
    only === undefined
      ? [...catalog.packages.values()]
      : 'api' in only
        ? catalog.providersOf(only.api)
        : [catalog.packages.get(only.package)].filter((its) => its !== undefined)
  return packages
    .flatMap(({ channels }) => channels)
    .filter(({ entries }) => entries.some((entry) => requirement.isMetBy(entry)))
    .sort(compareChannelsByPreference)
    .flatMap((channel) => sortEntriesInChannelOrder(channel).filter((entry) => requirement.isMetBy(entry)))
}

function createSubscriptionConstraint(name: string, ids: readonly string[]): SolverConstraint {
  if (ids.length === 0)
    return {
      kind: 'dependency',
      ids,
      text: `no operators found matching the criteria of subscription ${name}`,
    }
  const [last, ...before] = ids.toReversed()
  const listed = before.length === 0 ? last : `at least one of ${before.toReversed().join(', ')} or ${last}`
  return { kind: 'dependency', ids, text: `subscription ${name} requires ${listed}` }
}

function createAtMostOneVariable(
  id: string,
  only: string,
  unordered: readonly string[],
  all: (listed: string) => string,
): SolverVariable {
  if (unordered.length <= 1) return { id, constraints: [] }
  const ids = unordered.toSorted(compareCodeUnits)
  const listed = `${ids.slice(0, -1).join(', ')} and ${ids.at(-1)}`
  return {
    id,
    constraints: [
      { kind: 'mandatory', text: only },
      { kind: 'at most one', ids, text: all(listed) },
    ],
  }
}

function createUnsatisfiableResult(constraints: readonly AppliedConstraint[]): NamespaceResolution {
  const messages = constraints.map(({ constraint }) => constraint.text)
  return {
    kind: 'not satisfiable',
    // A bundle has the same constraints in each of its channels.
    chain: [...new Set(messages)],
    message: `constraints not satisfiable: ${messages.toSorted(compareCodeUnits).join(', ')}`,
    cause: findResolutionConflict(constraints),
  }
}

function findResolutionConflict(constraints: readonly AppliedConstraint[]): ResolutionConflict {
  const candidates: string[] = []
  const unmet: { bundle: string; requirement: string }[] = []
  let exclusive: string | undefined
  for (const { subject, constraint } of constraints) {
    if (constraint.kind === 'at most one') exclusive ??= constraint.text
    if (constraint.kind !== 'dependency') continue
    const { ids, requirement } = constraint
    if (requirement === undefined) candidates.push(...ids.map(getBundleNameFromVariableId))
    else if (ids.length === 0) unmet.push({ bundle: getBundleNameFromVariableId(subject), requirement })
  }
  if (unmet.length > 0) return { kind: 'unmet', candidates: [...new Set(candidates)], unmet }
  return exclusive === undefined ? { kind: 'other' } : { kind: 'exclusive', text: exclusive }
}

/** A bundle's id ends in its name. */
const getBundleNameFromVariableId = (id: string): string => id.slice(id.lastIndexOf('/') + 1)

/** Joins messages as Kubernetes does. */
function joinUniqueErrorMessages(messages: readonly string[]): string {
  const different = [...new Set(messages)]
  return different.length === 1 ? (different[0] ?? '') : `[${different.join(', ')}]`
}
