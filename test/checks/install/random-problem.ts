// Random problems for a resolver: small catalogs with many conflicts between their bundles. The same seed gives the same
// problems.
import type { Json } from '../../../packages/fbc/src/go/json/json.ts'

export interface ResolutionProblem {
  readonly catalogs: readonly {
    readonly name: string
    readonly priority: number
    readonly blobs: readonly Json[]
  }[]
  readonly installed: readonly {
    readonly name: string
    readonly version: string
    readonly package: string
    readonly properties: readonly { readonly type: string; readonly value: Json }[]
    /** Empty if no Subscription has it. */
    readonly subscription: string
  }[]
  readonly subscriptions: readonly {
    readonly name: string
    readonly package: string
    readonly channel: string
    readonly catalog: string
    readonly startingCsv: string
    readonly installedCsv: string
  }[]
}

interface RandomBundle {
  readonly name: string
  readonly package: string
  readonly version: string
  readonly properties: { type: string; value: Json }[]
}

const packageNames = ['alpha', 'beta', 'gamma', 'delta']
const sampleApiKinds = ['Red', 'Green', 'Blue', 'Grey']

export function createRandomResolutionProblem(seed: number): ResolutionProblem {
  const random = createMulberry32Generator(seed)
  const chance = (share: number) => random() < share
  const below = (limit: number) => Math.floor(random() * limit)
  const oneOf = <T>(list: readonly T[]): T => list[below(list.length)] as T
  const version = () => `${1 + below(2)}.${below(4)}.0${chance(0.1) ? '-rc1' : ''}`
  const api = (): Json => ({
    group: 'example.com',
    version: chance(0.8) ? 'v1' : 'v2',
    kind: oneOf(sampleApiKinds),
  })
  const range = () =>
    oneOf([
      '>=1.0.0',
      '<2.0.0',
      '>=1.2.0 <2.0.0',
      '1.x',
      '>=2.0.0',
      '1.1.0',
      '>9.0.0',
      '>=1.0.0 <1.2.0 || >=2.1.0',
    ])
  const constraint = (depth: number): Json => {
    const kind = below(depth > 2 ? 3 : 6)
    if (kind === 0) return { gvk: api() }
    if (kind === 1) return { package: { packageName: oneOf(packageNames), versionRange: range() } }
    if (kind === 2)
      return {
        failureMessage: 'no',
        cel: {
          rule: oneOf([
            'properties.exists(p, p.type == "certified")',
            'properties.exists(p, p.type == "olm.package" && semver_compare(p.value.version, "1.2.0") >= 0)',
            'properties.exists(p, p.type == "size" && p.value > 2) || properties.size() > 3',
            '!properties.exists(p, p.type == "certified") && properties.exists(p, p.type == "olm.gvk")',
            'properties.all(p, p.value.packageName == "alpha")',
          ]),
        },
      }
    const constraints = Array.from({ length: 1 + below(3) }, () => constraint(depth + 1))
    return kind === 3
      ? { all: { constraints } }
      : kind === 4
        ? { any: { constraints } }
        : { not: { constraints } }
  }
  const dependency = (): { type: string; value: Json } => {
    const kind = random()
    if (kind < 0.4)
      return {
        type: 'olm.package.required',
        value: { packageName: oneOf(packageNames), versionRange: range() },
      }
    if (kind < 0.75) return { type: 'olm.gvk.required', value: api() }
    if (kind < 0.8) return { type: 'olm.label.required', value: { label: oneOf(['gold', 'silver']) } }
    return { type: 'olm.constraint', value: constraint(0) }
  }
  const bundlesOf = (name: string): RandomBundle[] => {
    const versions = [...new Set(Array.from({ length: 1 + below(6) }, version))]
    return versions.map((text) => {
      const properties: RandomBundle['properties'] = [
        { type: 'olm.package', value: { packageName: name, version: text } },
      ]
      if (chance(0.6)) properties.push({ type: 'olm.gvk', value: api() })
      if (chance(0.15)) properties.push({ type: 'olm.gvk', value: api() })
      if (chance(0.15)) properties.push({ type: 'certified', value: true })
      if (chance(0.15)) properties.push({ type: 'size', value: below(5) })
      if (chance(0.15)) properties.push({ type: 'olm.label', value: { label: oneOf(['gold', 'silver']) } })
      if (chance(0.05)) properties.push({ type: 'olm.deprecated', value: {} })
      while (chance(0.35)) properties.push(dependency())
      return { name: `${name}.v${text}`, package: name, version: text, properties }
    })
  }
  // From the head down, as opm wants it: what the chain passes over is skipped. Now and then it is something else.
  const linked = (names: readonly string[]): Json[] => {
    const skipped = new Set<string>()
    return names.toReversed().map((name, index, newest) => {
      const older = newest.slice(index + 1)
      const isOnChain = !skipped.has(name)
      const skips = older.filter(() => chance(isOnChain ? 0.15 : 0.05))
      for (const skip of skips) skipped.add(skip)
      const next = older.find((other) => !skipped.has(other))
      const replaces = isOnChain || chance(0.5) ? next : undefined
      const skipRange = chance(0.2) ? oneOf(['<1.2.0', '>=1.0.0 <2.0.0', '<2.1.0']) : ''
      return {
        name,
        ...(replaces !== undefined && chance(0.99) && { replaces }),
        ...(skips.length > 0 && { skips }),
        ...(skipRange !== '' && { skipRange }),
      }
    })
  }
  const channelOf = (its: string, name: string, from: readonly RandomBundle[]): Json => {
    const chosen = from.filter(() => chance(0.8))
    const entries = (chosen.length > 0 ? chosen : from).toSorted((a, b) =>
      compareVersions(a.version, b.version),
    )
    return {
      schema: 'olm.channel',
      package: its,
      name,
      entries: linked(entries.map((bundle) => bundle.name)),
    }
  }
  const offered: (RandomBundle & { readonly catalog: string; readonly channels: readonly string[] })[] = []
  const catalogs = ['first', 'second'].slice(0, chance(0.25) ? 2 : 1).map((catalog) => {
    const blobs: Json[] = []
    for (const name of packageNames.slice(0, 1 + below(packageNames.length))) {
      const bundles = bundlesOf(name)
      const channels = ['stable', 'fast', 'old'].slice(0, 1 + below(3))
      const made = channels.map((channel) => channelOf(name, channel, bundles))
      const used = new Set(
        made.flatMap((channel) =>
          (channel as unknown as { entries: { name: string }[] }).entries.map((entry) => entry.name),
        ),
      )
      blobs.push({ schema: 'olm.package', name, defaultChannel: oneOf(channels) }, ...made)
      for (const bundle of bundles.filter((its) => used.has(its.name))) {
        blobs.push({
          schema: 'olm.bundle',
          name: bundle.name,
          package: name,
          image: `registry.example/${bundle.name}:1`,
          properties: bundle.properties,
        })
        offered.push({ ...bundle, catalog, channels })
      }
    }
    return { name: catalog, priority: chance(0.3) ? below(3) : 0, blobs }
  })
  const subscriptions: ResolutionProblem['subscriptions'][number][] = []
  const installed: ResolutionProblem['installed'][number][] = []
  const count = chance(0.25) ? 2 : 1
  for (let index = 0; index < count; index++) {
    const target = oneOf(offered)
    if (subscriptions.some((one) => one.package === target.package)) continue
    const name = `sub${index}`
    const isInstalled = chance(0.4)
    subscriptions.push({
      name,
      package: chance(0.03) ? 'nowhere' : target.package,
      channel: chance(0.2) ? '' : chance(0.04) ? 'none' : oneOf(target.channels),
      catalog: target.catalog,
      startingCsv: chance(0.25) ? target.name : '',
      installedCsv: isInstalled ? target.name : '',
    })
    if (isInstalled)
      installed.push({
        name: target.name,
        version: target.version,
        package: target.package,
        properties: target.properties,
        subscription: name,
      })
  }
  if (chance(0.2)) {
    const other = oneOf(offered)
    if (!installed.some(({ name }) => name === other.name))
      installed.push({
        name: other.name,
        version: other.version,
        package: other.package,
        properties: other.properties,
        subscription: '',
      })
  }
  return { catalogs, installed, subscriptions }
}

function compareVersions(a: string, b: string): number {
  const key = (text: string) => (text.includes('-') ? text : `${text}~`)
  return key(a) < key(b) ? -1 : 1
}

function createMulberry32Generator(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}
